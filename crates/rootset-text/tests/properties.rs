//! What holds for any text whatever.

use proptest::prelude::*;
use rootset_model::Content;
use rootset_model::limits::QUERY_TERMS_MAX;
use rootset_model::slug::slug;
use rootset_properties::for_a_while;
use rootset_text::chunks::{CHUNK_BYTES_MAX, split};
use rootset_text::extract::extract;
use rootset_text::matching::{Fields, Matcher, Verdict};
use rootset_text::secrets::redact;
use rootset_text::snippet::{preview, snippet};
use rootset_text::terms::{TERM_BYTES_MAX, TERM_PUNCTUATION, index_terms, query_terms};

/// Long enough for a square to be felt without optimisation, short enough for one pass not to be.
const HOSTILE_BYTES: usize = 32 << 10;

/// Few letters and many marks: text in which identifiers of every shape begin, end and collide.
fn dense() -> impl Strategy<Value = String> {
    "[ab1sA-C@._/:'’#+~()\" ıßéＡ東👍\u{301}\u{200b}\\-\\\\]{0,40}"
}

/// Text made of whole things next to each other, so that requirements of several kinds come together.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "alice@acme.io",
        "TKT-100",
        "getUser",
        "getuser",
        "follow-up",
        "src/Foo.rs",
        "https://a.io/c#",
        "v1.2",
        "C#",
        "it's",
        "Falcon",
        "falcons",
        "the",
        "\"",
        "東京",
        "about",
        "snake_case",
        "foo.Bar",
        "ſ",
        "İ",
        "c++",
        "x's/y",
    ]);
    let joint = prop::sample::select(vec![" ", " ", " ", ".", "-", "/", "", "'", "\n"]);
    prop::collection::vec((piece, joint), 0..12).prop_map(|all| all.into_iter().flat_map(|(a, b)| [a, b]).collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), dense(), pieces()]
}

fn content(text: &str) -> Content {
    Content { topic: text.into(), context: text.into(), decisions: vec![text.into()], rationale: vec![] }
}

/// The text itself must match more often than chance would have it: requests are cut out of the text.
fn part(text: &str, from: prop::sample::Index, to: prop::sample::Index) -> &str {
    let borders: Vec<usize> = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
    let (from, to) = (from.index(borders.len()), to.index(borders.len()));
    &text[borders[from.min(to)]..borders[from.max(to)]]
}

#[test]
fn terms_are_short_and_free_of_blanks_and_quotes() {
    for_a_while(|config| {
        proptest!(config, |(text in any_text())| {
            let terms = index_terms(&text);
            prop_assert!(!terms.contains('"') && !terms.contains("  "));
            for term in terms.split(' ').filter(|_| !terms.is_empty()) {
                prop_assert!((1..=TERM_BYTES_MAX).contains(&term.len()) && !term.contains(char::is_whitespace), "{term:?}");
                prop_assert!(term.chars().all(|c| !c.is_ascii_punctuation() || TERM_PUNCTUATION.contains(c)), "{term:?}");
            }
        })
    });
}

#[test]
fn a_query_asks_for_what_is_indexed() {
    for_a_while(|config| {
        proptest!(config, |(text in any_text())| {
            let terms = index_terms(&text);
            let indexed: Vec<&str> = terms.split(' ').collect();
            let query = query_terms(&text);
            prop_assert!(query.len() <= QUERY_TERMS_MAX);
            prop_assert_eq!(query.is_empty(), terms.is_empty());
            for (index, asked) in query.iter().enumerate() {
                prop_assert!(indexed.contains(&asked.term.as_str()), "{:?}", asked);
                prop_assert!(query[..index].iter().all(|it| it.term != asked.term));
            }
        })
    });
}

#[test]
fn chunks_cover_all_that_is_visible() {
    for_a_while(|config| {
        proptest!(config, |(text in any_text(), repeat in 1_usize..200)| {
            let text = text.repeat(repeat);
            let mut covered = 0;
            for range in split(&text) {
                prop_assert!(text[covered..range.start].trim().is_empty() && range.len() <= CHUNK_BYTES_MAX);
                prop_assert!(!text[range.clone()].is_empty() && text[range.clone()].trim() == &text[range.clone()]);
                covered = range.end;
            }
            prop_assert!(text[covered..].trim().is_empty());
        })
    });
}

#[test]
fn extractions_are_canonical_and_repeatable() {
    for_a_while(|config| {
        proptest!(config, |(text in any_text())| {
            let extraction = extract(&content(&text));
            prop_assert_eq!(&extraction.clone().canonical(), &extraction);
            prop_assert_eq!(&extract(&content(&text)), &extraction);
        })
    });
}

