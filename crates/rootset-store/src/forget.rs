//! What a `forget` would take: roots that match words and filters, as each kind finds its own. Selects only; the protocol
//! deletes.

use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{MemoryId, Timestamp};

use crate::error::StoreError;
use crate::kinds::{Id, KINDS};
use crate::{Store, Workspace};

/// What comes near is shown to be chosen from: nobody reads more.
const MAYBE_MAX: usize = 50;

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

/// The text of something that may be meant.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForgetText<'a> {
    /// Its id; with the number of a revision where it is a memory's text.
    pub object: [u8; 16],
    pub revision: i64,
    pub topic: &'a str,
    pub context: &'a str,
    pub decisions: &'a [String],
    pub rationale: &'a [String],
    /// Everything that is not a memory's text: names, descriptions, tags, metadata.
    pub more: &'a [&'a str],
}

/// Whether a text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetVerdict {
    No,
    /// Only near, for this reason.
    Maybe(Reason),
    /// Of a memory's text: some sentences are meant, and the others say something else.
    InPart,
    Matched,
}

/// The words of a request: how to find candidates, and how to be sure.
#[derive(Clone, Copy)]
pub struct ForgetWords<'a> {
    /// Every match holds a term of each list of one of these; where one of them has no list, everything is read.
    pub probes: &'a [Vec<Vec<String>>],
    /// The same for what only comes near; common terms are left out.
    pub near: &'a [Vec<Vec<String>>],
    pub judge: &'a dyn Fn(&ForgetText<'_>) -> ForgetVerdict,
}

impl ForgetWords<'_> {
    /// For what cannot be cut, and what only comes near is not shown of.
    pub(crate) fn matches(&self, object: [u8; 16], fields: &[&str]) -> bool {
        let text = ForgetText { object, more: fields, ..ForgetText::default() };
        matches!((self.judge)(&text), ForgetVerdict::Matched | ForgetVerdict::InPart)
    }
}

impl std::fmt::Debug for ForgetWords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForgetWords").field("probes", &self.probes.len()).finish_non_exhaustive()
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
    /// What comes near, newest first; none of it is in the plan unless the reviewer says so.
    pub maybe: Vec<PlanItem>,
    /// Memories of which some sentences match: their current texts, not among the items yet.
    pub(crate) in_part: Vec<PlanItem>,
    /// Earlier revisions that match, of memories that are in the plan as a whole: a reviewer may have them cut instead.
    pub earlier: Vec<(MemoryId, i64)>,
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
        self.items.push(found.item(request, Reason::MATCHED));
    }

    /// A memory of which some sentences match.
    pub(crate) fn matched_in_part(&mut self, request: &ForgetRequest<'_>, found: ForgetMatch, shown: impl ToString) {
        self.matched += 1;
        if found.is_pinned && !request.include_pinned {
            self.kept_pinned.push(shown.to_string());
        } else {
            self.in_part.push(found.item(request, Reason::REDACTED));
        }
    }

    pub(crate) fn came_near(&mut self, request: &ForgetRequest<'_>, found: ForgetMatch, reason: Reason) {
        if !found.is_pinned || request.include_pinned {
            self.maybe.push(found.item(request, reason));
        }
    }

    /// The current texts of what is cut go last: writing the new ones changes the versions that the others were seen with.
    fn finish(&mut self) {
        let in_part = std::mem::take(&mut self.in_part);
        self.items.extend(in_part);
        self.maybe.truncate(MAYBE_MAX);
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

impl ForgetMatch {
    fn item(self, request: &ForgetRequest<'_>, reason: Reason) -> PlanItem {
        let Self { kind, object, revision, version, .. } = self;
        let action = if request.erases { Action::Erase } else { Action::Trash };
        PlanItem { kind, object, revision, version, action, reason }
    }
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
            found.finish();
            Ok(found)
        })
    }
}
