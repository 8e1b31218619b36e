//! What nobody asked for never goes with what was asked for: kept as it is, or left standing by a cut.

use super::judged;
use super::left::left;
use crate::matching::{Near, Verdict};

/// A request, and texts that also say something of somebody or something else.
const KEPT_WHOLE: &[(&str, &[&str])] = &[
    (
        "forget everything about Toby",
        &[
            // One thing is said of several, of whom not all have a name.
            "My girlfriend, Toby and I are going camping.",
            "Toby, my girlfriend and I are going camping.",
            "My girlfriend and Toby are going camping.",
            "I went hiking with Toby and my sister last week.",
            "Toby and his mother run a bakery.",
            "Toby's mother and my aunt share an office.",
            "The twins and Toby share a birthday.",
            "My boss plus Toby interviewed the intern.",
            "Toby and everyone else at the firm got a bonus.",
            "Toby, Lasse und ich fahren nach Visby.",
            // Choices and denials.
            "Toby or Bert will bring the cake.",
            "Invite not Toby but Bert to the review.",
            "The whole family except Toby has the flu.",
            // Who says, hears or has something is not what is said.
            "Toby says Bert moved to Kiel.",
            "Toby told Bert that Carl has diabetes.",
            "Bert told Toby that Carl has diabetes.",
            "I told Toby that my blood pressure is 150/95.",
            "Toby: Bert's number is 555-0199.",
            "\"Lasse owes me 200 kronor\" — Toby",
            "Toby's brother Bert lives in Kiel.",
            "Toby is Lasse's emergency contact; his number is 070-1112233.",
            // Statements with verbs that are not listed, or a verb that both share.
            "Send the invoice to Bert and cc Toby.",
            "The boat was repainted by Toby and varnished by Lasse.",
            "It was Lasse who paid, Toby only watched.",
            // Diagrams, code and pairs.
            "Toby/Bert share the desk.",
            "Toby+Bert share the desk.",
            "on-call: Toby -> Bert -> Carl",
            "if user == \"Toby\" { grant(\"Bert\") }",
            "- Toby\n- Bert\n- Carl",
            "soup=Toby bread=Lasse",
            "@Toby @Lasse please review the mast plan.",
            "{\"soup\": \"Toby\", \"bread\": \"Lasse\"}",
        ],
    ),
    (
        "forget my sister",
        &[
            "My sister and my brother live in Ulm.",
            "My brother and sister live in Ulm.",
            "My sister hurts and my dog limps.",
        ],
    ),
    (
        "forget order 4471",
        &["Orders 4471 and 4472 ship to Kiel.", "Order 4471-B ships to Kiel.", "Order 44710 is here."],
    ),
    ("forget order 4471", &["Order 4471 ships to Kiel, order 4472 to Bonn."]),
    ("forget ticket OPS-12", &["OPS-12 and OPS-13 block the release.", "OPS-123 blocks it.", "OPS-12a is open."]),
    ("forget 10.0.0.5", &["10.0.0.5 and 10.0.0.6 are the DNS servers.", "10.0.0.50 is the printer."]),
    ("forget bob@acme.example", &["cc bob@acme.example, to carol@acme.example, pin 4411"]),
    ("forget +49 170 1234567", &["Call +49 170 1234567 or +49 170 7654321.", "+49 170 12345678 is Bob's."]),
    ("forget the server hermes", &["hermes runs Debian, apollo runs Alpine.", "hosts: [hermes, apollo]"]),
    ("forget the 14 May 2026 appointment", &["Appointments: 14 May 2026 dentist, 15 May 2026 oculist."]),
    (
        "forget Alice's phone number",
        &["Bob has Alice's phone number and her spare key.", "Alice's phone is a Pixel 8."],
    ),
    ("forget what you know about my knee", &["Bob's knee hurts."]),
    ("forget 00:1A:2B", &["00:1A:2Bé is no address."]),
    ("forget 10.20.30.45", &["dns: 10.20.30.45 -> 10.20.30.46"]),
    ("forget the gate code", &["freezer: peas, bread; van: due for service at 90,000 km; gate code: 7714"]),
    ("I don't want you to forget Anna, only her cat.", &["Anna walks at six.", "anna lends out her ladder"]),
    ("please never delete Anna", &["Anna walks at six."]),
];

#[test]
fn what_is_said_of_somebody_else_as_well_is_kept_whole() {
    for (request, texts) in KEPT_WHOLE {
        for text in *texts {
            assert_eq!(left(request, &[text]), *text, "`{request}`");
        }
    }
}

#[test]
fn what_can_be_cut_is_cut_and_the_rest_is_word_for_word() {
    for (request, text, expected) in [
        ("forget Anna", "Bert (Anna's brother) lives in Kiel.", "Bert lives in Kiel."),
        ("forget Anna", "The house belongs to Bert, Anna's brother.", "The house belongs to Bert."),
        ("forget Anna", "Bert works at Acme with Anna.", "Bert works at Acme."),
        ("forget Anna", "Bert, not Anna, leads the project.", "Bert leads the project."),
        ("forget Anna", "No, that was Bert, not Anna.", "No, that was Bert."),
        ("forget Anna", "Team: Anna (lead), Bert (ops).", "Team: Bert (ops)."),
        ("forget Anna", "owner: Anna\nbackup: Bert", "backup: Bert"),
        ("forget Anna", "hosts: [Anna, Bert]", "hosts: [Bert]"),
    ] {
        assert_eq!(left(request, &[text]), expected, "{text}");
    }
}

#[test]
fn what_is_said_of_the_thing_alone_still_goes() {
    for (request, text) in [
        ("forget Anna", "Bert is married to Anna."),
        ("forget Anna", "Anna likes tea and cakes."),
        ("forget Anna", "Anna visited Rome and Paris."),
        ("forget Anna", "Anna said she is moving."),
        ("forget Anna", "Anna (Bert's wife) is a nurse."),
        ("forget my sister", "My sister lives in Ulm."),
        ("forget order 4471", "Order 4471 ships to Kiel."),
        ("forget Alice's phone number", "Alice's phone number is 555-0101."),
        ("delete card 4111-1111-1111-1111", "2031-03-02 14:11 WARN charge declined card=4111111111111111 code=51"),
        ("forget 00:1A:2B:3C:4D:5E", "dhcpd: lease 172.19.4.77 to 00:1a:2b:3c:4d:5e for 43200s"),
    ] {
        assert_eq!(left(request, &[text]), "", "{text}");
    }
}

#[test]
fn a_value_that_was_not_stored_stands_for_no_other() {
    let texts = ["The live token is [redacted:secret].", "The test token is [redacted:secret]."];
    let told = judged("forget the token [redacted:secret]", &texts);
    assert!(told.iter().all(|it| it.verdict == Verdict::Maybe(Near::Redacted)), "{told:?}");
    let born = ["I was born on [redacted:date].", "The contract ends on [redacted:date]."];
    let mine = judged("forget my date of birth [redacted:date]", &born);
    assert_eq!((mine[0].verdict, mine[1].verdict == Verdict::Matched), (Verdict::Matched, false));
    let named = judged("forget the live token", &texts);
    assert_eq!((named[0].verdict, named[1].verdict == Verdict::Matched), (Verdict::Matched, false));
}
