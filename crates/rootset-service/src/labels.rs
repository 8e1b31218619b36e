//! Tags and names of memories that a query may say: `deploy`, `release notes` for `release-notes`. They count in the ranking like
//! words of a text; they are looked up, not searched, so only what is said whole counts.

use std::collections::HashMap;

use rootset_text::terms;

use crate::ranking::Question;

/// Words of a query that may together be one tag or name.
const WORDS_MAX: usize = 3;
/// Forms that are looked up.
const FORMS_MAX: usize = 64;

/// One way to write a tag or a name, and the terms of the query that say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub form: String,
    terms: Vec<String>,
}

/// What may be a label among the words of a query whose terms these are. A run that begins or ends with a word that is no term says
/// nothing that the shorter one does not.
pub fn possible(query: &str, terms: &[String]) -> Vec<Label> {
    let is_edge = |c: char| !c.is_alphanumeric();
    let words = query.split_whitespace().map(|word| word.trim_matches(is_edge)).filter(|word| !word.is_empty());
    let words: Vec<(&str, Vec<String>)> = words.take(FORMS_MAX).map(|word| (word, terms_in(word, terms))).collect();
    let mut labels: Vec<Label> = Vec::new();
    for length in 1..=WORDS_MAX {
        for run in words.windows(length).filter(|run| !run[0].1.is_empty() && !run[length - 1].1.is_empty()) {
            let told: Vec<String> = run.iter().flat_map(|(_, terms)| terms).cloned().collect();
            let run: Vec<&str> = run.iter().map(|(word, _)| *word).collect();
            for form in forms_of(&run) {
                if labels.len() < FORMS_MAX && !labels.iter().any(|label| label.form == form) {
                    labels.push(Label { form, terms: told.clone() });
                }
            }
        }
    }
    labels
}

pub fn forms(labels: &[Label]) -> Vec<String> {
    labels.iter().map(|label| label.form.clone()).collect()
}

/// How many memories carry a label that says a term of the question; of several labels the rarest counts.
pub fn carriers_of_terms(
    carried: &[String],
    carriers: &HashMap<String, i64>,
    question: &Question<'_>,
) -> Vec<Option<i64>> {
    let said: Vec<(&Label, i64)> = question
        .labels
        .iter()
        .filter(|label| carried.contains(&label.form))
        .filter_map(|label| Some((label, *carriers.get(&label.form)?)))
        .collect();
    let carriers_of = |term: &String| {
        said.iter().filter(|(label, _)| label.terms.contains(term)).map(|(_, carriers)| *carriers).min()
    };
    question.terms.iter().map(carriers_of).collect()
}

fn terms_in(word: &str, terms: &[String]) -> Vec<String> {
    let found = terms::query_terms(word).into_iter().map(|it| it.term);
    found.filter(|term| terms.contains(term)).collect()
}

/// As it is written, in small letters and with a capital, one and many of it; several words with hyphens, as names have them, and
/// with blanks.
fn forms_of(run: &[&str]) -> Vec<String> {
    let typed = run.join(" ");
    let small = typed.to_lowercase();
    let other_number = match small.strip_suffix('s') {
        Some(one) => one.to_owned(),
        None => format!("{small}s"),
    };
    let mut forms = vec![small.replace(' ', "-"), other_number.replace(' ', "-"), capitalised(&small), typed];
    if run.len() > 1 {
        forms.push(small);
    }
    forms
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(query: &str) -> Vec<Label> {
        let terms: Vec<String> = terms::query_terms(query).into_iter().map(|it| it.term).collect();
        possible(query, &terms)
    }

    #[test]
    fn words_and_runs_of_words_may_be_labels_and_stop_words_at_their_edges_may_not() {
        let labels = labels("What of the Release Notes?");
        let forms = forms(&labels);
        for form in [
            "release",
            "releases",
            "Release",
            "Notes",
            "note",
            "notes",
            "release-notes",
            "release-note",
            "release notes",
        ] {
            assert!(forms.iter().any(|it| it == form), "{form}: {forms:?}");
        }
        assert!(!forms.iter().any(|it| it.starts_with("the") || it.starts_with("what")), "{forms:?}");
        let run = labels.iter().find(|it| it.form == "release-notes").unwrap();
        assert_eq!(run.terms.len(), 2);
    }

    #[test]
    fn a_stop_word_inside_a_run_stays() {
        assert!(forms(&labels("point of sale")).contains(&"point-of-sale".to_owned()));
    }

    #[test]
    fn only_labels_that_are_carried_say_terms() {
        let labels = labels("release notes");
        let terms = ["releas".to_owned(), "note".to_owned()];
        let question = Question { terms: &terms, labels: &labels, ..Question::default() };
        let carriers = HashMap::from([("notes".to_owned(), 7), ("release-notes".to_owned(), 2)]);
        let of = |carried: &[&str]| {
            let carried: Vec<String> = carried.iter().map(|it| (*it).to_owned()).collect();
            carriers_of_terms(&carried, &carriers, &question)
        };
        assert_eq!(of(&["notes"]), [None, Some(7)]);
        assert_eq!(of(&["release-notes"]), [Some(2), Some(2)]);
        assert_eq!(of(&["notes", "release-notes"]), [Some(2), Some(2)]);
        assert_eq!(of(&[]), [None, None]);
    }

    #[test]
    fn long_queries_are_bounded() {
        let query: Vec<String> = (0..10_000).map(|number| format!("word{number}")).collect();
        assert_eq!(labels(&query.join(" ")).len(), FORMS_MAX);
    }
}
