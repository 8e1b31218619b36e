mod asking;
mod left;
mod shared;

use super::*;

fn matches(query: &str, text: &str) -> bool {
    Matcher::new(query).unwrap().matches([text])
}

#[test]
fn an_address_matches_itself_and_no_other() {
    for text in [
        "ALICE@ACME.IO",
        "<alice@acme.io>",
        "write to alice@acme.io.",
        "mailto:alice@acme.io",
        "(alice@acme.io)",
        "alice@acme.io's",
        "alice@acme.io, bob@acme.io",
        "`alice@acme.io`",
        "_alice@acme.io_",
        "ａｌｉｃｅ＠acme.io",
        "https://acme.io/?mail=alice@acme.io&x=1",
        "alice@acme.io…",
        "請聯繫alice@acme.io",
        "alice@acme.io/calendar",
    ] {
        assert!(matches("alice@acme.io", text), "{text}");
    }
    for text in [
        "alice.smith@acme.io",
        "alice@acme.io.uk",
        "xalice@acme.io",
        "alice@acme.iox",
        "x+alice@acme.io",
        "bob-alice@acme.io",
        "o'alice@acme.io",
        "x_alice@acme.io",
        "alice@acme.io_x",
        "éalice@acme.io",
        "alice at acme.io",
        "alice @acme.io",
    ] {
        assert!(!matches("alice@acme.io", text), "{text}");
    }
}

#[test]
fn an_issue_matches_itself_and_no_longer_one() {
    for text in
        ["TKT-100", "tkt-100.", "[TKT-100]: x", "https://jira.io/browse/TKT-100", "TKT-100's", "docs/TKT-100.md"]
    {
        assert!(matches("TKT-100", text), "{text}");
    }
    for text in ["TKT-1000", "XTKT-100", "TKT-100-2", "A-TKT-100", "TKT-100_b", "TKT-100.2", "TKT 1000", "TKT1001"] {
        assert!(!matches("TKT-100", text), "{text}");
    }
    // However its groups are written, it is the same ticket.
    assert!(matches("TKT-100", "TKT 100") && matches("TKT-100", "see TKT100."));
}

#[test]
fn other_identifiers_match_whole_whatever_their_case() {
    assert!(
        matches("getUsers", "call getusers()")
            && matches("getUsers", "api.getUsers")
            && !matches("getUsers", "get users")
    );
    assert!(matches("user_id", "USER_ID") && !matches("user_id", "user_id_2"));
    assert!(matches("src/lib.rs", "see src/lib.rs.") && !matches("src/lib.rs", "a/src/lib.rs"));
    assert!(matches("v1.2", "at V1.2,") && !matches("v1.2", "v1.2.3") && !matches("v1.2", "v1.2-rc1"));
    assert!(matches("rootset-text", "crates/rootset-text/src") && !matches("rootset-text", "rootset-text-extra"));
}

#[test]
fn a_request_comes_to_its_point() {
    for query in [
        "everything about project Falcon",
        "please forget all mentions of the Falcon project",
        "delete any notes regarding Project Falcons",
        "\"project falcon\"",
        "forget everything about \"project falcon\"",
    ] {
        assert!(matches(query, "The kick-off of Project Falcon is on Monday"), "{query}");
        assert!(!matches(query, "The falcon is a bird"), "{query}");
    }
    for query in ["", "forget everything", "all of the above", "the", "\"\"", "?!", "all memories"] {
        assert!(Matcher::new(query).is_none(), "{query}");
    }
}

#[test]
fn words_may_be_spread_over_fields_but_phrases_may_not() {
    assert!(Matcher::new("falcon budget").unwrap().matches(["Falcon", "the budgets"]));
    assert!(!Matcher::new("falcon budget").unwrap().matches(["Falcon", "no figures"]));
    assert!(!Matcher::new("\"falcon budget\"").unwrap().matches(["Falcon", "budget"]));
    assert!(!Matcher::new("\"falcon budget\"").unwrap().matches(["budget falcon"]));
    assert!(matches("東京", "在東京的") && !matches("東京", "京東"));
    assert!(matches("\"alice@acme.io\"", "x alice@acme.io") && !matches("\"alice@acme.io\"", "alice@acme.io.uk"));
}

/// Several memories judged as a workspace would: surveyed first.
fn judged(query: &str, texts: &[&str]) -> Vec<Judgement> {
    let mut matcher = Matcher::new(query).unwrap();
    let contents: Vec<rootset_model::Content> = texts
        .iter()
        .map(|text| rootset_model::Content {
            topic: rootset_model::content::topic_of(text),
            context: (*text).to_owned(),
            decisions: vec![],
            rationale: vec![],
        })
        .collect();
    let fields = |it: &'_ rootset_model::Content| -> (String, String) { (it.topic.clone(), it.context.clone()) };
    let owned: Vec<(String, String)> = contents.iter().map(fields).collect();
    for _ in 0..3 {
        let mut survey = matcher.survey();
        for (topic, context) in &owned {
            matcher.read(&Fields { topic, context, ..Fields::default() }, &mut survey);
        }
        matcher.informed_by(survey);
    }
    owned.iter().map(|(topic, context)| matcher.judge(&Fields { topic, context, ..Fields::default() })).collect()
}

/// `+` matched, `?` maybe, `-` not; `/` matched and better cut than removed.
fn told(query: &str, texts: &[&str]) -> String {
    let tell = |it: Judgement| match it.verdict {
        Verdict::Matched if it.cut.is_some() => '/',
        Verdict::Matched => '+',
        Verdict::Maybe(_) => '?',
        Verdict::No => '-',
    };
    judged(query, texts).into_iter().map(tell).collect()
}

