//! Rules of the ranking on a few rows each.

use rootset_model::MemoryId;
use rootset_store::driver::SearchStatistics;

use super::*;

fn row(number: i64, body: &str) -> Candidate {
    let mut id = [0; 16];
    id[15] = number as u8;
    Candidate {
        chunk: number,
        memory: MemoryId(id),
        updated_at: Timestamp(0),
        place: Some(number),
        occurred: None,
        is_question: false,
        is_servable: true,
        head_terms: String::new(),
        body_terms: body.into(),
        similarity: None,
        linked_entities: 0,
        labels: Vec::new(),
    }
}

fn answer(rows: Vec<Candidate>, terms: &[&str], question: Question<'_>) -> Vec<i64> {
    let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
    let statistics = SearchStatistics { frequencies: vec![2; terms.len()], rows: 100, body_terms: 300 };
    let question = Question { terms: &terms, ..question };
    rank(&Candidates { rows, statistics, ..Candidates::default() }, &question, Timestamp(0), true)
        .into_iter()
        .map(|it| it.chunk)
        .collect()
}

fn order(rows: Vec<Candidate>, terms: &[&str]) -> Vec<i64> {
    answer(rows, terms, Question::default())
}

#[test]
fn a_neighbour_of_a_match_is_found_and_one_of_another_thread_is_not() {
    let mut rows = vec![row(1, "other words"), row(2, "the falcon"), row(3, "more words")];
    rows[2].place = Some(1 << 32);
    assert_eq!(order(rows.clone(), &["falcon", "x", "y", "z"]), [2, 1]);
    assert_eq!(order(rows, &["falcon"]), [2], "a short query is answered by its words alone");
}

#[test]
fn what_follows_a_question_comes_before_what_precedes_it() {
    let mut rows = vec![row(1, "x"), row(2, "falcon"), row(3, "x")];
    rows[1].is_question = true;
    assert_eq!(order(rows, &["falcon", "w", "y", "z"]), [3, 2, 1]);
}

#[test]
fn chunks_of_one_memory_lend_each_other_nothing_and_a_long_text_does_not_win_by_length() {
    let long = "falcon ".to_owned() + &"word ".repeat(200);
    let mut rows: Vec<Candidate> = (1..=4).map(|number| row(number, long.trim())).collect();
    for row in &mut rows {
        (row.memory, row.place) = (MemoryId([9; 16]), Some(1));
    }
    rows.push(row(40, "the falcon eats"));
    assert_eq!(order(rows, &["falcon", "x", "y", "z"]), [40, 1]);
}

#[test]
fn a_number_counts_in_the_text_but_not_in_the_topic() {
    let mut rows = vec![row(1, "x"), row(20, "on 3 july")];
    rows[0].head_terms = "session 3".into();
    assert_eq!(order(rows, &["3"]), [20]);
}

#[test]
fn a_topic_that_the_text_repeats_counts_once() {
    let mut rows = vec![row(1, "falcon plan of the year"), row(20, "plan")];
    rows[0].head_terms = "falcon plan".into();
    rows[1].head_terms = "ann falcon".into();
    assert_eq!(order(rows, &["falcon"]), [20, 1]);
}

#[test]
fn a_memory_appears_once_and_unservable_rows_never() {
    let mut rows = vec![row(1, "falcon"), row(2, "falcon"), row(9, "falcon")];
    rows[1].memory = rows[0].memory;
    rows[2].is_servable = false;
    assert_eq!(order(rows, &["falcon"]).len(), 1);
}

#[test]
fn a_quoted_phrase_comes_first() {
    let rows = vec![row(1, "escap falcon falcon"), row(20, "a falcon escap from the balcon of the hous")];
    assert_eq!(order(rows.clone(), &["falcon", "escap"])[0], 1);
    let phrases = ["falcon escap".to_owned()];
    assert_eq!(answer(rows, &["falcon", "escap"], Question { phrases: &phrases, ..Question::default() })[0], 20);
}

#[test]
fn a_day_that_is_named_prefers_what_happened_on_it() {
    let day = |number: i64| (Timestamp(number * 100), Timestamp(number * 100 + 99));
    let mut rows = vec![row(1, "falcon"), row(20, "falcon"), row(40, "falcon")];
    (rows[0].occurred, rows[1].occurred) = (Some(day(1)), Some(day(2)));
    let periods = [day(2)];
    assert_eq!(answer(rows, &["falcon"], Question { periods: &periods, ..Question::default() })[0], 20);
}

#[test]
fn a_newer_value_comes_before_the_one_it_updates_if_a_state_is_asked_for() {
    let rows = vec![row(1, "test coverag 65"), row(20, "test coverag of the modul improv to 78"), row(40, "test 99")];
    assert_eq!(order(rows.clone(), &["test", "coverag"])[0], 1);
    let asked = Question { asks_for_state: true, ..Question::default() };
    assert_eq!(answer(rows.clone(), &["test", "coverag"], asked)[..2], [20, 1]);
    let mut same = rows;
    same[1].body_terms = "test coverag of the modul improv to 65".into();
    assert_eq!(answer(same, &["test", "coverag"], asked)[0], 1, "the same value is no update");
}

#[test]
fn cosines_above_the_median_count_and_are_lent() {
    let mut rows: Vec<Candidate> = [1, 2, 20, 40, 60].into_iter().map(|number| row(number, "x")).collect();
    for (row, cosine) in rows.iter_mut().zip([0.1, 0.9, 0.2, 0.2, 0.1]) {
        row.similarity = Some(cosine);
    }
    assert_eq!(order(rows, &["y"]), [2, 1, 20, 40, 60], "a neighbour comes before what is nearer by itself");
    let mut two = vec![row(1, "x"), row(20, "x")];
    (two[0].similarity, two[1].similarity) = (Some(0.1), Some(0.3));
    assert_eq!(order(two, &["y"]), [20, 1], "of two memories the nearer one comes first");
}

/// A workspace of so many chunks, in each of two of which one word of the query stands.
fn is_silent(chunks: i64, terms: usize, change: impl Fn(&mut Candidate)) -> bool {
    let terms: Vec<String> = (0..terms).map(|number| format!("word{number}")).collect();
    let mut frequencies = vec![0; terms.len()];
    frequencies[0] = 2;
    let mut rows = vec![row(1, "word0 and others"), row(20, "others and word0")];
    rows.iter_mut().for_each(change);
    let statistics = SearchStatistics { frequencies, rows: chunks, body_terms: chunks * 3 };
    rank(
        &Candidates { rows, statistics, ..Candidates::default() },
        &Question { terms: &terms, ..Question::default() },
        Timestamp(0),
        false,
    )
    .is_empty()
}

#[test]
fn one_word_of_many_is_no_answer_in_a_large_workspace() {
    assert!(is_silent(1_000, 6, |_| {}));
    assert!(!is_silent(1_000, 3, |_| {}), "a third of the query");
    assert!(!is_silent(100, 6, |_| {}), "a small workspace");
    assert!(!is_silent(1_000, 6, |row| row.linked_entities = 1), "an entity that the query names");
    assert!(!is_silent(1_000, 6, |row| row.labels = vec!["word1".into()]), "its tag");
    assert!(!is_silent(1_000, 6, |row| row.similarity = Some(0.5)), "a vector");
    assert!(!is_silent(1_000, 6, |row| row.head_terms = "word1 word2".into()), "its topic");
}
