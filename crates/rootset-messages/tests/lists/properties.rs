//! What holds for any list, whatever was taken out of it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;
use rootset_messages::Format::{Anthropic, OpenAi};
use rootset_messages::{Draft, Format, Piece, Rendered, read, render, validate};
use rootset_properties::for_a_while;
use serde_json::{Value, json};

use crate::generated::{Step, anthropic, openai, steps};
use crate::harness::body;

fn list(format: Format, steps: &[Step], waits: bool) -> Value {
    match format {
        OpenAi => openai(steps, waits),
        _ => anthropic(steps, waits),
    }
}

fn formats() -> impl Strategy<Value = Format> {
    prop::sample::select(vec![Anthropic, OpenAi])
}

/// Whether each draft stays; both halves of a pair do, or none.
fn stays(drafts: &[Draft], bits: &[bool]) -> Vec<bool> {
    let mut units: Vec<String> = Vec::new();
    let mut unit_of = |(place, draft): (usize, &Draft)| {
        let name = draft.tool_call_id.clone().unwrap_or_else(|| format!("alone {place}"));
        units.iter().position(|unit| *unit == name).unwrap_or_else(|| {
            units.push(name);
            units.len() - 1
        })
    };
    drafts.iter().enumerate().map(|it| bits[unit_of(it) % bits.len()]).collect()
}

/// Words that no two texts share.
fn words(text: &str) -> BTreeSet<String> {
    let is_own = |word: &&str| word.starts_with('w') && word[1..].chars().all(|c| c.is_ascii_digit()) && word.len() > 1;
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_own).map(str::to_owned).collect()
}

fn problems(format: Format, rendered: &Rendered) -> Result<(), TestCaseError> {
    let found = validate(format, rendered);
    prop_assert!(found.is_empty(), "{found:#?}\n{}", body(rendered));
    Ok(())
}

/// Fails when a piece's own words are not in the list.
fn nothing_is_lost<'d>(kept: impl Iterator<Item = &'d Draft>, rendered: &Rendered) -> Result<(), TestCaseError> {
    let said: BTreeSet<String> = kept.flat_map(|draft| words(&draft.text)).collect();
    let found = words(&body(rendered));
    prop_assert!(said == found, "said {said:?}\nfound {found:?}\n{}", body(rendered));
    Ok(())
}

#[test]
fn a_list_that_nothing_was_taken_from_comes_back() {
    for_a_while(|config| {
        proptest!(config, |(format in formats(), steps in steps(), waits: bool)| {
            let list = list(format, &steps, waits);
            let whole = if list.is_array() { json!({"messages": list}) } else { list.clone() };
            let drafts = read(format, &list).unwrap().drafts;
            let pieces: Vec<Piece<'_>> = drafts.iter().map(|draft| Piece::Raw(&draft.raw)).collect();
            let rendered = render(format, &pieces);
            prop_assert_eq!(body(&rendered), whole.to_string());
            problems(format, &rendered)?;
        })
    });
}

#[test]
fn any_units_that_stay_make_a_valid_list_in_either_format() {
    let bits = prop::collection::vec(any::<bool>(), 1..40);
    for_a_while(|config| {
        proptest!(config, |(from in formats(), to in formats(), steps in steps(), waits: bool, bits in &bits, shows: bool)| {
            let drafts = read(from, &list(from, &steps, waits)).unwrap().drafts;
            let stays = stays(&drafts, &bits);
            let mut pieces = Vec::new();
            for (draft, stays) in drafts.iter().zip(&stays) {
                match (stays, shows) {
                    (true, _) => pieces.push(Piece::Raw(&draft.raw)),
                    (false, true) => pieces.push(Piece::Placeholder { text: "[stashed]" }),
                    (false, false) => {}
                }
            }
            let rendered = render(to, &pieces);
            problems(to, &rendered)?;
            nothing_is_lost(drafts.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(draft, _)| draft), &rendered)?;
        })
    });
}

#[test]
fn pieces_that_do_not_fit_together_still_make_a_valid_list() {
    let moves = prop::collection::vec((any::<Index>(), any::<Index>(), 0..4_u8), 0..12);
    for_a_while(|config| {
        proptest!(config, |(from in formats(), to in formats(), steps in steps(), waits: bool, moves in &moves)| {
            let drafts = read(from, &list(from, &steps, waits)).unwrap().drafts;
            let mut pieces: Vec<Piece<'_>> = drafts.iter().map(|draft| Piece::Raw(&draft.raw)).collect();
            for (first, second, kind) in &moves {
                if pieces.is_empty() {
                    break;
                }
                let (first, second) = (first.index(pieces.len()), second.index(pieces.len()));
                match kind {
                    0 => pieces.swap(first, second),
                    1 => drop(pieces.remove(first)),
                    2 => pieces.insert(first, Piece::Text { role: "assistant", text: "between" }),
                    _ => pieces.insert(first, Piece::Placeholder { text: "[stashed]" }),
                }
            }
            problems(to, &render(to, &pieces))?;
        })
    });
}

