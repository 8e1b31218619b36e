//! Whether a word may be the verb of a clause: enough to see that what stands behind a comma or an `and` is a statement
//! of its own.
//!
//! A list, not a grammar: a verb that is not in it leaves a sentence undivided, and an undivided sentence is kept when
//! it also speaks of somebody else.

use crate::words::base_of;

/// Verbs that need no other form to be one.
#[rustfmt::skip]
const AUXILIARIES: &[&str] = &[
    "am", "are", "can", "cannot", "could", "did", "do", "does", "had", "has", "have", "is", "may", "might", "must",
    "shall", "should", "was", "were", "will", "would",
];

const MODALS: &[&str] = &["can", "cannot", "could", "may", "might", "must", "shall", "should", "will", "would"];

/// What people, things and programs do in notes, in their base form.
#[rustfmt::skip]
const BASES: &[&str] = &[
    "accept", "adopt", "agree", "allow", "answer", "apply", "approve", "arrive", "ask", "attend", "avoid", "bake",
    "become", "begin", "believe", "belong", "block", "book", "borrow", "break", "bring", "build", "buy", "call",
    "cancel", "carry", "cause", "celebrate", "change", "charge", "check", "choose", "clean", "climb", "close", "coach",
    "collect", "come", "confirm", "connect", "contain", "cook", "cost", "cover", "create", "cut", "cycle", "dance",
    "deal", "decide", "deliver", "depend", "deploy", "design", "dislike", "divorce", "draw", "drink", "drive", "drop",
    "earn", "eat", "end", "enjoy", "expect", "expire", "explain", "fail", "fall", "feed", "feel", "fetch", "find",
    "finish", "fix", "fly", "follow", "forget", "get", "give", "go", "graduate", "grow", "handle", "hate", "head",
    "hear", "help", "hold", "host", "hurt", "include", "inherit", "install", "join", "keep", "know", "lead", "leave",
    "lend", "let", "like", "listen", "live", "look", "lose", "love", "maintain", "make", "manage", "marry", "mean",
    "measure", "meet", "mention", "move", "need", "offer", "open", "order", "organise", "organize", "own", "paint",
    "pay", "pick", "plan", "play", "point", "prefer", "prepare", "promise", "provide", "put", "reach", "read",
    "receive", "refuse", "reject", "release", "remain", "remember", "rent", "repair", "replace", "reply", "report",
    "request", "require", "reside", "resign", "retire", "return", "review", "ride", "ring", "run", "say", "schedule",
    "see", "sell", "send", "serve", "share", "ship", "show", "sign", "sing", "sit", "sleep", "smoke", "speak", "spend",
    "stand", "start", "stay", "stop", "store", "study", "suffer", "suggest", "support", "take", "talk", "teach",
    "tell", "test", "think", "train", "travel", "try", "turn", "use", "visit", "volunteer", "wait", "walk", "want",
    "wear", "weigh", "win", "work", "worry", "write",
];

/// In front of a word these say that it is a noun.
#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "a", "an", "another", "any", "each", "every", "her", "his", "its", "my", "no", "our", "some", "that", "the",
    "their", "these", "this", "those", "your", "of", "for", "with", "at", "in", "on", "by", "to",
];

fn is_auxiliary(folded: &str) -> bool {
    AUXILIARIES.contains(&folded)
}

/// Whether a word may be a finite verb where it stands.
pub(super) fn is_verb(folded: &str, before: Option<&str>) -> bool {
    if is_auxiliary(folded) {
        return true;
    }
    !before.is_some_and(|before| DETERMINERS.contains(&before)) && base(folded).is_some()
}

/// `likes`, `works`: what somebody does, with nothing left of who does it.
pub(super) fn is_third_person(folded: &str) -> bool {
    folded.ends_with('s') && !is_auxiliary(folded) && base(folded).is_some_and(|base| base.len() < folded.len())
}

/// A verb that another one without an ending follows.
pub(super) fn is_modal(folded: &str) -> bool {
    MODALS.contains(&folded)
}

/// A form that fits one doer as well as several: `went`, `visited`, `will`.
pub(super) fn fits_one_and_many(folded: &str) -> bool {
    is_modal(folded)
        || matches!(folded, "did" | "had")
        || base_of(folded).is_some_and(is_base)
        || (folded.ends_with("ed") && base(folded).is_some())
}

/// A form without an ending, as after `they`.
pub(super) fn is_plain(folded: &str) -> bool {
    is_base(folded)
}

fn base(folded: &str) -> Option<&str> {
    if is_base(folded) {
        return Some(folded);
    }
    if let Some(base) = base_of(folded).filter(|base| is_base(base)) {
        return Some(base);
    }
    for ending in ["s", "es", "ed", "d"] {
        if let Some(stem) = folded.strip_suffix(ending) {
            if is_base(stem) {
                return Some(stem);
            }
            // `planned`, `stopped`
            let last = stem.chars().next_back().filter(|_| ending == "ed");
            let single = last.and_then(|last| stem.strip_suffix(last).filter(|single| single.ends_with(last)));
            if let Some(single) = single.filter(|single| is_base(single)) {
                return Some(single);
            }
        }
    }
    let with_y = folded.strip_suffix("ies").or_else(|| folded.strip_suffix("ied"))?;
    BASES.iter().find(|base| base.strip_suffix('y') == Some(with_y)).copied()
}

fn is_base(word: &str) -> bool {
    BASES.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_known_in_every_form_and_not_behind_an_article() {
        assert!(BASES.is_sorted(), "{:?}", BASES.windows(2).find(|pair| pair[0] > pair[1]));
        for verb in ["lives", "lived", "studies", "studied", "planned", "went", "is", "prefers", "moved", "teaches"] {
            assert!(is_verb(verb, Some("alice")), "{verb}");
        }
        assert!(!is_verb("works", Some("the")) && !is_verb("paris", None) && !is_verb("in", None));
        assert!(is_third_person("likes") && !is_third_person("like") && !is_third_person("is"));
        assert!(fits_one_and_many("visited") && fits_one_and_many("went") && !fits_one_and_many("live"));
    }
}