#[test]
fn redacting_twice_redacts_nothing_more() {
    const NEARLY_SECRETS: &str = concat!(
        "((token|password|api_key|key is|--secret|authorization: basic|value|name)[=: \"']{1,2}|://a:|@|AKIA|ghp_|eyJ|sk-|-----BEGIN ",
        "|-----END |PRIVATE KEY-----|8Q~|-us1|\\$2y\\$|sig=|:AA",
        "|[a-c0-9]{1,14}|[ .=-]){0,14}",
    );
    for_a_while(|config| {
        proptest!(config, |(text in prop_oneof![any_text(), NEARLY_SECRETS])| {
            let once = redact(&text);
            let twice = redact(&once.text);
            prop_assert_eq!(twice.count, 0, "{}", once.text);
            prop_assert_eq!(&twice.text, &once.text);
        })
    });
}

#[test]
fn what_matches_holds_the_promised_terms() {
    let texts = || prop_oneof![dense(), pieces()];
    let ends = || any::<(prop::sample::Index, prop::sample::Index)>();
    for_a_while(|config| {
        proptest!(config, |((text, other) in (texts(), texts()), (from, to) in ends(), upper: bool)| {
            let query = part(&text, from, to);
            let query = if upper { query.to_uppercase() } else { query.to_owned() };
            if let Some(matcher) = Matcher::new(&query) {
                for fields in [[text.as_str(), other.as_str()], [other.as_str(), text.as_str()], [&other, &query]] {
                    if matcher.matches(fields) {
                        let terms = index_terms(&fields.join("\n"));
                        let indexed: Vec<&str> = terms.split(' ').collect();
                        let has_one = |terms: &Vec<String>| terms.iter().any(|term| indexed.contains(&term.as_str()));
                        let probes = matcher.probes();
                        prop_assert!(probes.iter().any(|probe| probe.iter().all(has_one)), "{query:?}: {probes:?}");
                    }
                }
            }
        })
    });
}

#[test]
fn a_text_is_never_missed_by_its_own_words() {
    for_a_while(|config| {
        proptest!(config, |(text in pieces())| {
            if let Some(matcher) = Matcher::new(&text) {
                let itself = Fields { more: &[text.as_str()], ..Fields::default() };
                prop_assert!(matcher.judge(&itself).verdict != Verdict::No);
            }
        })
    });
}

#[test]
fn short_views_are_as_short_as_asked() {
    for_a_while(|config| {
        proptest!(config, |(text in any_text(), query in any_text(), chars_max in 0_usize..50)| {
            prop_assert!(snippet(&text, &query_terms(&query), chars_max).chars().count() <= chars_max);
            prop_assert!(preview(&text, chars_max).chars().count() <= chars_max);
        })
    });
}

#[test]
fn slugs_are_valid_names() {
    for_a_while(|config| {
        proptest!(config, |(text in any_text())| {
            if let Some(slug) = slug(&text) {
                prop_assert_eq!(rootset_model::names::check_memory_name(&slug), Ok(()));
            }
        })
    });
}

/// Long texts that punish whatever looks back, looks ahead or starts over: in a test, a square would show as a hang.
#[test]
fn hostile_text_is_read_to_its_end() {
    for unit in [
        "x",
        "(",
        "@",
        "a@",
        "a@b.",
        "a@b.c@",
        "/",
        "a/",
        "~/",
        "'s",
        "a'",
        ".",
        "a.",
        "-",
        "a-",
        "_",
        "://",
        "a://",
        "::",
        "a::b",
        "\n",
        " \n",
        "\"",
        "\"a",
        "`A ",
        "“",
        "A ",
        "Aa ",
        "A. ",
        "A uses ",
        "eyJ",
        "eyJ-",
        "eyJ.",
        "sk-",
        "token=",
        "token:'",
        "password is ",
        "--password ",
        "value=",
        "password: str = ",
        "-u a:b ",
        "M",
        "1/1:",
        "&sig=",
        "-----BEGIN PRIVATE KEY-----",
        "-----END ",
        "\u{301}",
        "a\u{301}",
        "ﷺ",
        "㌀",
        "東",
        "👍",
        "https://a?https://",
        "C++",
        "a\u{200b}",
    ] {
        let text = unit.repeat(HOSTILE_BYTES / unit.len());
        let terms = query_terms(&text);
        index_terms(&text);
        split(&text);
        extract(&content(&text));
        redact(&text);
        snippet(&text, &terms, 300);
        slug(&text);
        if let Some(matcher) = Matcher::new(&text) {
            matcher.matches([text.as_str()]);
        }
    }
}
