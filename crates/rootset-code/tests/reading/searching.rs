//! Terms of chunks: what is written can be found.

use rootset_code::{Reader, identifier_term};

use crate::fixtures::FIXTURES;

#[test]
fn every_call_is_found_by_its_name_in_the_chunks_of_its_file() {
    for fixture in FIXTURES {
        let outline = fixture.outline();
        let mut reader = Reader::new();
        let bodies: Vec<_> = outline
            .chunks
            .iter()
            .map(|chunk| (chunk.symbol, reader.chunk_terms(&fixture.source(), &outline, chunk).body))
            .collect();
        for call in &outline.references.calls {
            let term = identifier_term(&call.name);
            let found = bodies
                .iter()
                .any(|(symbol, body)| *symbol == Some(call.caller) && body.split(' ').any(|it| it == term));
            assert!(found, "{}: {call:?}", fixture.path);
        }
    }
}

#[test]
fn a_symbol_is_found_by_its_name_and_by_its_path() {
    for fixture in FIXTURES {
        let outline = fixture.outline();
        for chunk in &outline.chunks {
            let head = Reader::new().chunk_terms(&fixture.source(), &outline, chunk).head;
            let symbol = &outline.symbols[chunk.symbol.unwrap() as usize];
            for name in [symbol.name.as_str(), fixture.path.split(['/', '.']).next().unwrap()] {
                let term = identifier_term(name);
                // `operator==` has letters, `<=>` has none.
                assert!(term.is_empty() || head.split(' ').any(|it| it == term), "{name} in {head}");
            }
        }
    }
}
