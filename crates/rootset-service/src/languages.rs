//! Languages as people name them in requests.

use rootset_api::nearest;
use rootset_code::{Language, languages, languages_meant_by};

use crate::error::ServiceError;

/// The languages' own names.
pub fn checked_languages(given: &[String]) -> Result<Vec<String>, ServiceError> {
    let mut checked = Vec::new();
    for word in given {
        let lower = word.trim().to_lowercase();
        let known = checked.len();
        checked.extend(languages_meant_by(&lower).map(|language| language.name().to_owned()));
        if checked.len() == known {
            return Err(unknown_language(word, &lower));
        }
    }
    checked.sort_unstable();
    checked.dedup();
    Ok(checked)
}

fn unknown_language(word: &str, lower: &str) -> ServiceError {
    let error = ServiceError::invalid(format!("unknown language `{word}` in `languages`"));
    let near = nearest(lower, languages().map(Language::name), 3);
    if near.is_empty() {
        let all: Vec<&str> = languages().map(Language::name).collect();
        error.with_hint(format!("allowed: {}", all.join(", ")))
    } else {
        error.with_hint(format!("did you mean `{}`?", near.join("`, `")))
    }
}
