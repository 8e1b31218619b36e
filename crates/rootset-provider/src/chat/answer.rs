//! Reading a chat completion: all of it, against the schema, or an error. Nothing is repaired or guessed.

use std::collections::HashMap;

use rootset_model::identity::normalise;
use rootset_model::{ExtractedEntity, ExtractedRelation, Extraction};
use serde::Deserialize;

use crate::error::{AnswerFault, AnswerPart};

/// What a model says once is one mention; canonical adds up those of several windows.
const WEIGHT: f32 = 1.0;
/// The type of an entity whose type the model left blank.
const TYPE_UNKNOWN: &str = "term";

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    entities: Vec<AnsweredEntity>,
    relations: Vec<AnsweredRelation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredEntity {
    name: String,
    #[serde(rename = "type")]
    entity_type: String,
    description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredRelation {
    source: String,
    relation: String,
    target: String,
}

/// The extraction in a response body.
pub(super) fn read(body: &[u8]) -> Result<Extraction, AnswerFault> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|error| AnswerFault::from_json(AnswerPart::Body, &error))?;
    let choice = completion.choices.into_iter().next().ok_or(AnswerFault::NoChoice)?;
    match choice.finish_reason.as_deref() {
        // Also when the JSON happens to be whole: what follows it was never said.
        Some("length") => return Err(AnswerFault::OutOfTokens),
        Some("content_filter") => return Err(AnswerFault::Refused),
        _ => {}
    }
    if choice.message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(AnswerFault::Refused);
    }
    let content = choice.message.content.ok_or(AnswerFault::NoContent)?;
    let answer: Answer = serde_json::from_str(without_fence(&content))
        .map_err(|error| AnswerFault::from_json(AnswerPart::Message, &error))?;
    Ok(to_extraction(answer))
}

/// Models that ignore the schema like to wrap JSON as Markdown does; a fence around the whole answer casts no doubt on
/// what was said.
fn without_fence(content: &str) -> &str {
    let content = content.trim();
    let Some(inner) = content.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return content };
    inner.strip_prefix("json").unwrap_or(inner)
}

/// Relations name their ends; one whose end is not among the entities is dropped, because it has no type to be found by.
fn to_extraction(answer: Answer) -> Extraction {
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for (index, entity) in answer.entities.iter().enumerate() {
        by_name.entry(normalise(&entity.name)).or_insert(index);
    }
    let relations = answer.relations.into_iter().filter_map(|relation| {
        let source = *by_name.get(&normalise(&relation.source))?;
        let target = *by_name.get(&normalise(&relation.target))?;
        Some(ExtractedRelation { source, relation: one_word(&relation.relation), target, weight: WEIGHT })
    });
    let relations = relations.collect();
    let entities = answer.entities.into_iter().map(|entity| {
        let entity_type = match one_word(&entity.entity_type) {
            blank if blank.is_empty() => TYPE_UNKNOWN.to_owned(),
            word => word,
        };
        ExtractedEntity { name: entity.name, entity_type, description: entity.description, weight: WEIGHT }
    });
    Extraction { entities: entities.collect(), relations }
}

/// "Depends on" and `depends_on` are one verb, as the built-in extractor writes it.
fn one_word(text: &str) -> String {
    normalise(text).replace([' ', '-'], "_")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_content(content: &str) -> Result<Extraction, AnswerFault> {
        read_choice(json!({"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}))
    }

    fn read_choice(choice: Value) -> Result<Extraction, AnswerFault> {
        read(json!({"id": "x", "choices": [choice], "usage": {}}).to_string().as_bytes())
    }

    const GOOD: &str = r#"{"entities": [{"name": "Falcon", "type": "Project", "description": "d"},
        {"name": "Redis", "type": "", "description": ""}],
        "relations": [{"source": "falcon", "relation": "Depends on", "target": "REDIS "},
        {"source": "Falcon", "relation": "uses", "target": "Nobody"}]}"#;

    #[test]
    fn relations_find_their_ends_by_name_and_dangling_ones_are_dropped() {
        let extraction = read_content(GOOD).unwrap();
        assert_eq!(extraction.entities[0].entity_type, "project");
        assert_eq!(extraction.entities[1].entity_type, "term");
        let expected = ExtractedRelation { source: 0, relation: "depends_on".into(), target: 1, weight: 1.0 };
        assert_eq!(extraction.relations, [expected]);
    }

    #[test]
    fn a_fence_around_everything_is_tolerated() {
        let plain = read_content(GOOD);
        assert_eq!(read_content(&format!("```json\n{GOOD}\n```\n")), plain);
        assert_eq!(read_content(&format!("```\n{GOOD}```")), plain);
    }

    #[test]
    fn everything_but_the_schema_is_an_error() {
        let fault = |content: &str| read_content(content).unwrap_err();
        assert!(matches!(fault("Here you are: {}"), AnswerFault::NotJson { .. }));
        assert!(matches!(fault(&format!("{GOOD} I hope this helps")), AnswerFault::NotJson { .. }));
        assert!(matches!(fault(&format!("Sure!\n```json\n{GOOD}\n```")), AnswerFault::NotJson { .. }));
        assert!(matches!(fault(&GOOD[..GOOD.len() - 1]), AnswerFault::CutJson { .. }));
        assert!(matches!(fault(""), AnswerFault::CutJson { .. }));
        for shape in [
            "[]",
            "{}",
            r#"{"entities": []}"#,
            r#"{"entities": [], "relations": null}"#,
            r#"{"entities": [], "relations": [], "notes": []}"#,
            r#"{"entities": [{"name": "a", "type": "b"}], "relations": []}"#,
        ] {
            assert!(matches!(fault(shape), AnswerFault::WrongShape { .. }), "{shape}");
        }
    }

    #[test]
    fn an_answer_that_ended_early_is_an_error_even_when_its_json_is_whole() {
        let choice = |reason: &str| json!({"message": {"content": GOOD}, "finish_reason": reason});
        assert_eq!(read_choice(choice("length")), Err(AnswerFault::OutOfTokens));
        assert_eq!(read_choice(choice("content_filter")), Err(AnswerFault::Refused));
        assert!(read_choice(json!({"message": {"content": GOOD}})).is_ok());
    }

    #[test]
    fn bodies_without_an_answer_are_errors() {
        assert_eq!(read(br#"{"choices": []}"#), Err(AnswerFault::NoChoice));
        assert_eq!(read_choice(json!({"message": {"content": null}})), Err(AnswerFault::NoContent));
        assert_eq!(read_choice(json!({"message": {"refusal": "no"}})), Err(AnswerFault::Refused));
        assert!(matches!(read(b"<html>"), Err(AnswerFault::NotJson { part: AnswerPart::Body, .. })));
        assert!(matches!(read(br#"{"error": "x"}"#), Err(AnswerFault::WrongShape { part: AnswerPart::Body, .. })));
    }
}
