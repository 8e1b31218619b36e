//! Terms of chunks: what is written can be found.

use rootset_code::{Reader, around_name_term, identifier_term, own_name_term};

use crate::fixtures::FIXTURES;

#[test]
fn every_call_is_found_by_its_name_in_the_chunks_of_its_file() {
    for fixture in FIXTURES.iter() {
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
    for fixture in FIXTURES.iter() {
        let outline = fixture.outline();
        for chunk in &outline.chunks {
            let head = Reader::new().chunk_terms(&fixture.source(), &outline, chunk).head;
            let symbol = &outline.symbols[chunk.symbol.unwrap() as usize];
            let has = |term: String| head.split(' ').any(|it| it == term);
            let (own, around) = (identifier_term(&symbol.name), fixture.path.split(['/', '.']).next().unwrap());
            // `operator==` has letters, `<=>` has none.
            assert!(own.is_empty() || has(own_name_term(&own)), "{} in {head}", symbol.name);
            assert!(has(around_name_term(&identifier_term(around))), "{around} in {head}");
        }
    }
}
