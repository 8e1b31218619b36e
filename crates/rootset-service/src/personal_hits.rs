//! Which of the hits in personal memory are shown beside those of the project: few, and only those that speak of what was
//! asked. A cautious rule by words alone; how relevant a hit of the project is, is decided elsewhere.

use std::collections::HashSet;

use rootset_model::Content;
use rootset_text::terms;

/// Of ten results, so many may be personal.
const OF_TEN: usize = 3;
/// Hits that are looked at for each that may be shown.
pub(crate) const LOOKED_AT_PER_HIT: usize = 4;

/// How many personal hits may stand behind so many of the project: the project keeps its best one.
pub(crate) fn room(limit: usize, of_project: usize) -> usize {
    (limit * OF_TEN).div_ceil(10).min(limit - of_project.min(1))
}

/// Whether at least half of what a query asks for is in the text.
pub(crate) fn is_relevant(query: &[String], content: &Content) -> bool {
    let text = [&content.topic, &content.context].into_iter().chain(&content.decisions).chain(&content.rationale);
    let terms: Vec<String> = text.map(|text| terms::index_terms(text)).collect();
    let known: HashSet<&str> = terms.iter().flat_map(|terms| terms.split(' ')).collect();
    let matched = query.iter().filter(|term| known.contains(term.as_str())).count();
    matched * 2 >= query.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_ten_results_may_be_personal_and_the_project_keeps_its_best() {
        assert_eq!(
            [(10, 10), (10, 0), (20, 20), (5, 5), (2, 2), (1, 1), (1, 0)].map(|(l, p)| room(l, p)),
            [3, 3, 6, 2, 1, 0, 1]
        );
    }

    #[test]
    fn half_of_the_query_has_to_be_in_the_text() {
        let content = Content {
            topic: String::new(),
            context: "Use tabs in Go files.".to_owned(),
            decisions: Vec::new(),
            rationale: Vec::new(),
        };
        let is_found = |query: &str| {
            let query: Vec<String> = terms::query_terms(query).into_iter().map(|it| it.term).collect();
            is_relevant(&query, &content)
        };
        assert!(is_found("tabs") && is_found("tabs or spaces in files") && is_found("go"));
        assert!(!is_found("how do we deploy the go service to production servers"));
    }
}
