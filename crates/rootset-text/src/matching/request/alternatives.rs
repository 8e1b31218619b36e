//! Where a request divides: what is to go and what is to be kept, and the alternatives of each.
//!
//! Not here: what one alternative names ([`super::part`]).

use super::Part;
use crate::chars::fold;
use crate::matching::conjunction::quotations;
use crate::matching::noise::{ALTERNATING, KEEPING};

/// What is to go, and what is to be kept.
pub(super) fn split_kept(plain: &str) -> (&str, Vec<&str>) {
    let folded = fold(plain);
    // Folding may move places; then nothing is to be kept that could be told.
    let first = if folded.len() == plain.len() {
        KEEPING
            .iter()
            .filter_map(|it| Some((folded.find(it)?, std::cmp::Reverse(it.len()))))
            .min()
            .map(|(place, std::cmp::Reverse(length))| (place, length))
    } else {
        None
    };
    match first {
        Some((place, length)) if plain.is_char_boundary(place) && plain.is_char_boundary(place + length) => {
            (&plain[..place], vec![&plain[place + length..]])
        }
        _ => (plain, Vec::new()),
    }
}

/// The alternatives of a request. What they are split at divides them only where each names something.
pub(super) fn alternatives(plain: &str) -> Vec<Part> {
    if !quotations(plain).is_empty() {
        return vec![Part::of(plain, true)];
    }
    let texts = split_alternatives(plain);
    if texts.len() > 1 {
        let parts: Vec<Part> = texts.iter().enumerate().map(|(place, text)| Part::of(text, place == 0)).collect();
        if parts.iter().all(|part| !part.heads.is_empty()) {
            return parts;
        }
        // `metoprolol (Beloc)`: one word, and what it is called as well.
        if let [head, rest @ ..] = &parts[..]
            && let Some(small) = head.as_small_name()
            && plain.contains('(')
            && !rest.is_empty()
            && rest.iter().all(|part| !part.heads.is_empty())
        {
            return std::iter::once(&small).chain(rest).cloned().collect();
        }
        // A remark in brackets that names nothing only tells more.
        if let [head, rest @ ..] = &parts[..]
            && !head.heads.is_empty()
            && plain.contains('(')
        {
            let named = rest.iter().filter(|part| !part.heads.is_empty());
            return std::iter::once(head).chain(named).cloned().collect();
        }
    }
    let listed: Vec<Part> =
        split_list(plain).iter().enumerate().map(|(place, text)| Part::of(text, place == 0)).collect();
    if listed.len() > 1 && listed.iter().all(Part::is_only_named) {
        return listed;
    }
    // `the gym locker code and the bike lock combination`: each says enough by itself.
    let is_own = |text: &str| ["the ", "my ", "our "].iter().any(|article| fold(text).starts_with(article));
    let items = split_folded(plain, " and ");
    if let [_, rest @ ..] = &items[..]
        && !rest.is_empty()
        && rest.iter().all(|text| is_own(text))
    {
        let parts: Vec<Part> = items.iter().enumerate().map(|(place, text)| Part::of(text, place == 0)).collect();
        if parts.iter().all(Part::is_described) {
            return parts;
        }
    }
    vec![Part::of(plain, true)]
}

pub(super) fn split_alternatives(plain: &str) -> Vec<String> {
    let mut texts = vec![plain.to_owned()];
    for mark in ALTERNATING {
        texts = texts.iter().flat_map(|text| split_folded(text, mark)).collect();
    }
    // Brackets hold another name; a country's trunk zero and an area code are part of a number.
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '+');
    let mut split = Vec::new();
    for text in texts {
        match text.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?))) {
            Some((before, (inside, after)))
                if !is_number(inside)
                    && !before.trim().is_empty()
                    && !before.ends_with(|c: char| c.is_alphanumeric() || c == '/') =>
            {
                split.push(format!("{before} {after}"));
                split.push(inside.to_owned());
            }
            _ => split.push(text),
        }
    }
    split.retain(|text| !text.trim().is_empty());
    split
}

fn split_folded(text: &str, mark: &str) -> Vec<String> {
    let folded = fold(text);
    if folded.len() != text.len() {
        return text.split(mark).map(str::to_owned).collect();
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, _) in folded.match_indices(mark) {
        if place >= start && text.is_char_boundary(place) && text.is_char_boundary(place + mark.len()) {
            parts.push(text[start..place].to_owned());
            start = place + mark.len();
        }
    }
    parts.push(text[start..].to_owned());
    parts
}

fn split_list(plain: &str) -> Vec<String> {
    [" and ", ", ", " & "]
        .iter()
        .fold(vec![plain.to_owned()], |texts, mark| texts.iter().flat_map(|text| split_folded(text, mark)).collect())
}
