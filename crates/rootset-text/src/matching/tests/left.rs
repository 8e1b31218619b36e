//! What a request leaves of a memory, read as it would stand afterwards.

use rootset_model::Content;
use rootset_model::content::topic_of;

use super::judged;
use crate::matching::{Near, Verdict};

const GONE: &str = "";

/// What is left of the first text, where a plan is applied as it was previewed.
pub(super) fn left(query: &str, texts: &[&str]) -> String {
    let judgement = judged(query, texts).remove(0);
    let context = texts[0].to_owned();
    let content = Content { topic: topic_of(&context), context, decisions: vec![], rationale: vec![] };
    match (judgement.verdict, judgement.cut) {
        (Verdict::Matched, Some(cut)) => cut.apply(&content).expect("a cut leaves something").context,
        (Verdict::Matched, None) => GONE.to_owned(),
        _ => content.context,
    }
}

fn check(query: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(left(query, &[text]), *expected, "`{query}` of `{text}`");
    }
}

#[test]
fn a_statement_is_cut_out_of_its_sentence_where_the_rest_reads_on() {
    check(
        "forget everything about Alice",
        &[
            ("Alice lives in Berlin, and Bob lives in Paris.", "Bob lives in Paris."),
            ("Bob lives in Paris, and Alice lives in Berlin.", "Bob lives in Paris."),
            ("Alice owns the API; Bob owns the page.", "Bob owns the page."),
            ("Bob in short: he works late, but Alice works early.", "Bob in short: he works late."),
            ("The release is late because Alice is ill.", "The release is late."),
            ("Bob, who reports to Alice, works on the parser.", "Bob works on the parser."),
            ("Bob moved to Oslo and met Alice.", "Bob moved to Oslo."),
            ("Alice lives in Berlin and likes tea.", GONE),
            ("Alice lives in Berlin, and she likes tea.", GONE),
            ("Bob reports to Alice.", GONE),
            ("It was Alice, she is so kind.", GONE),
            ("We named her Alice, and she sings while I write.", "We named her Alice, and she sings while I write."),
            ("Bob met Alice, and he liked it.", "Bob met Alice, and he liked it."),
            ("The garden is wet, but Alice loves it.", "The garden is wet."),
            ("We postponed the audit because Alice was ill.", "We postponed the audit."),
            ("Alice drives the van, and Lars loads it.", "Lars loads it."),
        ],
    );
}

#[test]
fn an_item_of_an_enumeration_goes_alone_where_the_others_still_fit() {
    check(
        "forget Alice",
        &[
            ("Bob, Alice and Carol are on call.", "Bob and Carol are on call."),
            ("Attendees: Bob, Carol, Alice.", "Attendees: Bob, Carol."),
            ("Alice: 30, Bob: 32", "Bob: 32"),
            ("Alice prefers tea; Bob, coffee.", "Alice prefers tea; Bob, coffee."),
            ("Alice's flight lands at nine, Bob's flight lands at ten.", "Bob's flight lands at ten."),
            ("{\"alice\": 555, \"bob\": 556}", "{\"alice\": 555, \"bob\": 556}"),
            ("Alice and Bob visited Rome.", "Bob visited Rome."),
            ("The panel is Alice, Bob and Carol.", "The panel is Bob and Carol."),
            ("Attendees: Alice, Bob, Carol.", "Attendees: Bob, Carol."),
            ("Contacts: Alice 555-0101, Bob 555-0102.", "Contacts: Bob 555-0102."),
            (
                "Contacts: Bob (555-0102), Alice (555-0101) and Carol (555-0103).",
                "Contacts: Bob (555-0102) and Carol (555-0103).",
            ),
            ("bob: 555-0102\nalice: 555-0101\ncarol: 555-0103", "bob: 555-0102\ncarol: 555-0103"),
            ("Bob likes coffee more than Alice.", "Bob likes coffee more than Alice."),
            ("Everyone except Alice attended.", "Everyone except Alice attended."),
            ("Neither Alice nor Bob eats meat.", "Neither Alice nor Bob eats meat."),
            ("Alice works at Acme while her brother Bob works at Brio.", "her brother Bob works at Brio."),
            ("Bob, Alice's manager, lives in Rome.", "Bob lives in Rome."),
            ("The meeting with Alice and Bob is at three.", "The meeting with Bob is at three."),
            ("Alice manages Bob and Carol.", GONE),
            (
                "The code of Alice's room is 1 and for Bob's room is 2.",
                "The code of Alice's room is 1 and for Bob's room is 2.",
            ),
            ("In May, Alice moved to Rome.", GONE),
            // What both do says nothing of one of them, unless it is rewritten.
            ("Alice and Bob live in Rome.", "Alice and Bob live in Rome."),
            ("Alice and Bob Miller own the Tesla.", "Alice and Bob Miller own the Tesla."),
            ("Alice lives in Berlin and Bob in Paris.", "Alice lives in Berlin and Bob in Paris."),
        ],
    );
    check("forget Bob", &[("Alice lives in Berlin and Bob in Paris.", "Alice lives in Berlin.")]);
    let tangled = judged("forget Alice", &["Alice and Bob live in Rome."]).remove(0);
    assert_eq!(tangled.verdict, Verdict::Maybe(Near::Tangled));
}

