//! Languages as people name them in requests.

use rootset_code::languages;

use crate::error::ServiceError;
use crate::request::nearest;

/// Other words for a language, and dialects that are meant along.
const MEANINGS: &[(&str, &[&str])] = &[
    ("c#", &["csharp"]),
    ("c++", &["cpp"]),
    ("golang", &["go"]),
    ("js", &["javascript"]),
    ("jsx", &["javascript"]),
    ("md", &["markdown"]),
    ("py", &["python"]),
    ("rb", &["ruby"]),
    ("rs", &["rust"]),
    ("sh", &["bash"]),
    ("shell", &["bash"]),
    ("ts", &["typescript", "tsx"]),
    ("typescript", &["typescript", "tsx"]),
    ("yml", &["yaml"]),
];

/// The languages' own names.
pub fn checked_languages(given: &[String]) -> Result<Vec<String>, ServiceError> {
    let mut checked = Vec::new();
    for word in given {
        let lower = word.trim().to_lowercase();
        match MEANINGS.iter().find(|(name, _)| *name == lower) {
            Some((_, names)) => checked.extend(names.iter().map(|name| (*name).to_owned())),
            None if languages().any(|language| language.name() == lower) => checked.push(lower),
            None => {
                let error = ServiceError::invalid(format!("`languages`: no language `{word}`"));
                let near = nearest(&lower, languages().map(|language| language.name()), 3);
                return Err(match near.is_empty() {
                    true => {
                        let all: Vec<&str> = languages().map(|language| language.name()).collect();
                        error.with_hint(format!("there are {}", all.join(", ")))
                    }
                    false => error.with_hint(format!("did you mean `{}`?", near.join("`, `"))),
                });
            }
        }
    }
    checked.sort_unstable();
    checked.dedup();
    Ok(checked)
}
