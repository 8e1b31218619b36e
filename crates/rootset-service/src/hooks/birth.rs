//! A tool's result as it is born: where it says word for word what stands in the window already, a pointer to that goes in.
//!
//! Nothing leaves without a copy: the earlier result stays in the client's own transcript, from which `context_recall` reads it by
//! its place. A result stays as it is if something in it or in its command looks like a secret. Only where a person chose it (`context.birth`).

use std::path::Path;

use rootset_gc::recalling::tokens_of;
use rootset_messages::hooks::{Happening, HookAnswer, HookClient};
use rootset_messages::repeats::{REPEATING_TOOL, Repeat, pointing, repeat_of, shown_text};
use rootset_text::secrets::redact;

use super::Occasion;
use super::files::{self, Tail};
use super::originals::place_of;
use super::session::{SessionNote, Step};
use crate::service::Service;
use crate::settings::Birth;

/// Read of a transcript: what the window still holds of results is less.
const LOOKED_BACK_BYTES: u64 = 2 * 1024 * 1024;

impl Service {
    pub(super) fn repeated(&self, occasion: &Occasion<'_>, session: &SessionNote) -> (HookAnswer, Step) {
        let silent = || (HookAnswer::default(), Step::of("silent"));
        let Happening::ToolResult { tool, call, response, is_of_subagent: false } = &occasion.event.happening else {
            return silent();
        };
        let may_replace = self.settings.birth == Birth::Safe
            && occasion.surroundings.client == HookClient::ClaudeCode
            && !occasion.caller.is_remote
            && tool == REPEATING_TOOL;
        let path = occasion.event.transcript_path.as_deref().filter(|_| may_replace);
        let Some(tail) = path.and_then(|path| window(Path::new(path), session)) else { return silent() };
        let Some(repeat) = repeat_of(tail.lines(), call, response) else { return silent() };
        let pointer = pointer_to(&repeat, &place_of(&occasion.event.session_id, repeat.at));
        if [shown_text(response), pointer.clone()].iter().any(|text| redact(text).count > 0) {
            return silent();
        }
        let kept_out = tokens_of(repeat.bytes).saturating_sub(tokens_of(pointer.len()));
        let answer = HookAnswer { replacement: Some(pointing(response, &pointer)), ..HookAnswer::default() };
        (answer, Step { kept_out, ..Step::of("pointed") })
    }
}

/// The end of the transcript, as far as it is in the window for sure.
fn window(path: &Path, session: &SessionNote) -> Option<Tail> {
    Tail::read(path, session.window.begins_at.max(files::length(path).saturating_sub(LOOKED_BACK_BYTES)))
}

fn pointer_to(repeat: &Repeat, place: &str) -> String {
    format!("[same as the output of your earlier Bash `{}`: context_recall {place}]", repeat.command)
}
