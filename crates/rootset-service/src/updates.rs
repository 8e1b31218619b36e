//! Whether a memory that was just added says something else than an older one, and which call would replace that. Nothing is
//! replaced by itself.

use rootset_api::{AddMemory, Request, SupersedeMemory, UpdateCandidate, UpdateMemory};
use rootset_model::{Content, MemoryId};
use rootset_store::{RelatedMemory, Workspace};
use rootset_text::claims::{self, NoClause, Update, with_clause};
use serde_json::{Value, json};

use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::service::Service;

/// Older memories that are compared with a new one: those that share the most of its subjects.
const COMPARED_MAX: usize = 24;
/// A text that says so much more than a clause of it has other facts, too.
const MORE_BYTES_MIN: usize = 3;
/// More would be a topic, not an update.
const SHOWN_MAX: usize = 3;

impl Service {
    /// The older memories that a new one disagrees with.
    pub(crate) fn update_candidates(
        &self,
        workspace: &Workspace,
        memory: MemoryId,
        content: &Content,
        caller: &Caller,
    ) -> Result<Vec<UpdateCandidate>, ServiceError> {
        let newer = claims::claims(&content.context);
        let terms = claims::subject_terms(&newer);
        let older = self.store.related_memories(workspace, &terms, COMPARED_MAX, self.now())?;
        let mut found = Vec::new();
        let older: Vec<_> = older.into_iter().filter(|old| old.id != memory).collect();
        let said: Vec<_> = older.iter().map(|old| claims::claims(&old.context)).collect();
        for (old, update) in older.into_iter().zip(claims::updates(&said, &newer)) {
            if let Some(update) = update {
                found.push(UpdateCandidate {
                    memory_id: old.id,
                    name: old.name.clone().unwrap_or_else(|| old.id.to_string()),
                    says: old.context[update.old.0..update.old.1].to_owned(),
                    now: content.context[update.new.0..update.new.1].to_owned(),
                    next: next(workspace, &old, &update, memory, content, caller),
                });
            }
        }
        found.truncate(SHOWN_MAX);
        Ok(found)
    }
}

/// The call that replaces the older memory, or only its clause if it says more. Where the two cannot be told apart, the call sets
/// the text, and as it stands changes nothing. Agents have no tool of their own for superseding: they add the same memory again.
fn next(
    workspace: &Workspace,
    old: &RelatedMemory,
    update: &Update,
    new: MemoryId,
    content: &Content,
    caller: &Caller,
) -> Value {
    let clause = &content.context[update.new.0..update.new.1];
    let replaced = with_clause(&old.context, clause);
    let is_more = |text: &str, than: usize| text.trim().len() > than + MORE_BYTES_MIN;
    let id = old.id;
    let of_clause = match &replaced {
        Ok(text) => is_more(text, clause.len()).then(|| json!({"text": clause, "replace": "clause"})),
        Err(NoClause::SaysMore) => Some(json!({"text": old.context})),
        // Taken by itself, the clause is not enough.
        Err(NoClause::NothingDisagrees) => {
            is_more(&old.context, update.old.1 - update.old.0).then(|| json!({"text": old.context}))
        }
    };
    if let Some(mut arguments) = of_clause {
        arguments["workspace_id"] = workspace.id.clone().into();
        arguments["memory_id"] = json!(id);
        return json!({"operation": UpdateMemory::NAME, "arguments": arguments});
    }
    let old = id;
    if caller.front_end != FrontEnd::Mcp {
        let arguments = json!({"workspace_id": workspace.id, "memory_id": old, "by": new});
        return json!({"operation": SupersedeMemory::NAME, "arguments": arguments});
    }
    let mut arguments = json!({"workspace_id": workspace.id, "context": content.context, "supersedes": [old]});
    if !content.is_topic_of_text() {
        arguments["topic"] = content.topic.clone().into();
    }
    for (field, list) in [("decisions", &content.decisions), ("rationale", &content.rationale)] {
        if !list.is_empty() {
            arguments[field] = json!(list);
        }
    }
    json!({"operation": AddMemory::NAME, "arguments": arguments})
}
