//! Sentences in which a person says what should be remembered: corrections, preferences, decisions, and plain requests to
//! remember. Rules by words, in English; what they find is offered to the person, and is nothing before they keep it.
//!
//! Silence is the default: most prompts say what to do now. A sentence counts only if it holds beyond the task at hand, which
//! words like "from now on" and "always" say, or if it puts one thing in the place of another. Questions, code, quotations and
//! what is too long to be a sentence are left out.

use std::ops::Range;

use crate::sentences::sentences;

/// Shorter ones say too little without what stands around them, longer ones are no sentences.
const CHARS_MIN: usize = 10;
const CHARS_MAX: usize = 400;
/// Of one prompt: a longer list was pasted.
const OF_PROMPT_MAX: usize = 5;
/// A pasted text holds sentences of others.
const PROMPT_BYTES_MAX: usize = 8 * 1024;

/// What a person meant by saying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    /// "Remember that …"
    Request,
    /// "From now on …", "always …", "never …", "I prefer …"
    Preference,
    /// "We decided …", "let's go with …"
    Decision,
    /// "No, use pnpm."
    Correction,
}

/// Where the sentences worth keeping are, in order.
pub fn worth_keeping(prompt: &str) -> Vec<(Range<usize>, Said)> {
    if prompt.len() > PROMPT_BYTES_MAX {
        return Vec::new();
    }
    let fences = fences(prompt);
    let is_quoted =
        |range: &Range<usize>| fences.iter().any(|fence| fence.start < range.end && range.start < fence.end);
    sentences(prompt)
        .into_iter()
        .filter(|range| !is_quoted(range))
        .filter_map(|range| said(&prompt[range.clone()]).map(|said| (range, said)))
        .take(OF_PROMPT_MAX)
        .collect()
}

/// Blocks of code between three backticks; one that does not end goes on to the end.
fn fences(text: &str) -> Vec<Range<usize>> {
    let marks: Vec<usize> = text.match_indices("```").map(|(at, _)| at).collect();
    marks.chunks(2).map(|pair| pair[0]..pair.get(1).map_or(text.len(), |end| end + "```".len())).collect()
}

fn said(sentence: &str) -> Option<Said> {
    let trimmed = sentence.trim();
    let chars = trimmed.chars().count();
    let is_odd = !(CHARS_MIN..=CHARS_MAX).contains(&chars)
        || trimmed.ends_with(['?', '？', ':', '{', ';'])
        || trimmed.starts_with(['>', '|', '$', '#', '<', '"', '“', '+', '@', '/'])
        || looks_like_output(trimmed);
    if is_odd {
        return None;
    }
    let lower = plain(trimmed);
    let words: Vec<&str> = lower.split(' ').filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    // Who only asks for something once does not make a rule.
    let is_for_now = ["for now", "this time", "just this once", "in this case", "for this one", "as an experiment"];
    let is_for_now = is_for_now.iter().any(|phrase| has(&text, phrase));
    request(&text)
        .or_else(|| preference(&text).filter(|_| !is_for_now))
        .or_else(|| decision(&text))
        .or_else(|| correction(&text).filter(|_| !is_for_now))
}

/// Lower case, with plain apostrophes, and without what ends or divides a sentence.
fn plain(text: &str) -> String {
    text.to_lowercase()
        .replace(['’', '‘'], "'")
        .replace([',', '.', '!', ':', ';', '(', ')', '—', '–', '*', '`', '"'], " ")
}

/// Lines of logs and stack traces are full of words that people use too.
fn looks_like_output(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    letters * 10 < text.chars().count() * 7
}

fn has(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let end = at + phrase.len();
        let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b' ');
        is_edge(at.checked_sub(1).and_then(|before| text.as_bytes().get(before))) && is_edge(text.as_bytes().get(end))
    })
}

