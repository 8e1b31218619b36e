//! Files that are made to hurt: no hang, no overflow of a small stack, no crash. Giving up is an answer.

use rootset_code::{GaveUp, Language, Reader, Source, languages, outline_as_text};

use crate::chunking::assert_well_formed;

/// Smaller than any thread's: what would overflow does so here.
const STACK_BYTES: usize = 256 << 10;

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
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, test).unwrap();
        thread.join().unwrap();
    });
}

const NESTED: [(&str, &str); 8] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("if (a) {", "}"),
    ("f(", ")"),
    ("class A { void f() {", "}}"),
    ("!", ""),
    ("a.b(function() {", "})"),
];

#[test]
fn nesting_that_is_parsed_does_not_overflow_a_small_stack() {
    on_small_stack(|| {
        for language in code_languages() {
            for (open, close) in NESTED {
                let nested = [open.repeat(450), "x".to_owned(), close.repeat(450)].concat();
                let _ = read(language, &nested);
                let _ = read(language, &open.repeat(450));
            }
        }
    });
}

#[test]
fn nesting_beyond_all_measure_is_given_up_at_once() {
    const DEPTH: usize = 100_000;
    on_small_stack(|| {
        for language in code_languages() {
            for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("if (a) {", "}"), ("a<b<", ">")] {
                let nested = [open.repeat(DEPTH), "x".to_owned(), close.repeat(DEPTH)].concat();
                assert_eq!(read(language, &nested), Err(GaveUp::TooDeep), "{language:?} {open}");
            }
        }
    });
}

#[test]
fn operators_in_a_row_are_given_up_or_read() {
    on_small_stack(|| {
        for language in code_languages() {
            for part in ["!", "- ", "a + ", "a = ", "a, ", "a.b", "x ", "*", "a || b && "] {
                let _ = read(language, &part.repeat(3_000));
            }
        }
    });
}

#[test]
fn a_line_of_a_megabyte_is_read() {
    for language in code_languages() {
        let _ = read(language, &"x".repeat(1 << 20));
        let _ = read(language, &format!("x = \"{}\"", "é".repeat(1 << 19)));
    }
}

#[test]
fn what_is_never_closed_is_read() {
    for language in code_languages() {
        for opening in
            ["\"", "'", "`", "\"\"\"", "/*", "<<EOF\n", "r#\"", "<?php", "/", "%w(", "=begin\n", "#{", "${", "\\"]
        {
            let text = format!("{opening}{}", "def f(x) { return y; }\n".repeat(60));
            let _ = read(language, &text);
            let _ = read(language, &opening.repeat(300));
        }
    }
}

#[test]
fn more_symbols_or_references_than_anybody_writes_are_given_up() {
    let python = languages().find(|language| language.name() == "python").unwrap();
    assert_eq!(read(python, &"def f(): pass\n".repeat(20_001)), Err(GaveUp::TooManySymbols));
    assert_eq!(read(python, &"f()\n".repeat(50_001)), Err(GaveUp::TooManyReferences));
    assert_eq!(read(python, &"def f(): pass\n".repeat(1_000)), Ok(1_001));
}

#[test]
fn names_within_names_stay_bounded() {
    let python = languages().find(|language| language.name() == "python").unwrap();
    let nested: String = (0..100).map(|depth| format!("{}class C{}:\n", " ".repeat(depth), "x".repeat(150))).collect();
    let text = nested + &" ".repeat(100) + "pass\n";
    let source = Source { repo: "r", path: "a.py", text: &text };
    let outline = Reader::new().outline(python, &source).unwrap();
    assert_well_formed(&text, &outline);
    assert!(outline.symbols.iter().all(|symbol| symbol.qualified_name.len() < 8_000));
    assert!(outline.symbols.len() < 30);
}
