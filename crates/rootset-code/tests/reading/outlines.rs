//! What the fixtures give, written down.

use rootset_code::{Reader, languages};

use crate::fixtures::{FIXTURES, rendered};

#[test]
fn sources_of_every_language_give_what_is_written_down() {
    for fixture in FIXTURES.iter() {
        let name = format!("{}__{}", fixture.language, fixture.path.replace(['/', '.'], "_"));
        insta::assert_snapshot!(name, rendered(&fixture.source(), &fixture.outline()));
    }
}

#[test]
fn every_language_has_a_fixture() {
    for language in languages().filter(|language| language.is_code()) {
        assert!(FIXTURES.iter().any(|fixture| fixture.language == language.name()), "{}", language.name());
    }
}

#[test]
fn what_is_read_does_not_depend_on_what_was_read_before() {
    let mut reader = Reader::new();
    for fixture in FIXTURES.iter().chain(FIXTURES.iter().rev()) {
        let outline = reader.outline(fixture.language(), &fixture.source()).unwrap();
        assert_eq!(outline, fixture.outline(), "{}", fixture.path);
        for chunk in &outline.chunks {
            let alone = Reader::new().chunk_terms(&fixture.source(), &outline, chunk);
            assert_eq!(reader.chunk_terms(&fixture.source(), &outline, chunk), alone, "{}", fixture.path);
        }
    }
}
