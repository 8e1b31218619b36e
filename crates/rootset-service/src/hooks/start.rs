//! The beginning of a window: the brief for the model, and a line for the person where there is something to say.

use std::path::Path;

use rootset_gc::recalling::tokens_of;
use rootset_messages::hooks::{Beginning, HookAnswer};

use super::Occasion;
use super::files;
use super::session::{ProjectNote, SessionNote, Step};
use crate::error::ServiceError;
use crate::service::Service;

impl Service {
    pub(super) fn start(
        &self,
        occasion: &Occasion<'_>,
        beginning: Beginning,
        session: &SessionNote,
        project: &ProjectNote,
    ) -> Result<(HookAnswer, Step), ServiceError> {
        let window_at = occasion.event.transcript_path.as_deref().map(|path| files::length(Path::new(path)));
        // What was put into a resumed window is still in it.
        if matches!(beginning, Beginning::Resume | Beginning::Fork) {
            return Ok((HookAnswer::default(), Step { window_at, ..Step::of("silent") }));
        }
        let known = files::sentences(&occasion.surroundings.own_files);
        let brief = self.brief_without(occasion.caller, None, &|text| known.hold_all_of(text))?;
        let client = occasion.surroundings.client.as_str();
        let is_first = !project.clients.iter().any(|known| known == client);
        let mut remarks = Vec::new();
        if !project.is_announced {
            let name = &occasion.workspace.id;
            remarks.push(format!(
                "Rootset is on in {name} (start, recall, compaction). Off here: rootset hooks off --here"
            ));
        }
        let now = self.now();
        let open = project.candidates.iter().filter(|candidate| candidate.is_open(now)).count();
        if open > 0 && beginning == Beginning::Startup {
            let things = if open == 1 { "1 thing".to_owned() } else { format!("{open} things") };
            remarks.push(format!("{things} you said could be kept: rootset review"));
        }
        let mut step = Step { begins_window: true, window_at, is_first, ..Step::of("silent") };
        let mut answer =
            HookAnswer { remark: (!remarks.is_empty()).then(|| remarks.join(" · ")), ..HookAnswer::default() };
        if let Some(brief) = brief {
            step = Step {
                did: "brief",
                tokens: tokens_of(brief.text.len()),
                memories: brief.memories,
                fills_window: true,
                ..step
            };
            answer.context = Some(brief.text);
        }
        if beginning == Beginning::Compact
            && let Some((text, back)) = self.put_back(occasion, session)
        {
            answer.context = Some([Some(text), answer.context].into_iter().flatten().collect::<Vec<_>>().join("\n"));
            step = Step { did: back.did, tokens: step.tokens + back.tokens, compaction: back.compaction, ..step };
        }
        Ok((answer, step))
    }

    /// A subagent sees neither what its session began with nor what was recalled.
    pub(super) fn start_subagent(&self, occasion: &Occasion<'_>) -> Result<(HookAnswer, Step), ServiceError> {
        let known = files::sentences(&occasion.surroundings.own_files);
        let Some(brief) = self.brief_without(occasion.caller, None, &|text| known.hold_all_of(text))? else {
            return Ok((HookAnswer::default(), Step::of("silent")));
        };
        let step = Step { tokens: tokens_of(brief.text.len()), memories: brief.memories, ..Step::of("brief") };
        Ok((HookAnswer::of_context(brief.text), step))
    }
}
