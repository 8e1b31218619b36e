//! Source files: a line with the path, which decides about the language, then the text.

use rootset_code::{Reader, Source, is_test, language_of, outline_as_text, refuse};
use rootset_model::code::Outline;

pub fn run(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (path, bytes) = (String::from_utf8_lossy(&input[..end]), input.get(end + 1..).unwrap_or_default());
    let _ = (is_test(&path), refuse(&path, bytes));
    let text = String::from_utf8_lossy(bytes);
    let source = Source { repo: "fuzz", path: &path, text: &text };
    let language = language_of(&path, text.lines().next().unwrap_or_default());
    let mut reader = Reader::new();
    if let Some(language) = language
        && let Ok(outline) = reader.outline(language, &source)
    {
        check(&mut reader, &source, &outline);
    }
    check(&mut reader, &source, &outline_as_text(&source));
}

/// Chunks are a partition: in order, without overlap, and nothing but blanks between them.
fn check(reader: &mut Reader, source: &Source<'_>, outline: &Outline) {
    let mut at = 0;
    for chunk in &outline.chunks {
        let (start, end) = (chunk.start as usize, chunk.end as usize);
        assert!(at <= start && start < end, "{chunk:?} after {at}");
        assert!(source.text[at..start].trim().is_empty(), "left out: {:?}", &source.text[at..start]);
        reader.chunk_terms(source, outline, chunk);
        at = end;
    }
    assert!(source.text[at..].trim().is_empty(), "left out: {:?}", &source.text[at..]);
}