#[test]
fn a_sentence_that_leans_on_one_that_goes_goes_with_it_and_any_other_stays() {
    check(
        "forget Vera",
        &[
            ("Vera leads QA. She likes figs. The deploy runs at noon.", "The deploy runs at noon."),
            ("The deploy runs at noon. It is slow. Vera leads QA.", "The deploy runs at noon. It is slow."),
            ("Vera called. Wants a refund. The printer is out of toner.", "The printer is out of toner."),
            ("Vera\nPhone: 555-0190\nMail: v@lind.example", GONE),
            ("- Vera: keynote\n- Ben: workshop", "- Ben: workshop"),
        ],
    );
    check(
        "delete what you have about the Quokka release",
        &[(
            "Ann takes over the server. She will sign the Quokka release. Her deputy is Ansel.",
            "Ann takes over the server. Her deputy is Ansel.",
        )],
    );
}

#[test]
fn an_attribute_takes_only_what_says_it_of_that_person() {
    check(
        "delete Alice's phone number",
        &[
            ("Alice's phone number is 555-0101 and her mail is a@x.example.", "Alice's mail is a@x.example."),
            ("Alice's phone number is 555-0101 and Bob's phone number is 555-0102.", "Bob's phone number is 555-0102."),
            ("Alice: phone 555-0101, mail a@x.example.", "Alice: mail a@x.example."),
            ("Alice Chen, mail a@x.example, phone 555-0101.", "Alice Chen, mail a@x.example."),
            ("Alice likes tea. Her mobile is 555-0101. She is tall.", "Alice likes tea. She is tall."),
            ("Alice can be reached at 555-0101-22.", GONE),
            ("Alice's passport number is X1234567.", "Alice's passport number is X1234567."),
            ("Alice's phone is broken.", "Alice's phone is broken."),
            ("Alice's manager has the phone number 555-0103.", "Alice's manager has the phone number 555-0103."),
            ("Alice gave Bob's phone number 555-0102 to Carol.", "Alice gave Bob's phone number 555-0102 to Carol."),
        ],
    );
    check(
        "forget where Alice lives",
        &[
            ("Alice lives in Berlin and works for Acme.", "Alice works for Acme."),
            ("Alice works for Acme and lives in Berlin.", "Alice works for Acme."),
            ("Alice's sister lives in Rome.", "Alice's sister lives in Rome."),
            ("Alice lives for music.", "Alice lives for music."),
            ("Alice's email address is a@x.example.", "Alice's email address is a@x.example."),
        ],
    );
}

#[test]
fn identifiers_are_taken_out_of_lists_of_their_kind() {
    check(
        "forget alice@x.example",
        &[(
            "Send it to bob@x.example, alice@x.example and carl@x.example.",
            "Send it to bob@x.example and carl@x.example.",
        )],
    );
    check("forget 10.0.0.7", &[("Blocked: 10.0.0.7, 10.0.0.8.", "Blocked: 10.0.0.8.")]);
    check(
        "forget TKT-204",
        &[("TKT-204 and TKT-205 are open.", "TKT-204 and TKT-205 are open."), ("TKT-204 took 3 days.", GONE)],
    );
    check(
        "remove the password of the staging server",
        &[("The staging server is in Oslo, and its password is otter-77.", "The staging server is in Oslo.")],
    );
}