#[test]
fn identifiers_match_in_every_form_and_never_as_a_part_of_longer_ones() {
    let phones =
        ["His phone is 0170/1234567.", "Call +49 (0)170 123 45 67", "0170 12345678 is another", "+43 170 1234567"];
    assert_eq!(told("forget the number +49 170 1234567", &phones), "++--");
    assert_eq!(
        told("delete card 4111-1111-1111-1111", &["paid with 4111111111111111", "paid with 4111111111111112"]),
        "+-"
    );
    let macs = ["MAC 00:1A:2B:3C:4D in the lab", "MAC 00:1A:2B:3C:4D:5E in the office", "00-1A-2B-3C-4D-5E"];
    assert_eq!(told("00:1A:2B:3C:4D", &macs), "+--");
    assert_eq!(told("00:1a:2b:3c:4d:5e", &macs), "-++");
    let uuids = ["550E8400-E29B-41D4-A716-446655440000 failed", "550e8400e29b41d4a716446655440001 failed"];
    assert_eq!(told("everything about 550e8400e29b41d4a716446655440000", &uuids), "+-");
    let urls = ["see http://www.acme.io/docs", "see https://acme.io/docs/api", "see acme.io/docs/"];
    assert_eq!(told("https://acme.io/docs/", &urls), "+-+");
    assert_eq!(
        told("@skybird", &["skybird pushed it", "ask @skybird", "skybird2 pushed it", "mail skybird@acme.io"]),
        "++--"
    );
    assert_eq!(told("10.0.0.1", &["host 10.0.0.1 is up", "host 10.0.0.12 is up", "10.0.0.1:8080 answers"]), "+-+");
    let days = [
        "Dinner on 2024-05-07",
        "Dinner on May 7, 2024",
        "Dinner on 07.05.2024",
        "Dinner on 7/5/2024",
        "Dinner on 2024-05-08",
        "Lunch on 2024-05-07",
    ];
    assert_eq!(told("the dinner on 7 May 2024", &days), "+++?--");
}

#[test]
fn a_person_is_found_by_every_name_that_is_only_theirs() {
    let texts = [
        "Sarah Chen joined in March.",
        "Talked to Sarah about it.",
        "sarah.chen@acme.io is her mail",
        "Chen, Sarah: gold plan",
        "Sarah's desk is upstairs.",
        "The Chen family came.",
        "Sarah Chen-Miller is somebody else.",
        "Mail schen@acme.io",
        "Bob Chen is here",
    ];
    assert_eq!(told("forget everything about Sarah Chen", &texts), "+++++??+-");
    let with_simon = [&texts[..], &["Simon Chen left."]].concat();
    assert_eq!(told("forget everything about Sarah Chen", &with_simon), "+++++???--", "an initial may be another's");
    let two = ["Sarah Chen joined.", "Sarah Miller left.", "I met Sarah today."];
    assert_eq!(told("Sarah Chen", &two), "+-?");
    assert_eq!(told("forget Sarah", &two), "???");
    assert_eq!(
        told("Müller", &["Frau Mueller called", "Herr Müller called", "Muller called", "Millerton called"]),
        "+++-"
    );
    assert_eq!(
        told("Tanaka Hiroshi 田中宏", &["Tanaka Hiroshi called", "田中宏さんが来た", "田中宏美が来た", "田中が来た"]),
        "++?-"
    );
    assert_eq!(
        told("Ivan Petrov / Иван Петров", &["Иван Петров пришёл", "Ivan Petrov came", "Ivan Petrovich came"]),
        "++-"
    );
}

#[test]
fn aliases_that_a_text_tells_belong_to_the_thing() {
    let texts = [
        "Sarah Chen goes by @skybird online.",
        "skybird pushed the release",
        "Project Osprey was renamed to Harrier.",
        "Harrier ships in May.",
        "Bob goes by hawk.",
    ];
    assert_eq!(told("Sarah Chen", &texts), "++---");
    assert_eq!(told("everything about project Osprey", &texts), "--++-");
}

#[test]
fn words_of_the_request_itself_do_not_exclude() {
    for query in [
        "please forget all Acme Corp data",
        "the customer record for Acme Corp",
        "Acme Corp records",
        "delete everything you know about Acme Corp",
        "remove any information on Acme Corp from memory",
        "Acme Corp's data",
        "all information about Acme Corp please",
    ] {
        assert_eq!(
            told(query, &["Acme Corp pays late.", "Umbrella Corp pays on time.", "The corp is late."]),
            "+--",
            "{query}"
        );
    }
}

#[test]
fn an_attribute_narrows_down_and_the_rest_stays() {
    let texts = ["Alice Smith's phone is 555-0101.", "Alice Smith likes tea.", "Bob's phone is 555-0102."];
    assert_eq!(told("forget Alice Smith's phone number", &texts), "+?-");
    assert_eq!(told("Alice Smith's shoe size", &texts), "??-");
    assert_eq!(told("forget Alice Smith except her phone number", &texts), "?+-");
}

#[test]
fn a_memory_that_says_more_is_cut_at_its_sentences() {
    let text = "Alice likes tea. She is allergic to nuts. Bob Miller owns the Tesla. It is red.";
    let judged = judged("forget Alice", &[text]);
    let [it] = &judged[..] else { panic!() };
    assert_eq!(it.verdict, Verdict::Matched);
    assert_eq!(it.rest.as_deref(), Some("Bob Miller owns the Tesla. It is red."));
    let cut = it.cut.as_ref().unwrap();
    assert_eq!(cut.context, [(0, 17), (17, 42)]);
    assert_eq!(it.words, ["Alice"]);
}
