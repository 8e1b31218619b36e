//! What a connection offers: the tools of its profiles that its rights let succeed. Whatever names a tool, in a hint, a
//! prompt or the instructions, is said only if that tool is there.

use rootset_api::{OperationInfo, Profiles, catalogue};
use rootset_service::{Rights, ServiceError};

#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    pub profiles: &'a Profiles,
    pub rights: &'a Rights,
}

impl Offer<'_> {
    pub fn has(&self, tool: &str) -> bool {
        self.profiles.operations().any(|it| it.name == tool && self.rights.allow_operation(it))
    }

    /// Whether every tool that a text names is there. Tools are named in backquotes.
    pub fn has_all_named_in(&self, text: &str) -> bool {
        named_in(text).all(|it| self.has(it.name))
    }

    /// An error without hints that lead nowhere. What a person is to confirm stays: it is made for them.
    pub fn fitting(&self, mut error: ServiceError) -> ServiceError {
        error.0.hint = error.0.hint.take().filter(|hint| self.has_all_named_in(hint));
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
        let everything = Offer { profiles: &profiles, rights: &Rights::default() };
        assert_eq!(everything.fitting(error()), error());
        let fitting = Offer { profiles: &profiles, rights: &reading }.fitting(error());
        assert_eq!((&fitting.hint, &fitting.details), (&None, &Some(json!({"at": 1}))));
        let plain = ServiceError::new(ErrorCode::Busy, "busy").with_hint("try `again`");
        assert_eq!(Offer { profiles: &profiles, rights: &reading }.fitting(plain.clone()), plain);
    }
}