#[test]
fn what_is_rendered_reads_as_the_same_again() {
    let bits = prop::collection::vec(any::<bool>(), 1..40);
    for_a_while(|config| {
        proptest!(config, |(format in formats(), steps in steps(), bits in &bits)| {
            let drafts = read(format, &list(format, &steps, false)).unwrap().drafts;
            let kept = drafts.iter().zip(stays(&drafts, &bits)).filter(|(_, stays)| *stays);
            let pieces: Vec<Piece<'_>> = kept.map(|(draft, _)| Piece::Raw(&draft.raw)).collect();
            let once = render(format, &pieces);
            let again = read(format, &serde_json::from_str(&body(&once)).unwrap()).unwrap().drafts;
            let pieces: Vec<Piece<'_>> = again.iter().map(|draft| Piece::Raw(&draft.raw)).collect();
            prop_assert_eq!(body(&render(format, &pieces)), body(&once));
        })
    });
}

#[test]
fn any_json_is_read_or_refused_and_never_panics() {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec!["user", "assistant", "tool", "text", "tool_use", "tool_result", "thinking", "x"])
            .prop_map(Value::from),
    ];
    let field = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "text",
        "id",
        "tool_use_id",
        "tool_calls",
        "function",
        "messages",
        "system",
        "message",
        "uuid",
        "parentUuid",
        "name",
        "input",
    ]);
    let json = leaf.prop_recursive(5, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((field.clone(), inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    });
    for_a_while(|config| {
        proptest!(config, |(list in prop::collection::vec(&json, 0..5), to in formats())| {
            let pieces: Vec<Piece<'_>> = list.iter().map(Piece::Raw).collect();
            render(to, &pieces);
            for format in Format::ALL {
                let Ok(read) = read(format, &Value::Array(list.clone())) else { continue };
                let pieces: Vec<Piece<'_>> = read.drafts.iter().map(|draft| Piece::Raw(&draft.raw)).collect();
                validate(to, &render(to, &pieces));
            }
        })
    });
}

#[test]
fn a_callers_own_value_that_looks_like_ours_does_no_harm() {
    let places = prop::sample::select(vec![
        "system_text",
        "system_block",
        "text",
        "block",
        "tool_call",
        "function_call",
        "refusal",
        "audio",
        "nothing",
    ]);
    let value = prop::sample::select(vec![
        json!(null),
        json!("words"),
        json!([]),
        json!({"type": "text", "text": "words"}),
        json!({"type": "tool_use", "id": "t", "name": "ls", "input": {}}),
        json!({"type": "tool_result", "tool_use_id": "t"}),
        json!({"id": "t", "type": "function", "function": {"name": "ls", "arguments": "{}"}}),
    ]);
    let cut = json!({"parts": true});
    let envelope = prop::sample::select(vec![
        json!({}),
        json!({"role": "user", "content": "left"}),
        json!({"role": "user", "content": cut}),
        json!({"role": "assistant", "content": cut, "tool_calls": cut, "refusal": cut}),
        json!({"role": "tool", "content": cut, "tool_call_id": "t"}),
    ]);
    let number = prop::sample::select(vec![0, 1, u32::MAX - 1, u32::MAX]);
    let slots = prop::collection::vec((places, number.clone(), value), 0..3);
    let raw = (formats(), number, envelope, slots).prop_map(|(format, message, envelope, slots)| {
        let slot = |(place, at, value)| json!({"place": place, "at": at, "value": value});
        let slots: Vec<Value> = slots.into_iter().map(slot).collect();
        json!({"format": format, "message": message, "digest": "d", "envelope": envelope, "slots": slots})
    });
    for_a_while(|config| {
        proptest!(config, |(raws in prop::collection::vec(&raw, 0..6), to in formats())| {
            let pieces: Vec<Piece<'_>> = raws.iter().map(Piece::Raw).collect();
            let rendered = render(to, &pieces);
            let halves = |problem: &String| problem.contains("has no result") || problem.contains("which");
            let found: Vec<String> = validate(to, &rendered).into_iter().filter(halves).collect();
            prop_assert!(found.is_empty(), "{found:#?}\n{}", body(&rendered));
        })
    });
}
