//! Reading and rendering as a session does it.

use rootset_messages::{Draft, Format, Piece, Rendered, read, render, validate};
use serde_json::{Value, json};

#[track_caller]
pub fn drafts(format: Format, list: &Value) -> Vec<Draft> {
    read(format, list).unwrap_or_else(|error| panic!("{error}: {list}")).drafts
}

pub fn pieces<'d>(drafts: impl IntoIterator<Item = &'d Draft>) -> Vec<Piece<'d>> {
    drafts.into_iter().map(|draft| Piece::Raw(&draft.raw)).collect()
}

/// What is rendered has to be valid.
#[track_caller]
pub fn rendered(format: Format, pieces: &[Piece<'_>]) -> Rendered {
    let rendered = render(format, pieces);
    let problems = validate(format, &rendered);
    assert!(problems.is_empty(), "{problems:#?}\n{:#}", Value::Array(rendered.messages));
    rendered
}

/// A request's body, as text: the order of fields counts, too.
pub fn body(rendered: &Rendered) -> String {
    let mut body = json!({});
    if let Some(system) = &rendered.system {
        body["system"] = system.clone();
    }
    body["messages"] = rendered.messages.clone().into();
    body.to_string()
}

/// Reads a body, renders all of it, and finds it unchanged to the last byte.
#[track_caller]
pub fn comes_back(format: Format, list: &Value) {
    let whole = if list.is_array() { json!({"messages": list}) } else { list.clone() };
    let again = rendered(format, &pieces(&drafts(format, list)));
    assert_eq!(body(&again), whole.to_string());
}

/// One segment's text per draft.
pub fn texts(drafts: &[Draft]) -> Vec<&str> {
    drafts.iter().map(|draft| draft.text.as_str()).collect()
}
