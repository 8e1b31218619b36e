//! Asking a person. The service says what needs it (`confirmation_required`) and which call to make then
//! (`details.next`); here that becomes a question, and the answer a call or a refusal.
//!
//! Clients up to revision 2025-11-25 are asked in the middle of the call; from 2026-07-28 on the call ends with the
//! question and is made again with the answer. In between the call to make stays here, under a handle that nobody can
//! guess, that one caller can use once: nothing that a client sends back decides what is done.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rootset_api::ErrorCode;
use rootset_service::ServiceError;
use serde_json::{Value, json};

use crate::stored_text;

/// A person who has not answered by then is not there.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(600);
/// Questions that wait for an answer; with more the oldest is dropped and has to be asked again.
const OPEN_QUESTIONS_MAX: usize = 1_000;
/// Of each text among the arguments, so much is shown with the question.
const TEXT_CHARS_SHOWN: usize = 300;
/// The question and its field, for clients and for us.
const QUESTION: &str = "confirmation";
const FIELD: &str = "confirm";

/// The call to make once a person agreed, as the service gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct NextCall {
    pub operation: String,
    pub arguments: Value,
}

impl NextCall {
    /// `None`: the error is about something else, or no answer of a person would help.
    pub fn of(error: &ServiceError) -> Option<Self> {
        if error.code != ErrorCode::ConfirmationRequired {
            return None;
        }
        let next = error.details.as_ref()?.get("next")?;
        let operation = next.get("operation")?.as_str()?.to_owned();
        Some(Self { operation, arguments: next.get("arguments").cloned().unwrap_or_else(|| json!({})) })
    }
}

/// How this client's person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// By a request of ours while the call waits.
    Meanwhile,
    /// By ending the call with the question.
    InRounds,
    Impossible,
}

impl Asking {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // A client that names neither kind means forms: it is from before there were two.
        let has_forms = elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none());
        let asks_in_rounds = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        match (has_forms, asks_in_rounds) {
            (false, _) => Self::Impossible,
            (true, false) => Self::Meanwhile,
            (true, true) => Self::InRounds,
        }
    }
}

/// One yes-or-no question. The field must be set to true: a client that accepts automatically, with defaults, declines.
pub fn question(error: &ServiceError, next: &NextCall, about: &str) -> ElicitRequestParams {
    let schema = BooleanSchema::new()
        .title("Do it")
        .description("Leave it off to decline; then nothing is changed.")
        .with_default(false);
    let schema = ElicitationSchema::builder()
        .required_bool_property(FIELD, |_| schema)
        .build()
        .expect("a required field that is there");
    let arguments = shown(&next.arguments);
    let message = format!("An agent wants Rootset to run `{}` {arguments}.\n{}{about}", next.operation, error.message);
    // The request and the names in it are the agent's words, read by a person who decides.
    let message = stored_text::shown(&message).into_owned();
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema }
}

/// The arguments for a person to read: a text of many pages would push the question out of sight.
fn shown(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) if text.chars().count() > TEXT_CHARS_SHOWN => {
            let beginning: String = text.chars().take(TEXT_CHARS_SHOWN).collect();
            format!("{beginning}… ({} characters)", text.chars().count()).into()
        }
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shown(value))).collect(),
        other => other.clone(),
    }
}

pub fn is_agreed(answer: &ElicitResult) -> bool {
    let field = answer.content.as_ref().and_then(|content| content.get(FIELD));
    answer.action == ElicitationAction::Accept && field == Some(&Value::Bool(true))
}

pub fn declined() -> ServiceError {
    ServiceError::new(ErrorCode::ConfirmationRequired, "a person was asked and did not agree: nothing was changed")
        .with_hint("do not ask again unless they bring it up")
}

/// For a client whose person cannot be asked. What undo reverses needs no more than the arguments in `details.next`.
pub fn without_person(mut error: ServiceError, next: &NextCall, terminal: &str) -> ServiceError {
    let needs_person = error.details.as_ref().and_then(|details| details.get("needs_person")) == Some(&json!(true));
    if needs_person {
        let request = next.arguments.to_string().replace('\'', r"'\''");
        error.hint = Some(format!(
            "this needs a person, and this client cannot ask one: a person can run `{terminal} call {} '{request}'` \
             in a terminal",
            next.operation
        ));
    }
    error
}

/// What a handle stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenQuestion {
    pub actor: String,
    pub tool: String,
    /// As they were given with the question; the answer comes with the same.
    pub arguments: Value,
    pub next: NextCall,
    pub question: ElicitRequestParams,
}

#[derive(Clone, Debug, Default)]
pub struct OpenQuestions(Arc<Mutex<HashMap<String, (Instant, OpenQuestion)>>>);

