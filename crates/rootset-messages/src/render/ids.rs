//! Ids of tool calls that were made for the other API: in letters that this one takes, and each used once.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Ids {
    used: BTreeSet<String>,
    /// What the latest call with an id is called here.
    renamed: BTreeMap<String, String>,
}

impl Ids {
    /// Keeps an id for a call that is somewhere in the list and already has it.
    pub fn reserve(&mut self, id: String) {
        self.used.insert(id);
    }

    /// A call that keeps its id: results that follow mean it.
    pub fn note(&mut self, id: &str) {
        self.renamed.insert(id.to_owned(), id.to_owned());
    }

    pub fn of_call(&mut self, id: &str) -> String {
        let plain = plain(id);
        let mut free = plain.clone();
        let mut number = 2;
        while !self.used.insert(free.clone()) {
            free = format!("{plain}_{number}");
            number += 1;
        }
        self.renamed.insert(id.to_owned(), free.clone());
        free
    }

    pub fn of_result(&self, id: &str) -> String {
        self.renamed.get(id).cloned().unwrap_or_else(|| plain(id))
    }
}

fn plain(id: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let plain: String = id.chars().map(allowed).collect();
    if plain.is_empty() { "call".to_owned() } else { plain }
}
