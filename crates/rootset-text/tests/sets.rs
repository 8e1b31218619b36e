//! The hand-written sets of `rootset-bench`, without a database: what must stay always does, and what held once still holds.

use rootset_model::Content;
use rootset_model::content::topic_of;
use rootset_text::claims::{claims, updates};
use rootset_text::matching::{Fields, Matcher, Verdict};
use serde_json::Value;

const FORGETTING: &str = include_str!("../../rootset-bench/sets/forgetting.jsonl");
const FORGETTING_RULES: &str = include_str!("../../rootset-bench/sets/forgetting-rules.jsonl");
const FORGETTING_SEEN: &str = include_str!("../../rootset-bench/sets/forgetting-blind.jsonl");
const CONTRADICTIONS: &str = include_str!("../../rootset-bench/sets/contradictions.jsonl");

fn cases(set: &str) -> impl Iterator<Item = Value> {
    set.lines().map(|line| serde_json::from_str(line).expect("each line is a case"))
}

fn text(case: &Value, field: &str) -> String {
    case[field].as_str().expect("it is a text").to_owned()
}

fn contents_of(case: &Value) -> Vec<Content> {
    let memories = case["memories"].as_array().expect("it is a list").iter().map(|memory| text(memory, "text"));
    let content =
        |text: String| Content { topic: topic_of(&text), context: text, decisions: vec![], rationale: vec![] };
    memories.map(content).collect()
}

fn places(case: &Value, field: &str) -> Vec<usize> {
    case[field]
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|it| it.as_u64().expect("it is a place") as usize)
        .collect()
}

fn fields(content: &Content) -> Fields<'_> {
    Fields { topic: &content.topic, context: &content.context, ..Fields::default() }
}

/// What is left of each memory after a request, `None` where nothing is.
fn after(request: &str, contents: &[Content]) -> Vec<Option<String>> {
    let Some(mut matcher) = Matcher::new(request) else {
        return contents.iter().map(|it| Some(it.context.clone())).collect();
    };
    for _ in 0..3 {
        let mut survey = matcher.survey();
        contents.iter().for_each(|content| matcher.read(&fields(content), &mut survey));
        matcher.informed_by(survey);
    }
    let left = |content: &Content| {
        let judgement = matcher.judge(&fields(content));
        match (judgement.verdict, judgement.cut) {
            (Verdict::Matched, Some(cut)) => cut.apply(content).map(|left| left.context),
            (Verdict::Matched, None) => None,
            _ => Some(content.context.clone()),
        }
    };
    contents.iter().map(left).collect()
}

#[test]
fn a_request_takes_what_it_means_and_nothing_that_must_stay() {
    for case in cases(FORGETTING).chain(cases(FORGETTING_RULES)) {
        let contents = contents_of(&case);
        let left = after(&text(&case, "request"), &contents);
        for place in places(&case, "must_stay") {
            assert_eq!(left[place].as_ref(), Some(&contents[place].context), "{case}");
        }
        for place in places(&case, "must_go") {
            assert_eq!(left[place], None, "{case}");
        }
        for redact in case["redact"].as_array().unwrap() {
            let left = left[redact["memory"].as_u64().unwrap() as usize].clone().unwrap_or_default();
            assert!(left.contains(&text(redact, "stays")) && !left.contains(&text(redact, "goes")), "{case}: {left}");
        }
    }
}

/// The set holds more than the rules can tell; what they told once they still tell.
const NOTICED_MIN: usize = 212;

/// Not every case of this set is right; but none takes what has to stay.
#[test]
fn nothing_that_must_stay_is_ever_taken() {
    for case in cases(FORGETTING_SEEN) {
        let contents = contents_of(&case);
        let left = after(&text(&case, "request"), &contents);
        for place in places(&case, "must_stay") {
            assert_eq!(left[place].as_ref(), Some(&contents[place].context), "{case}");
        }
        for redact in case["redact"].as_array().unwrap() {
            let left = left[redact["memory"].as_u64().unwrap() as usize].clone().unwrap_or_default();
            assert!(left.contains(&text(redact, "stays")), "{case}: {left}");
        }
    }
}

#[test]
fn updates_are_noticed_and_what_holds_beside_each_other_is_not() {
    let mut noticed = 0;
    for case in cases(CONTRADICTIONS) {
        let new = claims(&text(&case, "new"));
        let others = case["others"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let olds: Vec<_> = [text(&case, "old").as_str()].into_iter().chain(others).map(claims).collect();
        let found = updates(&olds, &new);
        if case["is_update"] == true {
            noticed += usize::from(found[0].is_some());
        } else {
            assert_eq!(found[0], None, "{case}");
        }
        assert_eq!(found[1..].iter().flatten().count(), 0, "{case}");
    }
    assert!(noticed >= NOTICED_MIN, "only {noticed} updates were noticed");
}
