//! Chunks are a partition: in order, without overlap, and nothing but blanks between them.

use rootset_code::{Source, outline_as_text};
use rootset_model::code::Outline;

use crate::fixtures::FIXTURES;

pub fn assert_well_formed(text: &str, outline: &Outline) {
    let mut at = 0;
    for chunk in &outline.chunks {
        let (start, end) = (chunk.start as usize, chunk.end as usize);
        assert!(at <= start && start < end, "{chunk:?} after {at}");
        assert!(text[at..start].trim().is_empty(), "left out: {:?}", &text[at..start]);
        assert!(!text[start..end].trim().is_empty(), "blank: {chunk:?}");
        assert!(end - start <= 6 << 10, "{} bytes", end - start);
        assert!(chunk.symbol.is_none_or(|symbol| (symbol as usize) < outline.symbols.len()));
        at = end;
    }
    assert!(text[at..].trim().is_empty(), "left out: {:?}", &text[at..]);
    for (place, symbol) in outline.symbols.iter().enumerate() {
        assert!(symbol.parent.is_none_or(|parent| (parent as usize) < place), "{symbol:?}");
        assert_eq!(symbol.parent.is_none(), place == 0);
        assert!(text.get(symbol.start as usize..symbol.end as usize).is_some(), "{symbol:?}");
        assert!(symbol.first_line >= 1 && symbol.first_line <= symbol.last_line, "{symbol:?}");
        assert!(symbol.qualified_name.ends_with(&symbol.name), "{symbol:?}");
        assert!(place == 0 || outline.symbols[place - 1].start <= symbol.start, "{symbol:?}");
    }
    let symbols = outline.symbols.len() as u32;
    assert!(outline.references.calls.iter().all(|call| call.caller < symbols && call.line >= 1));
    assert!(outline.references.bases.iter().all(|base| base.symbol < symbols));
}

fn texts(text: &str) -> Vec<&str> {
    let source = Source { repo: "r", path: "a.md", text };
    let outline = outline_as_text(&source);
    assert_well_formed(text, &outline);
    outline.chunks.iter().map(|chunk| &text[chunk.start as usize..chunk.end as usize]).collect()
}

#[test]
fn chunks_of_every_fixture_hold_everything_once() {
    for fixture in FIXTURES.iter() {
        assert_well_formed(&fixture.text, &fixture.outline());
        assert_well_formed(&fixture.text, &outline_as_text(&fixture.source()));
    }
}

#[test]
fn an_empty_or_blank_file_has_no_chunk() {
    assert!(texts("").is_empty());
    assert!(texts(" \n\t\n\u{2003}\n").is_empty());
}

#[test]
fn text_is_cut_at_blank_lines_and_headings_when_there_is_enough_of_it() {
    let section = |title: &str| format!("# {title}\n{}", "line of text\n".repeat(44));
    let text = [section("one"), section("two"), section("three")].concat();
    let chunks = texts(&text);
    assert_eq!(
        chunks.iter().map(|chunk| chunk.lines().next().unwrap()).collect::<Vec<_>>(),
        ["# one", "# two", "# three"]
    );
}

#[test]
fn text_without_breaks_is_cut_all_the_same() {
    assert!(texts(&"word\n".repeat(1_000)).len() >= 16);
    let line = "ö".repeat(100_000);
    let chunks = texts(&line);
    assert!(chunks.len() >= 48 && chunks.iter().all(|chunk| chunk.len() <= 4 << 10));
}
