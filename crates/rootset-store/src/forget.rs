//! What a `forget` would take: roots that match words and filters, as each kind finds its own. Selects only; the protocol
//! deletes.

use rootset_model::Timestamp;
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};

use crate::error::StoreError;
use crate::kinds::{Id, KINDS};
use crate::{Store, Workspace};

#[derive(Clone, Debug, Default)]
pub struct ForgetFilters {
    pub source: Option<String>,
    pub written_by: Option<String>,
    pub tags: Vec<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
}

impl ForgetFilters {
    pub fn is_empty(&self) -> bool {
        self.source.is_none()
            && self.written_by.is_none()
            && self.tags.is_empty()
            && self.created_after.is_none()
            && self.created_before.is_none()
    }
}

/// The words of a request: how to find candidates, and how to be sure.
#[derive(Clone, Copy)]
pub struct ForgetWords<'a> {
    /// Terms that every match holds; may be empty, then everything is read.
    pub terms: &'a [String],
    pub matches: &'a dyn Fn(&[&str]) -> bool,
}

impl std::fmt::Debug for ForgetWords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForgetWords").field("terms", &self.terms.len()).finish_non_exhaustive()
    }
}

/// What is to be forgotten.
#[derive(Clone, Copy, Debug)]
pub struct ForgetRequest<'a> {
    pub filters: &'a ForgetFilters,
    pub words: Option<ForgetWords<'a>>,
    /// Some of [`forget_words`]; none of them means all that are not only searched on request.
    pub kinds: &'a [&'a str],
    pub include_pinned: bool,
    pub erases: bool,
}

impl ForgetRequest<'_> {
    pub(crate) fn wants(&self, asked: &ForgetKind) -> bool {
        wants(self.kinds, asked)
    }

    /// An erasure takes what is in the trash too; for anything else the trash is where it should be.
    pub(crate) fn takes_trash(&self) -> bool {
        self.erases
    }
}

/// What a request may name among its kinds.
#[derive(Debug)]
pub(crate) struct ForgetKind {
    pub word: &'static str,
    /// Searched only if the request names it.
    pub is_on_request: bool,
}

/// All words that a request may name.
pub fn forget_words() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|kind| kind.forgotten_as()).map(|asked| asked.word)
}

/// The words that a request with these kinds searches, and those that it leaves out.
pub fn searched_words(kinds: &[&str]) -> (Vec<&'static str>, Vec<&'static str>) {
    let asked = KINDS.iter().flat_map(|kind| kind.forgotten_as());
    let (searched, left_out): (Vec<_>, Vec<_>) = asked.partition(|asked| wants(kinds, asked));
    let words = |asked: Vec<&'static ForgetKind>| asked.into_iter().map(|it| it.word).collect();
    (words(searched), words(left_out))
}

fn wants(kinds: &[&str], asked: &ForgetKind) -> bool {
    if kinds.is_empty() { !asked.is_on_request } else { kinds.contains(&asked.word) }
}

#[derive(Clone, Debug, Default)]
pub struct ForgetSelection {
    /// Newest first.
    pub items: Vec<PlanItem>,
    /// Everything that matched, pinned ones included.
    pub matched: usize,
    /// Ids as previews show them.
    pub kept_pinned: Vec<String>,
}

impl ForgetSelection {
    /// Something that matched: it goes, unless a pin keeps it, which is told under the id `shown`.
    pub(crate) fn matched(&mut self, request: &ForgetRequest<'_>, found: ForgetMatch, shown: impl ToString) {
        self.matched += 1;
        if found.is_pinned && !request.include_pinned {
            self.kept_pinned.push(shown.to_string());
        } else {
            self.take(request, found);
        }
    }

    /// Something that goes with what matched.
    pub(crate) fn take(&mut self, request: &ForgetRequest<'_>, found: ForgetMatch) {
        let ForgetMatch { kind, object, revision, version, .. } = found;
        let action = if request.erases { Action::Erase } else { Action::Trash };
        self.items.push(PlanItem { kind, object, revision, version, action, reason: Reason::MATCHED });
    }
}

/// A root that a forget found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForgetMatch {
    pub kind: ItemKind,
    pub object: Id,
    pub revision: i64,
    pub version: i64,
    pub is_pinned: bool,
}

impl Store {
    pub fn select_for_forget(
        &self,
        workspace: &Workspace,
        request: &ForgetRequest<'_>,
    ) -> Result<ForgetSelection, StoreError> {
        self.read(workspace, |tx| {
            let mut found = ForgetSelection::default();
            for kind in KINDS {
                if kind.forgotten_as().iter().any(|asked| request.wants(asked)) {
                    kind.forget(tx, workspace.key, request, &mut found)?;
                }
            }
            Ok(found)
        })
    }
}
