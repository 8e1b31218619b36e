//! Any text is valid input.

use proptest::prelude::*;
use rootset_code::{
    Reader, Source, identifier_term, is_test, language_of, languages, name_parts, outline_as_text, query_terms, refuse,
};
use rootset_properties::for_a_while;

use crate::chunking::assert_well_formed;
use crate::fixtures::FIXTURES;

fn check(language: &'static rootset_code::Language, path: &str, text: &str) {
    let source = Source { repo: "demo", path, text };
    let mut reader = Reader::new();
    if let Ok(outline) = reader.outline(language, &source) {
        assert_well_formed(text, &outline);
        for chunk in &outline.chunks {
            let terms = reader.chunk_terms(&source, &outline, chunk);
            let mut words: Vec<&str> = terms.body.split(' ').collect();
            words.sort_unstable();
            assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{words:?}");
        }
    }
    assert_well_formed(text, &outline_as_text(&source));
}

/// Lines of all fixtures, in any order, some of them cut.
fn mixed_lines() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = FIXTURES.iter().flat_map(|fixture| fixture.text.lines()).collect();
    let line =
        (proptest::sample::select(lines), 0..80_usize).prop_map(|(line, cut)| match line.char_indices().nth(cut) {
            Some((at, _)) if cut % 4 == 0 => line[..at].to_owned(),
            _ => line.to_owned(),
        });
    proptest::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

/// A fixture with a piece taken out, doubled or replaced.
fn mutated_fixture() -> impl Strategy<Value = (usize, String)> {
    (0..FIXTURES.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3_u8, "\\PC{0,8}").prop_map(
        |(place, from, to, how, with)| {
            let text = &FIXTURES[place].text;
            let boundary = |index: prop::sample::Index| {
                let mut at = index.index(text.len() + 1);
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let (from, to) = (boundary(from), boundary(to));
            let (from, to) = (from.min(to), from.max(to));
            let middle = match how {
                0 => with,
                1 => text[from..to].repeat(2),
                _ => with.repeat(3) + &text[from..to],
            };
            (place, [&text[..from], &middle, &text[to..]].concat())
        },
    )
}

#[test]
fn any_text_is_read_in_every_language() {
    for_a_while(|config| {
        proptest!(config, |(text in "(\\PC|[\\n\\t\\r{}();:\"'`#<>/\\\\*]){0,300}")| {
            for language in languages().filter(|language| language.is_code()) {
                check(language, "src/a.x", &text);
            }
        })
    });
}

#[test]
fn lines_of_any_language_are_read_in_every_other() {
    for_a_while(|config| {
        proptest!(config, |(text in mixed_lines())| {
            for language in languages().filter(|language| language.is_code()) {
                check(language, "src/a/b.x", &text);
            }
        })
    });
}

#[test]
fn damaged_sources_are_read() {
    for_a_while(|config| {
        proptest!(config, |((place, text) in mutated_fixture())| {
            let fixture = &FIXTURES[place];
            check(fixture.language(), &fixture.path, &text);
        })
    });
}

#[test]
fn any_path_and_any_bytes_have_an_answer() {
    for_a_while(|config| {
        proptest!(config, |(path in "\\PC{0,60}", bytes in proptest::collection::vec(any::<u8>(), 0..300))| {
            let _ = (is_test(&path), refuse(&path, &bytes), language_of(&path, &String::from_utf8_lossy(&bytes)));
            let text = String::from_utf8_lossy(&bytes);
            let source = Source { repo: "", path: &path, text: &text };
            for language in languages().filter(|language| language.is_code()) {
                if let Ok(outline) = Reader::new().outline(language, &source) {
                    prop_assert!(!outline.symbols[0].qualified_name.is_empty());
                }
            }
        })
    });
}

#[test]
fn a_query_finds_what_the_index_holds() {
    for_a_while(|config| {
        proptest!(config, |(text in "\\PC{0,200}")| {
            let terms = query_terms(&text);
            prop_assert!(terms.len() <= 64);
            for term in &terms {
                prop_assert!(!term.is_empty() && !term.contains(char::is_whitespace));
                prop_assert!(term.chars().all(|it| it == '_' || !it.is_ascii_punctuation()));
            }
            for part in name_parts(&text) {
                prop_assert!(!part.is_empty());
            }
            let source = Source { repo: "r", path: "a.txt", text: &text };
            let outline = outline_as_text(&source);
            let mut reader = Reader::new();
            let body: Vec<String> = outline.chunks.iter().map(|chunk| reader.chunk_terms(&source, &outline, chunk).body).collect();
            for term in terms {
                prop_assert!(body.iter().any(|body| body.split(' ').any(|it| it == term)), "{term}");
            }
            for word in text.split_whitespace() {
                let term = identifier_term(word);
                let is_number = term.starts_with(|it: char| it.is_ascii_digit());
                let all_gaps = term.bytes().all(|byte| byte == b'_');
                prop_assert!(is_number || all_gaps || body.iter().any(|body| body.split(' ').any(|it| it == term)), "{term}");
            }
        })
    });
}
