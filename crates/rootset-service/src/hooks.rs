//! What Rootset does by itself inside an agent: one event of a client in, one answer out.
//!
//! Not an operation: no model and no caller of the API asks for it. An event may come over HTTP too; then no file of this machine
//! is read for it, so that it gets what is stored and nothing of a transcript. Which text may be pushed is decided where briefs are; when a client takes context is `hooks.rs` of
//! `rootset-messages`. What is known of a session is in [`session`], as positions, hashes and ids; text stays in the client's own
//! transcript.
//!
//! Invariants: what is put into a window is in the session's ledger before it is printed, and what cannot be written down in
//! time is not printed; nothing is put into one window twice; an event that says nothing answers nothing.

mod birth;
mod candidates;
mod compaction;
mod end;
mod files;
mod ledger;
mod originals;
mod recall;
mod session;
mod start;

use std::path::PathBuf;

use rootset_api::Effect;
use rootset_messages::hooks::{Happening, HookAnswer, HookClient, HookEvent};
use rootset_store::Workspace;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;
pub use candidates::{Candidate, CandidateId};
pub use ledger::{EventView, SessionView};
use session::{Recorded, Step};

/// Where an event came from.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub client: HookClient,
    /// Files that the client gives its model anyway: what they say is not said again.
    pub own_files: Vec<PathBuf>,
}

/// One event on its way to an answer.
struct Occasion<'a> {
    caller: &'a Caller,
    surroundings: &'a Surroundings,
    event: &'a HookEvent,
    workspace: Workspace,
    subject: [u8; 16],
}

impl Service {
    /// Whether the caller may ask at all: the ledger is written with every event.
    pub fn may_hook(&self, caller: &Caller) -> Result<(), ServiceError> {
        caller.need_scope(Effect::Write, || "hooks".to_owned())
    }

    /// The answer to an event. An error means that there is none: the client goes on as if nobody had been asked.
    pub fn hook(
        &self,
        caller: &Caller,
        surroundings: &Surroundings,
        event: &HookEvent,
    ) -> Result<HookAnswer, ServiceError> {
        self.may_hook(caller)?;
        let workspace = self.workspace(caller, None)?;
        let subject = session::subject(surroundings.client, &event.session_id);
        let occasion = Occasion { caller, surroundings, event, workspace, subject };
        let Recorded { session, project } = self.recorded(&occasion)?;
        let (answer, step) = match &event.happening {
            Happening::Start { beginning } => self.start(&occasion, *beginning, &session, &project)?,
            Happening::SubagentStart => self.start_subagent(&occasion)?,
            Happening::Prompt { text } => {
                let recalled = self.recall(&occasion, text, &session)?;
                self.put_back_beside(&occasion, &session, recalled)?
            }
            Happening::ToolResult { .. } => self.repeated(&occasion, &session),
            Happening::Stop | Happening::End => self.read_tail(&occasion, &session)?,
            Happening::PreCompact { is_manual } => self.before_compaction(&occasion, *is_manual),
            Happening::SubagentStop { is_summariser: true, last_message: summary }
            | Happening::PostCompact { summary } => self.check_summary(&occasion, &session, summary),
            Happening::SubagentStop { is_summariser: false, .. } => (HookAnswer::default(), Step::of("silent")),
        };
        // Tools are called all the time: what was looked at and left as it was is no event, and costs no write.
        if answer == HookAnswer::default() && matches!(event.happening, Happening::ToolResult { .. }) {
            return Ok(answer);
        }
        match self.record(&occasion, &step) {
            // The summariser is told what must survive even where nobody can be shown later that it was.
            Err(error) if answer.instructions.is_none() => Err(error),
            _ => Ok(answer),
        }
    }
}
