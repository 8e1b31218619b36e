//! Files that are made to hurt: no hang, no overflow of a small stack, no crash. Giving up is an answer.

use rootset_code::{GaveUp, Language, Reader, Source, languages, outline_as_text};

use crate::chunking::assert_well_formed;
use crate::fixtures::FIXTURES;

/// Smaller than any thread's: what would overflow does so here.
const STACK_BYTES: usize = 512 << 10;

fn code_languages() -> impl Iterator<Item = &'static Language> {
    languages().filter(|language| language.is_code())
}

/// Reads it as code and, if that was given up, as text; either way nothing is lost.
fn read(language: &'static Language, text: &str) -> Result<usize, GaveUp> {
    let source = Source { repo: "r", path: "src/a.x", text };
    let mut reader = Reader::new();
    let outline = reader.outline(language, &source);
    let read = outline.as_ref().map(|outline| outline.symbols.len()).map_err(|gave_up| *gave_up);
    let outline = outline.unwrap_or_else(|_| outline_as_text(&source));
    assert_well_formed(text, &outline);
    for chunk in &outline.chunks {
        reader.chunk_terms(&source, &outline, chunk);
    }
    read
}

fn on_small_stack(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        #[expect(clippy::disallowed_methods, reason = "the test is about the size of a thread's stack")]
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, test).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn deep_nesting_is_given_up_or_read_but_never_overflows_the_stack() {
    const DEPTH: usize = 100_000;
    on_small_stack(|| {
        for language in code_languages() {
            for (open, close) in [
                ("(", ")"),
                ("[", "]"),
                ("{", "}"),
                ("if (a) {", "}"),
                ("f(", ")"),
                ("a = ", ""),
                ("!", ""),
                ("<a>", "</a>"),
            ] {
                let nested = [open.repeat(DEPTH), "x".to_owned(), close.repeat(DEPTH)].concat();
                let _ = read(language, &nested);
                let _ = read(language, &open.repeat(DEPTH));
                let _ = read(language, &close.repeat(DEPTH));
            }
        }
    });
}