fn begins(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.strip_prefix(phrase).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// The sentence without what people put before what they say.
fn unpadded(mut text: &str) -> &str {
    const PADDING: [&str; 17] = [
        "ok",
        "okay",
        "and",
        "also",
        "but",
        "so",
        "btw",
        "by the way",
        "please",
        "hey",
        "actually",
        "well",
        "oh",
        "note",
        "fyi",
        "one more thing",
        "important",
    ];
    loop {
        let Some(padding) = PADDING.iter().find(|it| begins(text, &[it])) else { return text };
        text = text[padding.len()..].trim_start();
    }
}

fn request(text: &str) -> Option<Said> {
    const BEGINNINGS: [&str; 10] = [
        "remember",
        "don't forget",
        "do not forget",
        "keep in mind",
        "bear in mind",
        "make a note",
        "note for the future",
        "note to self",
        "for future reference",
        "for the record",
    ];
    const ANYWHERE: [&str; 5] =
        ["please remember", "remember this", "keep in mind that", "remember for next time", "for next time"];
    let is_asked = begins(unpadded(text), &BEGINNINGS) || ANYWHERE.iter().any(|phrase| has(text, phrase));
    // "Remember to run the tests" of a task is one too: the person decides. "I don't remember" is none.
    let is_denied = ["i don't remember", "i can't remember", "i do not remember", "do you remember"];
    (is_asked && !is_denied.iter().any(|phrase| has(text, phrase))).then_some(Said::Request)
}

fn preference(text: &str) -> Option<Said> {
    const ANYWHERE: [&str; 18] = [
        "from now on",
        "going forward",
        "in the future",
        "in future",
        "from here on",
        "i prefer",
        "i'd prefer",
        "we prefer",
        "i like it when",
        "i don't like",
        "i hate",
        "i'd rather",
        "my preference",
        "our convention",
        "our policy",
        "we always",
        "we never",
        "by convention",
    ];
    const BEGINNINGS: [&str; 11] = [
        "always",
        "never",
        "every time",
        "whenever you",
        "whenever we",
        "stop using",
        "stop adding",
        "stop writing",
        "don't ever",
        "do not ever",
        "prefer",
    ];
    // "Never mind" ends something, and "always fails" describes something.
    let none =
        ["never mind", "nevermind", "always fails", "never works", "never returns", "always returns", "never worked"];
    if none.iter().any(|phrase| has(text, phrase)) {
        return None;
    }
    let is_rule = ANYWHERE.iter().any(|phrase| has(text, phrase)) || begins(unpadded(text), &BEGINNINGS);
    let is_order =
        ["you should always", "you must always", "you should never", "you must never", "must never", "must always"];
    (is_rule || is_order.iter().any(|phrase| has(text, phrase))).then_some(Said::Preference)
}

fn decision(text: &str) -> Option<Said> {
    const ANYWHERE: [&str; 13] = [
        "we decided",
        "we've decided",
        "we have decided",
        "i decided",
        "i've decided",
        "i have decided",
        "we agreed",
        "we settled on",
        "the decision is",
        "decision made",
        "we're going with",
        "we are going with",
        "we chose",
    ];
    const BEGINNINGS: [&str; 5] =
        ["let's go with", "let us go with", "let's stick with", "let's settle on", "we'll go with"];
    let is_open = ["if we decided", "before we decided", "have we decided", "unless we decided", "not decided"];
    if is_open.iter().any(|phrase| has(text, phrase)) {
        return None;
    }
    let is_made = ANYWHERE.iter().any(|phrase| has(text, phrase)) || begins(unpadded(text), &BEGINNINGS);
    is_made.then_some(Said::Decision)
}

fn correction(text: &str) -> Option<Said> {
    let text = unpadded(text);
    const REFUSALS: [&str; 7] =
        ["no", "nope", "wrong", "that's wrong", "not like that", "that is wrong", "that's not right"];
    let refused = REFUSALS.iter().find_map(|it| begins(text, &[it]).then(|| text[it.len()..].trim_start()));
    const ORDERS: [&str; 16] = [
        "use",
        "we use",
        "it's",
        "it is",
        "don't",
        "do not",
        "we don't",
        "you should",
        "you have to",
        "put",
        "call it",
        "the",
        "keep",
        "our",
        "not",
        "i said",
    ];
    if let Some(rest) = refused {
        let says_more = rest.split(' ').count() >= 2;
        return (says_more && begins(rest, &ORDERS)).then_some(Said::Correction);
    }
    // "Use pnpm, not npm", "use pnpm instead of npm", "we use pnpm here".
    let is_use = begins(text, &["use", "we use", "you should use", "we're using", "we are using"]);
    let replaces = has(text, "instead of") || has(text, "rather than") || has(text, "not") && !has(text, "if not");
    let is_custom = begins(text, &["we use", "we don't use", "we do not use"])
        && ["here", "in this project", "in this repo", "in this codebase", "for everything"]
            .iter()
            .any(|it| has(text, it));
    (is_use && replaces || is_custom).then_some(Said::Correction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(prompt: &str) -> Vec<(&str, Said)> {
        worth_keeping(prompt).into_iter().map(|(range, said)| (&prompt[range], said)).collect()
    }

    #[test]
    fn corrections_preferences_decisions_and_requests_are_kept_word_for_word() {
        assert_eq!(kept("no, use pnpm"), [("no, use pnpm", Said::Correction)]);
        assert_eq!(
            kept("Fix the login. From now on, write commit messages in English. Thanks!"),
            [("From now on, write commit messages in English.", Said::Preference)]
        );
        assert_eq!(
            kept("Please remember that staging is at port 8081."),
            [("Please remember that staging is at port 8081.", Said::Request)]
        );
        assert_eq!(kept("ok we decided to drop Redis"), [("ok we decided to drop Redis", Said::Decision)]);
        for one in [
            "Never commit to main directly.",
            "I prefer small functions over comments.",
            "Let’s go with Postgres.",
            "use uv, not pip",
            "Don't forget: the API token lives in 1Password.",
            "We use tabs in this repo.",
            "You must never touch the vendor folder",
            "Nope, we use Vitest.",
        ] {
            assert_eq!(kept(one).len(), 1, "{one}");
        }
    }

    #[test]
    fn what_is_about_now_or_nothing_is_left_alone() {
        for none in [
            "Fix the failing test in src/pay.py.",
            "no",
            "No problem, go on.",
            "never mind",
            "Can you always do that?",
            "Do you remember what we did?",
            "I don't remember the name of it.",
            "The build never works on Windows.",
            "Use the existing helper.",
            "use this for now instead of the real one",
            "```\n# always run as root\nremember me\n```",
            "> we decided to drop it",
            "2024-01-01 12:00:01 ERROR [a1] (b2): never 0x00 9999 1111 {}=[]",
            "thanks, that works",
            "run it again",
            "What if we decided to use Redis?",
            "",
        ] {
            assert_eq!(kept(none), [], "{none}");
        }
        assert!(kept(&"Always do this. ".repeat(600)).is_empty(), "pasted");
        assert_eq!(kept(&"Always do this one. ".repeat(9)).len(), OF_PROMPT_MAX);
    }
}
