//! Message lists of agents: read in every format, and rendered again.

use rootset_messages::{Format, Piece, Rendered, read, read_claude_code, render, validate};
use serde_json::Value;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(outcome) = read_claude_code(text) {
        let pieces: Vec<Piece<'_>> = outcome.drafts.iter().map(|draft| Piece::Raw(&draft.raw)).collect();
        no_halves(Format::Anthropic, &render(Format::ClaudeCode, &pieces));
    }
    let Ok(list) = serde_json::from_str::<Value>(text) else { return };
    for format in Format::ALL {
        let Ok(outcome) = read(format, &list) else { continue };
        let pieces: Vec<Piece<'_>> = outcome.drafts.iter().map(|draft| Piece::Raw(&draft.raw)).collect();
        for target in [Format::Anthropic, Format::OpenAi] {
            no_halves(target, &render(target, &pieces));
        }
        // Every other piece, as if something had left.
        let some: Vec<Piece<'_>> = pieces.iter().copied().step_by(2).collect();
        no_halves(Format::Anthropic, &render(Format::Anthropic, &some));
        if format != Format::ClaudeCode {
            comes_back(format, &list, &render(format, &pieces));
        }
    }
}

/// How [`validate`] speaks of a call or a result that is alone.
const HALVES: [&str; 4] = ["has no result", "does not call", "without its call", "is not asked for"];

/// What is rendered holds no result without its call, and no call without its result but at the end.
fn no_halves(format: Format, rendered: &Rendered) {
    let is_half = |problem: &String| HALVES.iter().any(|words| problem.contains(words));
    let halves: Vec<String> = validate(format, rendered).into_iter().filter(is_half).collect();
    assert!(halves.is_empty(), "{halves:#?}\n{rendered:#?}");
}

/// A list that the API would take is the same after reading and rendering.
fn comes_back(format: Format, list: &Value, rendered: &Rendered) {
    let messages = list.get("messages").unwrap_or(list);
    let Some(messages) = messages.as_array() else { return };
    // Only Anthropic's has its system prompt beside the list.
    let system = list.get("system").filter(|system| format == Format::Anthropic && !system.is_null());
    let given = Rendered { system: system.cloned(), messages: messages.clone() };
    if validate(format, &given).is_empty() {
        assert_eq!(*rendered, given);
    }
}
