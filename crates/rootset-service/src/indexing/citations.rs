//! Notes that cite what is gone: a path, or a name that no file defines any more. They are reported, never touched.

use std::collections::{BTreeSet, HashSet};

use rootset_code::name_parts;
use rootset_model::MemoryId;
use rootset_store::Workspace;
use rootset_text::terms;

use super::report::Report;
use crate::error::ServiceError;
use crate::service::Service;

/// What one answer looks for and shows. A branch switch makes thousands of names vanish; a person reads a few.
const VANISHED_MAX: usize = 200;
const CITATIONS_MAX: usize = 20;
const NOTES_PER_NAME: usize = 10;
/// A shorter name without an underscore, a capital inside or a qualifier is as likely a word.
const TELLING_NAME_CHARS: usize = 4;

/// A note and the name or path that it cites.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Citation {
    pub memory: MemoryId,
    pub name: Option<String>,
    pub cites: String,
}

impl Service {
    pub(crate) fn dangling_citations(
        &self,
        workspace: &Workspace,
        report: &Report,
    ) -> Result<Vec<Citation>, ServiceError> {
        let mut found = BTreeSet::new();
        let mut names = Vec::new();
        let last_part = |name: &String| name_parts(name).last().copied().unwrap_or_default().to_owned();
        let vanished: Vec<&String> = report.vanished_names.iter().take(VANISHED_MAX).collect();
        let last_parts: Vec<String> = vanished.iter().map(|name| last_part(name)).collect();
        let defined = if last_parts.is_empty() {
            Vec::new()
        } else {
            self.store.symbols_named(workspace, &last_parts, None, self.now())?
        };
        let defined: HashSet<&str> = defined.iter().map(|symbol| symbol.name.as_str()).collect();
        for (name, last) in vanished.iter().zip(&last_parts) {
            // The same name defined elsewhere is what the note may mean.
            if !defined.contains(last.as_str()) {
                names.extend(spellings(name));
            }
        }
        names.extend(report.vanished_paths.iter().take(VANISHED_MAX).cloned());
        names.dedup();
        let phrases: Vec<String> = names.iter().map(|name| terms::index_terms(name)).collect();
        // Nearly all names are in no note: one look at their terms spares a look per name.
        let all_terms: Vec<String> = phrases.iter().flat_map(|it| it.split_whitespace()).map(str::to_owned).collect();
        let known = self.store.terms_of_notes(workspace, &all_terms)?;
        for (cites, terms) in names.into_iter().zip(phrases) {
            if !terms.split_whitespace().all(|term| known.contains(term)) {
                continue;
            }
            for (memory, name, text) in self.store.notes_holding(workspace, &[terms], NOTES_PER_NAME, self.now())? {
                let is_cited_already =
                    found.iter().any(|it: &Citation| it.memory == memory && it.cites.ends_with(&cites));
                if is_cited(&text, &cites) && !is_cited_already {
                    found.insert(Citation { memory, name, cites: cites.clone() });
                }
            }
            if found.len() >= CITATIONS_MAX {
                break;
            }
        }
        Ok(found.into_iter().take(CITATIONS_MAX).collect())
    }
}

/// The name in full, with its last qualifier, and alone where it is telling: the longest first.
fn spellings(qualified_name: &str) -> Vec<String> {
    let parts = name_parts(qualified_name);
    let Some((&last, earlier)) = parts.split_last() else { return Vec::new() };
    let mut spellings = vec![qualified_name.to_owned()];
    if let [.., container] = earlier {
        let start = container.as_ptr().addr() - qualified_name.as_ptr().addr();
        spellings.push(qualified_name[start..].to_owned());
    }
    let has_inner_capital = last.chars().skip(1).any(char::is_uppercase) && last.chars().any(char::is_lowercase);
    if last.len() >= TELLING_NAME_CHARS && (last.contains('_') || has_inner_capital) {
        spellings.push(last.to_owned());
    }
    spellings.dedup();
    spellings
}

/// Whether it stands in the text as a word of its own.
fn is_cited(text: &str, cites: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(cites).any(|(start, _)| {
        !text[..start].chars().next_back().is_some_and(is_inner)
            && !text[start + cites.len()..].chars().next().is_some_and(is_inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cited_as_words_of_their_own() {
        assert!(is_cited("see `app.store.save`, please", "app.store.save"));
        assert!(is_cited("src/app.py is old", "src/app.py"));
        assert!(!is_cited("see resave_all", "save_all"));
        assert!(!is_cited("see save_all2", "save_all"));
    }

    #[test]
    fn short_plain_words_are_no_citations() {
        assert_eq!(spellings("app.store.run"), ["app.store.run", "store.run"]);
        assert_eq!(spellings("app.store.save_all"), ["app.store.save_all", "store.save_all", "save_all"]);
        assert_eq!(spellings("a::Store"), ["a::Store"]);
    }
}
