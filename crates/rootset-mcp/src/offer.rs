//! What a connection offers: the tools of its profiles that its rights let succeed. Whatever names a tool, in a hint, a
//! prompt or the instructions, names one that is there; a hint may name the command of a person instead.

use rootset_api::{OperationInfo, Profiles, catalogue};
use rootset_service::{Rights, ServiceError};

#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    pub profiles: &'a Profiles,
    pub rights: &'a Rights,
    /// How a person calls the program in a terminal on this database, where there is one.
    pub terminal: Option<&'a str>,
}

/// The call that does the same, for operations that are views of another one.
pub fn view_of(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "delete_memory" => "`forget` with `memory_ids`",
        "list_memories" => "`search_memory` with filters and no query",
        "list_trash" => "`gc_undo` without arguments",
        "gc_plan" | "get_plan" => "`prune_memory`",
        _ => return None,
    })
}

impl Offer<'_> {
    pub fn has(&self, tool: &str) -> bool {
        self.profiles.operations().any(|it| it.name == tool && self.rights.allow_operation(it))
    }

    /// Whether every tool that a text names is there. Tools are named in backquotes.
    pub fn has_all_named_in(&self, text: &str) -> bool {
        named_in(text).all(|it| self.has(it.name))
    }

    /// A hint in words of this connection: of a tool that is not there, the one that does the same, or what a person types.
    fn said_here(&self, hint: &str) -> Option<String> {
        let mut said = hint.to_owned();
        for operation in named_in(hint).filter(|operation| !self.has(operation.name)) {
            let name = operation.name;
            let view = view_of(name).filter(|view| self.has_all_named_in(view)).map(str::to_owned);
            let instead = match view {
                Some(view) => view,
                None => format!("`{} call {name}` in a terminal", self.terminal?),
            };
            said = said.replace(&format!("`{name}`"), &instead);
        }
        Some(said)
    }

    /// An error without hints that lead nowhere. What a person is to confirm stays: it is made for them.
    pub fn fitting(&self, mut error: ServiceError) -> ServiceError {
        error.0.hint = error.0.hint.take().and_then(|hint| self.said_here(&hint));
        if let Some(details) = error.0.details.as_mut().and_then(|it| it.as_object_mut()) {
            let next = details.get("next").and_then(|next| next.get("operation")).and_then(|it| it.as_str());
            if next.is_some_and(|operation| !self.has(operation)) {
                details.remove("next");
            }
        }
        error
    }
}

fn named_in(text: &str) -> impl Iterator<Item = &'static OperationInfo> + '_ {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(|word| catalogue().iter().find(|operation| operation.name == word))
}

#[cfg(test)]
mod hints;

#[cfg(test)]
mod tests {
    use rootset_api::{Effect, ErrorCode, Profile};
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_leads_to_a_tool_that_is_not_there() {
        let profiles = Profiles::new([Profile::Core]);
        let reading = Rights { scopes: Some([Effect::Read].into()), ..Rights::default() };
        let error = || {
            ServiceError::new(ErrorCode::NotFound, "no memory `x`")
                .with_hint("it is in the trash; `gc_undo` restores it")
                .with_details(json!({"next": {"operation": "gc_undo", "arguments": {}}, "at": 1}))
        };
        let everything = Offer { profiles: &profiles, rights: &Rights::default(), terminal: None };
        assert_eq!(everything.fitting(error()), error());
        let confined = Offer { profiles: &profiles, rights: &reading, terminal: None };
        let fitting = confined.fitting(error());
        assert_eq!((&fitting.hint, &fitting.details), (&None, &Some(json!({"at": 1}))));
        let beside_a_person = Offer { terminal: Some("rootset"), ..confined }.fitting(error());
        let hint = "it is in the trash; `rootset call gc_undo` in a terminal restores it";
        assert_eq!(beside_a_person.hint.as_deref(), Some(hint));
        let plain = ServiceError::new(ErrorCode::Busy, "busy").with_hint("try `again`");
        assert_eq!(confined.fitting(plain.clone()), plain);
    }
}