impl OpenQuestions {
    /// The result that asks, with its handle.
    pub fn ask(&self, open: OpenQuestion) -> InputRequiredResult {
        let handle = format!("{:032x}", rand::random::<u128>());
        let mut questions = self.0.lock().expect("nobody panics while holding it");
        let now = Instant::now();
        questions.retain(|_, (asked_at, _)| now.duration_since(*asked_at) < ANSWER_WITHIN);
        if questions.len() >= OPEN_QUESTIONS_MAX {
            let oldest = questions.iter().min_by_key(|(_, (asked_at, _))| *asked_at).map(|(handle, _)| handle.clone());
            questions.remove(&oldest.expect("there are many"));
        }
        let request = InputRequest::Elicitation(ElicitRequest::new(open.question.clone()));
        questions.insert(handle.clone(), (now, open));
        InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(handle))
    }

    /// Each handle opens once, for the caller and the call it was made for.
    pub fn take(&self, handle: &str, actor: &str, tool: &str, arguments: &Value) -> Option<OpenQuestion> {
        let mut questions = self.0.lock().expect("nobody panics while holding it");
        let (asked_at, open) = questions.remove(handle)?;
        let is_theirs = open.actor == actor && open.tool == tool && open.arguments == *arguments;
        (is_theirs && asked_at.elapsed() < ANSWER_WITHIN).then_some(open)
    }
}

/// The answer among those that came back; `None` without one that can be read.
pub fn answer_among(responses: Option<&BTreeMap<String, Value>>) -> Option<ElicitResult> {
    serde_json::from_value(responses?.get(QUESTION)?.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(actor: &str) -> OpenQuestion {
        let next = NextCall { operation: "defrag".to_owned(), arguments: json!({"confirm": true}) };
        let question = question(&ServiceError::invalid("x"), &next, "");
        OpenQuestion { actor: actor.to_owned(), tool: "defrag".to_owned(), arguments: json!({}), next, question }
    }

    #[test]
    fn a_handle_opens_once_and_only_for_its_caller_and_call() {
        let questions = OpenQuestions::default();
        let ask = || questions.ask(open("alice")).request_state.expect("a handle");
        let handle = ask();
        assert_eq!(questions.take(&handle, "alice", "defrag", &json!({})), Some(open("alice")));
        assert_eq!(questions.take(&handle, "alice", "defrag", &json!({})), None, "used");
        assert_eq!(questions.take(&ask(), "bob", "defrag", &json!({})), None, "another's");
        assert_eq!(questions.take(&ask(), "alice", "gc_purge", &json!({})), None, "another call's");
        assert_eq!(questions.take(&ask(), "alice", "defrag", &json!({"confirm": true})), None, "other arguments");
        assert_eq!(questions.take("0", "alice", "defrag", &json!({})), None, "guessed");
    }

    #[test]
    fn open_questions_are_bounded() {
        let questions = OpenQuestions::default();
        for _ in 0..OPEN_QUESTIONS_MAX + 10 {
            questions.ask(open("alice"));
        }
        assert_eq!(questions.0.lock().expect("the lock").len(), OPEN_QUESTIONS_MAX);
    }

    #[test]
    fn only_an_accepted_and_filled_in_form_is_an_agreement() {
        let answer = |action, content| is_agreed(&ElicitResult::new(action).with_content(content));
        assert!(answer(ElicitationAction::Accept, json!({"confirm": true})));
        assert!(!answer(ElicitationAction::Accept, json!({"confirm": false})));
        assert!(!answer(ElicitationAction::Accept, json!({"confirm": "true"})));
        assert!(!answer(ElicitationAction::Accept, json!({})));
        assert!(!answer(ElicitationAction::Decline, json!({"confirm": true})));
        assert!(!is_agreed(&ElicitResult::new(ElicitationAction::Accept)));
    }

    #[test]
    fn a_question_shows_the_beginning_of_a_long_text_and_the_call_keeps_all_of_it() {
        let arguments = json!({"context": "é".repeat(2_000), "memory_id": "deploys", "tags": [null]});
        let next = NextCall { operation: "update_memory".to_owned(), arguments };
        let ElicitRequestParams::FormElicitationParams { message, .. } =
            question(&ServiceError::invalid("x"), &next, "")
        else {
            panic!("a form")
        };
        assert!(message.contains("… (2000 characters)") && message.contains("deploys"), "{message}");
        assert!(message.chars().count() < 600, "{message}");
        assert_eq!(next.arguments["context"].as_str().map(str::len), Some(4_000));
    }

    #[test]
    fn the_command_for_a_terminal_survives_a_shell() {
        let error = ServiceError::new(ErrorCode::ConfirmationRequired, "purging removes for good")
            .with_details(json!({"needs_person": true}));
        let next = NextCall { operation: "gc_purge".to_owned(), arguments: json!({"older_than": "it's"}) };
        let hint = without_person(error, &next, "rootset").0.hint.expect("a hint");
        assert!(hint.contains(r#"rootset call gc_purge '{"older_than":"it'\''s"}'"#), "{hint}");
    }
}
