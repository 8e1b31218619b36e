//! Texts of memories and the queries about them: a line with the query, then the text.

use rootset_model::Content;
use rootset_model::limits::QUERY_TERMS_MAX;
use rootset_model::slug::slug;
use rootset_text::chunks::{CHUNK_BYTES_MAX, split};
use rootset_text::extract::extract;
use rootset_text::matching::Matcher;
use rootset_text::names::each_name;
use rootset_text::secrets::{redact, redact_keeping_lines};

use rootset_text::snippet::{preview, snippet};
use rootset_text::terms::{index_terms, is_question, query_terms};

const SHOWN_CHARS: usize = 80;

pub fn run(input: &[u8]) {
    let Ok(all) = std::str::from_utf8(input) else { return };
    let (query, text) = all.split_once('\n').unwrap_or((all, all));
    let terms = query_terms(query);
    assert!(terms.len() <= QUERY_TERMS_MAX);
    let _ = (is_question(query), slug(text), index_terms(text), redact(text), redact_keeping_lines(text));
    assert!(snippet(text, &terms, SHOWN_CHARS).chars().count() <= SHOWN_CHARS);
    assert!(preview(text, SHOWN_CHARS).chars().count() <= SHOWN_CHARS);
    each_name(text, |name| assert!(!name.is_empty()));
    if let Some(matcher) = Matcher::new(query) {
        let _ = (matcher.matches([text]), matcher.near_probes());
    }
    check_chunks(text);
    let content =
        Content { topic: query.into(), context: text.into(), decisions: vec![text.into()], rationale: vec![] };
    let extraction = extract(&content);
    assert_eq!(extraction.clone().canonical(), extraction);
}

fn check_chunks(text: &str) {
    let mut covered = 0;
    for range in split(text) {
        assert!(text[covered..range.start].trim().is_empty() && range.len() <= CHUNK_BYTES_MAX, "{range:?}");
        covered = range.end;
    }
    assert!(text[covered..].trim().is_empty());
}