#[test]
fn what_is_asked_to_be_kept_is_kept_within_a_sentence_too() {
    check(
        "forget everything about Falcon except its budget",
        &[
            ("Falcon ships in May.", GONE),
            ("The budget of Falcon is 4,000.", "The budget of Falcon is 4,000."),
            ("Falcon ships in May. Falcon's budget is 4,000.", "Falcon's budget is 4,000."),
            ("Falcon's budget is 4,000, and Falcon ships in May.", "Falcon's budget is 4,000."),
        ],
    );
}

#[test]
fn other_names_lead_on_only_where_a_text_ties_them_to_the_name_itself() {
    let rex = "Rex the plumber comes on Friday.";
    assert_eq!(left("forget Tom Berg", &[rex, "Tom Berg's dog is called Rex."]), rex);
    assert_eq!(left("forget Tom Berg", &["Rex starts at four.", "Tom Berg, known as Rex, runs the bakery."]), GONE);
    assert_eq!(left("forget Tom Berg", &[rex, "Tom Berg, known as Rex, runs it.", "Rex Moor left."]), rex);
    let kim = "kim@vendor.example asks for a quote.";
    assert_eq!(left("forget Tom Berg", &[kim, "Tom Berg forwarded the mail from kim@vendor.example."]), kim);
    assert_eq!(left("forget Tom Berg", &["t77@x.example bounced.", "Tom Berg's email is t77@x.example."]), GONE);
    let move_ = "The Lisbon warehouse move needs lorries.";
    assert_eq!(
        left("forget Project Heron", &[move_, "Project Heron is our code name for the Lisbon warehouse move."]),
        GONE
    );
}

#[test]
fn what_a_name_leads_to_is_meant_only_where_one_text_says_which() {
    let falcon = "Falcon ships in June.";
    assert_eq!(left("forget the project Alice leads", &[falcon, "Alice leads Project Falcon."]), GONE);
    let several = [falcon, "Alice leads Project Falcon.", "Alice leads Project Heron."];
    assert_eq!(left("forget the project Alice leads", &several), falcon);
    assert_eq!(judged("forget the project Alice leads", &several)[0].verdict, Verdict::Maybe(Near::Chain));
}

#[test]
fn codes_are_the_same_however_their_groups_are_written() {
    for text in ["The van is BKX4417.", "Parking for bkx 4417.", "B-KX4417 got a ticket."] {
        assert_eq!(left("forget the plate B-KX 4417", &[text]), GONE, "{text}");
    }
    for text in ["The van is B-KX 441.", "AB-KX 4417 is red.", "B-KX 44170 is red.", "Locker 4417 is full."] {
        assert_eq!(left("forget the plate B-KX 4417", &[text]), text);
    }
    assert_eq!(left("remove IBAN NL18KRON0417164300", &["Rent goes to NL18 KRON 0417 1643 00."]), GONE);
    assert_eq!(left("forget the Q3 2024 report", &["The Q3 2024 budget is tight."]), "The Q3 2024 budget is tight.");
}

#[test]
fn a_topic_that_cannot_be_cut_takes_only_what_states_nothing_of_its_own() {
    let judge = |context: &str| {
        let mut matcher = crate::matching::Matcher::new("forget Alice").expect("it names somebody");
        let fields = crate::matching::Fields { topic: "Alice", context, ..Default::default() };
        let mut survey = matcher.survey();
        matcher.read(&fields, &mut survey);
        matcher.informed_by(survey);
        matcher.judge(&fields).verdict
    };
    assert_eq!(judge("Alice likes tea. Tall, and quiet."), Verdict::Matched);
    assert_eq!(judge("Alice likes tea. The deploy runs at noon."), Verdict::Maybe(Near::Tangled));
}
