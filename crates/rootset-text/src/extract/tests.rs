use super::*;

fn content(topic: &str, context: &str) -> Content {
    Content { topic: topic.into(), context: context.into(), decisions: vec![], rationale: vec![] }
}

fn entities(text: &str) -> Vec<(String, String)> {
    extract(&content("", text)).entities.into_iter().map(|it| (it.name, it.entity_type)).collect()
}

fn names(text: &str) -> Vec<String> {
    entities(text).into_iter().map(|(name, _)| name).collect()
}

fn relations(text: &str) -> Vec<String> {
    let extraction = extract(&content("", text));
    let name = |index: usize| extraction.entities[index].name.as_str();
    let show =
        |it: &rootset_model::ExtractedRelation| format!("{} {} {}", name(it.source), it.relation, name(it.target));
    extraction.relations.iter().map(show).collect()
}

#[test]
fn identifiers_and_names_have_a_type_each() {
    let text = "Ask alice@acme.io about TKT-100: parse_config in src/config.rs breaks UserService since v1.2.3, says \
                Alice Smith. See https://acme.io/docs.";
    let expected = [
        ("alice@acme.io", "email"),
        ("TKT-100", "issue"),
        ("parse_config", "identifier"),
        ("src/config.rs", "path"),
        ("UserService", "identifier"),
        ("v1.2.3", "version"),
        ("Alice Smith", "name"),
        ("https://acme.io/docs", "url"),
    ];
    assert_eq!(entities(text), expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
}

#[test]
fn a_sentence_does_not_begin_with_a_name_only_because_of_its_capital() {
    assert_eq!(
        names("We use PostgreSQL. The API is slow. If Redis fails, stop. Our NAS is busy."),
        ["PostgreSQL", "Redis", "NAS"]
    );
    assert_eq!(
        names("Avoided the rush. Perfect! Traffic is slow. Subsequent runs pass. Pottery's fun. Woohoo, done."),
        [""; 0]
    );
    assert_eq!(names("Wanna meet next Fri? Mondays are fine, or Tues. ASAP! OK?"), [""; 0]);
    assert_eq!(names("Ask Melanie. Forces Redis to stop. Carol Meyer left."), ["Melanie", "Redis", "Carol Meyer"]);
    assert_eq!(
        names("Use Redis. Deployment takes long. Using Kafka helps. Tests failed. Monday is fine."),
        ["Redis", "Kafka"]
    );
    assert_eq!(names("Yesterday I met Bob. Bob was late. Everything worked."), ["Bob"]);
    assert_eq!(
        names("Alice prefers tea. Redis caches sessions. Carol moved on. Caroline: hi there"),
        ["Alice", "Redis", "Carol", "Caroline"]
    );
    assert_eq!(names("Notes: nothing here. Latency matters. latency is high"), [""; 0]);
}

#[test]
fn names_of_several_words_are_one_entity() {
    assert_eq!(
        names("Project Falcon starts at the Bank of America with Jean-Luc Picard."),
        ["Project Falcon", "Bank of America", "Jean-Luc Picard"]
    );
    assert_eq!(names("we read Lord of the Rings"), ["Lord of the Rings"]);
    assert_eq!(names("The Project Falcon team met Alice's Kafka group"), ["Project Falcon", "Alice", "Kafka"]);
    assert_eq!(names("THIS IS VERY IMPORTANT STUFF"), [""; 0]);
}

#[test]
fn quoted_terms_are_entities_and_speech_is_not() {
    assert_eq!(
        entities("We call it \"dark mode\" and `cargo test`; see `get_user` and “Big Bang”."),
        [
            ("dark mode".to_owned(), "term".to_owned()),
            ("cargo test".to_owned(), "term".to_owned()),
            ("get_user".to_owned(), "identifier".to_owned()),
            ("Big Bang".to_owned(), "name".to_owned()),
        ]
    );
    assert_eq!(names("he said \"i will not do that.\" and left"), [""; 0]);
    assert_eq!(names("the word \"That\" says nothing"), [""; 0]);
    assert_eq!(names("it said \"0 memories\", `510` and \"goes on\"; see `keys`"), [""; 0]);
}

#[test]
fn verbs_between_entities_are_relations() {
    for (text, expected) in [
        ("Falcon uses the PostgreSQL", "Falcon uses PostgreSQL"),
        ("Falcon depends on Redis", "Falcon depends_on Redis"),
        ("Falcon is part of Apollo", "Falcon part_of Apollo"),
        ("Valkey has replaced Redis", "Valkey replaced Redis"),
        ("Redis was replaced by Valkey", "Valkey replaced Redis"),
        ("Alice works at Acme", "Alice works_at Acme"),
        ("Bob wrote lib.rs", "Bob created lib.rs"),
        ("`parse_args` calls `get_env`", "parse_args calls get_env"),
        ("We migrated from MySQL to PostgreSQL", "PostgreSQL replaced MySQL"),
        ("Replace Redis with Valkey", "Valkey replaced Redis"),
        ("We replaced RabbitMQ with NATS in March", "NATS replaced RabbitMQ"),
        ("The Falcon service uses a managed PostgreSQL", "Falcon uses PostgreSQL"),
        ("Kestrel stores its events in PostgreSQL", "Kestrel stored_in PostgreSQL"),
        ("Zendesk is integrated with Slack", "Zendesk connects_to Slack"),
        ("auth-service requires Vault", "auth-service depends_on Vault"),
        ("Test the Redis cluster using Jedis", "Jedis related_to Redis"),
        ("Valkey does not use Redis", "Redis related_to Valkey"),
        ("Valkey is not Redis", "Redis related_to Valkey"),
    ] {
        assert_eq!(relations(text), [expected], "{text}");
    }
    assert_eq!(
        relations("Falcon uses Redis and Kafka"),
        ["Falcon uses Redis", "Falcon uses Kafka", "Kafka related_to Redis"]
    );
    assert_eq!(
        relations("Alice and Bob work at Acme"),
        ["Bob works_at Acme", "Alice works_at Acme", "Alice related_to Bob"]
    );
    assert_eq!(relations("After the Falcon launch, Redis, Alice uses Kafka")[0], "Alice uses Kafka");
    assert_eq!(
        relations("Ravi works at Globex and reports to Elena"),
        ["Ravi works_at Globex", "Ravi reports_to Elena"]
    );
    assert_eq!(relations("Config *config = Redis.load(Kafka);"), [""; 0], "source code");
}

#[test]
fn neighbours_are_related_once_per_sentence_and_only_to_each_other() {
    let extraction = extract(&content("", "We saw Anna, Bert, Carl, Anna, Bert. Later Bert saw Anna."));
    assert_eq!(extraction.entities.iter().map(|it| it.weight).collect::<Vec<_>>(), [3.0, 3.0, 1.0]);
    let shown: Vec<_> = extraction.relations.iter().map(|it| (it.source, it.target, it.weight)).collect();
    assert_eq!(shown, [(0, 1, 2.0), (0, 2, 1.0), (1, 2, 1.0)]);
}

#[test]
fn every_field_takes_part_and_descriptions_are_sentences() {
    let extraction = extract(&Content {
        topic: "Storage for Falcon".into(),
        context: "It was slow. We looked at\nClickHouse for a while. Then stopped.".into(),
        decisions: vec!["Adopt DuckDB".into()],
        rationale: vec!["because Anna knows it".into()],
    });
    let described: Vec<_> = extraction.entities.iter().map(|it| (it.name.as_str(), it.description.as_str())).collect();
    assert_eq!(
        described,
        [
            ("Falcon", "Storage for Falcon"),
            ("ClickHouse", "ClickHouse for a while."),
            ("DuckDB", "Adopt DuckDB"),
            ("Anna", "because Anna knows it"),
        ]
    );
}

#[test]
fn descriptions_reach_their_entity_and_stay_short() {
    let far = format!("{} with Falcon {}", "many words ".repeat(100), "and more ".repeat(100));
    let extraction = extract(&content("", &far));
    let description = &extraction.entities[0].description;
    assert!(description.contains("Falcon") && description.chars().count() <= EXTRACTED_DESCRIPTION_CHARS_MAX);
}

#[test]
fn a_long_document_yields_no_more_than_the_limits() {
    let text: String = (0..2_000).map(|number| format!("We met user_{number} and host_{number} there. ")).collect();
    let extraction = extract(&content("", &text));
    assert_eq!(extraction.entities.len(), EXTRACTED_ENTITIES_MAX);
    assert!(extraction.relations.len() <= rootset_model::limits::EXTRACTED_RELATIONS_MAX);
}

#[test]
fn measures_commands_patterns_and_headings_name_nothing() {
    for text in [
        "It took 6.577s, which is 5.92x as long.",
        "Run `grep -r foo`, `cargo install ripgrep` or `make CFLAGS=-m32`.",
        "The pattern `fast\\w*` and the glob `*.{html,css}` differ.",
        "Short options such as `-p` or `-uu`, or -P/--pcre2.",
        "Contents",
    ] {
        assert_eq!(names(text), [""; 0], "{text}");
    }
    assert_eq!(names("Set `--no-ignore` and read `grep-matcher`."), ["--no-ignore", "grep-matcher"]);
    assert_eq!(names("- TypeScript"), ["TypeScript"]);
}
