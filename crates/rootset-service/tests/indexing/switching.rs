//! Branches that are switched: what search finds, in which order, is what a fresh index of the same tree finds.

use serde_json::{Value, json};

use crate::place::{Place, counts};

const MAIN: [(&str, &str); 2] = [
    ("alpha.py", "def first():\n    \"\"\"Speaks of apples.\"\"\"\n"),
    ("beta.py", "def second():\n    \"\"\"Speaks of bananas.\"\"\"\n"),
];

/// With both words in the query, the file with the rarer one comes first.
fn answer(place: &Place) -> Value {
    place.world.call("search_code", json!({"query": "apples bananas", "limit": 100}))
}

/// A branch on which many files say one word.
fn branch(word: &str) -> Vec<(String, String)> {
    (0..20).map(|n| (format!("{word}/m{n}.py"), format!("def f{n}():\n    \"\"\"More {word}.\"\"\"\n"))).collect()
}

fn switch(place: &Place, from: &[(String, String)], to: &[(String, String)]) -> Value {
    from.iter().for_each(|(path, _)| place.remove(path));
    to.iter().for_each(|(path, text)| place.write(path, text));
    place.index_with(json!({"accept_missing": true}))
}

#[test]
fn files_of_another_branch_do_not_count_in_the_order_of_results() {
    for word in ["apples", "bananas"] {
        let place = Place::with(MAIN);
        place.index();
        let wanted = answer(&place);
        let other = branch(word);
        switch(&place, &[], &other);
        assert_ne!(answer(&place), wanted);
        switch(&place, &other, &[]);
        assert_eq!(answer(&place), wanted, "{word} count while they are stale");
        assert_eq!(place.stale().len(), 20);
        place.world.assert_doctor_is_content();
    }
}

#[test]
fn files_that_come_back_are_found_again_without_being_read_anew() {
    let place = Place::with(MAIN);
    let other = branch("apples");
    switch(&place, &[], &other);
    let wanted = answer(&place);
    switch(&place, &other, &[]);
    let returned = switch(&place, &[], &other);
    assert_eq!(counts(&returned), [22, 0, 22, 0], "{returned}");
    assert_eq!(answer(&place), wanted);
    place.assert_nothing_stale();
    place.world.assert_doctor_is_content();
}
