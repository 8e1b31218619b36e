//! Words that say how something is said: attributes, changes, conditions, doubts. Lists are data; `claims` decides.
//!
//! All lists hold folded words and are sorted, so that looking a word up does not grow with the list.

use crate::words::{is_calendar, is_stop};

/// How a name belongs to its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Attribute {
    /// Where somebody or something is.
    Place,
    Employer,
    /// What is used, or what something runs on.
    Tool,
    /// Who is answerable.
    Role,
    Title,
    /// What somebody prefers: one thing.
    Taste,
    /// What there may be several of: languages, visits, things liked.
    Several,
}

impl Attribute {
    /// Whether only one name can be right.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::Place | Self::Employer | Self::Role | Self::Title | Self::Taste)
    }
}

#[rustfmt::skip]
const ATTRIBUTES: &[(Attribute, &[&str])] = &[
    (Attribute::Place, &[
        "based", "headquartered", "headquarters", "hosted", "kept", "live", "lives", "living", "located", "office",
        "hangs", "meet", "meets", "moved", "moving", "parked", "place", "put", "relocated", "relocating", "resides", "seat", "sits", "stands", "stays", "stored", "venue",
    ]),
    (Attribute::Employer, &["employed", "employer", "hired", "job", "joined", "work", "working", "works"]),
    (Attribute::Tool, &[
        "built", "deployed", "on", "powered", "run", "running", "runs", "use", "used", "uses", "using", "with", "written",
    ]),
    (Attribute::Role, &[
        "appointed", "assigned", "assignee", "boss", "captain", "ceo", "cfo", "chair", "chairs", "charge", "contact", "coordinator",
        "coo", "cto", "elected", "handed", "handled", "handles", "head", "heads", "lead", "leader", "leads", "led", "maintained",
        "maintainer", "maintains", "manage", "managed", "manager", "manages", "mentor", "organiser", "organizer", "own",
        "owned", "owner", "ownership", "owns", "pm", "president", "replaced", "replaces", "responsibility", "responsible", "reviewer",
        "delivered", "delivers", "edited", "edits", "succeeded", "succeeds", "supervisor", "supplied", "supplies", "teacher", "teaches", "treated", "treats", "treasurer",
    ]),
    (Attribute::Title, &["called", "goes", "named", "name", "rebranded", "renamed", "surname"]),
    (Attribute::Taste, &[
        "drinks", "eats", "favorite", "favourite", "prefer", "preferred", "prefers", "take", "takes", "want", "wants",
    ]),
    (Attribute::Several, &[
        "accepts", "attended", "bought", "friend", "friends", "knows", "like", "liked", "likes", "love", "loves", "met",
        "play", "played", "plays", "read", "reads", "reading", "saw", "speak", "speaks", "supports", "talked", "visit",
        "visited", "visits", "watched", "watching", "went",
    ]),
];

pub(super) fn attributes_of(word: &str) -> impl Iterator<Item = Attribute> {
    ATTRIBUTES.iter().filter(move |(_, words)| words.contains(&word)).map(|(attribute, _)| *attribute)
}

/// How much a word says that something is different from before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    #[default]
    None,
    /// It is often said without a change: `new`, `set`, `since`.
    Weak,
    Strong,
}

#[rustfmt::skip]
const STRONG: &[&str] = &[
    "again", "anymore", "appointed", "bumped", "canceled", "cancelled", "changed", "changes", "climbed", "converted",
    "correction", "cut", "decreased", "delayed", "deprecated", "disabled", "ditched", "divorced", "doubled",
    "downgraded", "dropped", "elected", "enabled", "extended", "fell", "fixed", "granted", "grew", "grown", "halved",
    "handed", "henceforth", "increased", "instead", "longer", "lowered", "migrated", "moved", "moves", "moving", "now",
    "nowadays", "ported", "postponed", "promoted", "pushed", "quit", "raised", "reassigned", "rebooked", "rebranded",
    "rebuilt", "redesigned", "reduced", "reinstalled", "relicensed", "relocated", "renamed", "renegotiated", "reopened",
    "repainted", "repaired", "replaced", "replaces", "rerouted", "rescheduled", "resigned", "resumed", "retired",
    "reverted", "rewritten", "rewrote", "risen", "rose", "scrapped", "shifted", "shortened", "shrank", "shrunk",
    "slipped", "sold", "stepped", "stopped", "succeeded", "swapped", "switched", "switches", "switching", "took",
    "transferred", "tripled", "turned", "updated", "upgraded", "voted",
];

#[rustfmt::skip]
const WEAK: &[&str] = &[
    "abandoned", "accepted", "actually", "added", "adopted", "approved", "archived", "became", "becomes", "began",
    "broke", "chose", "closed", "completed", "currently", "decided", "done", "down", "expanded", "finally", "finished",
    "further", "gone", "has", "have", "hit", "improved", "is", "joined", "just", "landed", "latest", "launched", "left",
    "makes", "married", "meanwhile", "merged", "new", "newest", "only", "passed", "paused", "picked", "put", "raises",
    "reached", "recently", "rejected", "removed", "reset", "resolved", "set", "shipped", "signed", "since", "started",
    "starting", "today", "up", "went", "won", "yesterday",
];

/// Phrases of two and three words.
#[rustfmt::skip]
const STRONG_PHRASES: &[&str] = &[
    "as of", "away from", "back to", "back up", "brought forward", "called off", "down from", "down to", "from now",
    "gave up", "going forward", "in favor", "in favour", "is off", "no more", "on hold", "passed to", "put back",
    "put off", "rather than", "shut down", "taken over", "these days", "took over", "turns out", "up from", "up to",
    "went from", "went up", "went down", "wrapped up",
];

pub(super) fn change_of(words: &[String], place: usize) -> Change {
    let word = words[place].as_str();
    let is_phrase = |phrase: &&&str| {
        phrase
            .split_once(' ')
            .is_some_and(|(first, second)| first == word && words.get(place + 1).is_some_and(|next| next == second))
    };
    let is_from_now = begins_now(words, place);
    let is_forward = word == "forward" && words[..place].iter().any(|it| it == "brought");
    let is_since = word == "since"
        && words.get(place + 1).is_some_and(|next| is_calendar(next) || matches!(next.as_str(), "last" | "yesterday"));
    if STRONG.binary_search(&word).is_ok()
        || is_since
        || is_forward
        || is_from_now
        || STRONG_PHRASES.iter().find(is_phrase).is_some()
    {
        Change::Strong
    } else if !matches!(word, "is" | "has" | "have") && WEAK.binary_search(&word).is_ok() {
        Change::Weak
    } else {
        Change::None
    }
}

/// Words behind which stands what no longer holds, up to what follows it.
pub(super) fn tells_former(words: &[String], place: usize) -> bool {
    let before = |back: usize| place.checked_sub(back).map_or("", |at| words[at].as_str());
    match words[place].as_str() {
        // `from this month on`
        "from" => {
            before(1) != "apart" && !begins_now(words, place) && words.get(place + 1).is_none_or(|next| next != "now")
        }
        "than" => before(1) == "rather",
        "of" => before(1) == "instead" || (before(1) == "place" && before(2) == "in"),
        "longer" | "more" => before(1) == "no",
        "replaces" | "ditched" | "dropped" | "retired" | "scrapped" | "replaced" | "deprecated" | "swapped" => {
            words.get(place + 1).is_none_or(|next| next != "by" && next != "to" && next != "from")
        }
        "using" => before(1) == "stopped",
        "left" => words.get(place + 1).is_some_and(|next| !is_stop(next) && next != "early"),
        "up" => before(1) == "gave",
        "previously" | "formerly" | "was" => true,
        _ => false,
    }
}

/// `from May on`, `from here on`: what holds from a time on.
fn begins_now(words: &[String], place: usize) -> bool {
    words[place] == "from"
        && (words.iter().skip(place + 2).take(2).any(|word| matches!(word.as_str(), "on" | "onward" | "onwards"))
            || words.get(place + 1).is_some_and(|word| matches!(word.as_str(), "today" | "tomorrow" | "now")))
}

/// Somebody who does this does no more what was said of them.
pub(super) fn tells_departure(word: &str) -> bool {
    matches!(
        word,
        "leave"
            | "left"
            | "moved"
            | "quit"
            | "resigned"
            | "retired"
            | "stepped"
            | "abroad"
            | "handed"
            | "leaves"
            | "leaving"
    )
}

/// Words that end what is told as former.
pub(super) fn ends_former(word: &str) -> bool {
    matches!(
        word,
        "to" | "with" | "by" | "for" | "in" | "and" | "but" | "because" | "now" | "so" | "after" | "is" | "at" | "on"
    )
}

/// Words that say nothing of what is claimed.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "ago", "already", "approximately", "around", "become", "came", "closes", "come", "comes", "day", "days", "decided",
    "ended", "even", "every", "everybody", "everyone", "exactly", "finally", "fine", "first", "fixes", "fully", "get",
    "gets", "getting", "given", "go", "goes", "going", "good", "got", "gotten", "great", "happens", "happy", "hello",
    "hey", "last", "later", "like", "link", "lot", "made", "make", "makes", "making", "mention", "mentioned", "month",
    "much", "next", "night", "noted", "officially", "ok", "okay", "one", "per", "place", "pr", "really", "ref", "said",
    "say", "says", "see", "still", "sure", "take", "taken", "takes", "tell", "thing", "things", "time", "times", "told",
    "took", "update", "used", "user", "using", "want", "wanted", "wants", "way", "week", "weeks", "well", "went",
    "wrote", "yeah", "year", "years", "yes", "yet",
];

pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.binary_search(&word).is_ok()
}

/// Words of everyday talk and work: that both texts hold them says little.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "able", "add", "added", "answer", "ask", "asked", "bad", "beautiful", "best", "better", "big", "bit", "book",
    "bring", "bug", "build", "call", "care", "case", "change", "check", "city", "code", "cool", "data", "different",
    "easy", "end", "event", "excited", "family", "feel", "feeling", "file", "files", "find", "fix", "food", "form",
    "friend", "friends", "full", "fun", "game", "give", "group", "guy", "hard", "help", "helped", "home", "hope",
    "house", "idea", "important", "inspiring", "issue", "job", "keep", "kind", "know", "learn", "left", "let", "life",
    "line", "list", "little", "long", "look", "looking", "love", "main", "man", "mean", "meet", "mind", "more", "move",
    "name", "need", "needs", "nice", "number", "old", "open", "part", "people", "person", "pick", "plan", "point",
    "problem", "project", "question", "read", "ready", "real", "reason", "request", "right", "run", "school", "see",
    "set", "share", "show", "side", "small", "something", "sound", "sounds", "special", "start", "started", "step",
    "story", "stuff", "support", "system", "talk", "team", "test", "tests", "thank", "thanks", "think", "thought",
    "today", "together", "try", "trying", "turn", "two", "type", "understand", "use", "user", "value", "version",
    "wait", "watch", "wonderful", "word", "work", "working", "world", "write", "wrong",
];

pub(super) fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// Names for one attribute, the first standing for the others. Stems.
#[rustfmt::skip]
const SAME: &[&[&str]] = &[
    &["phone", "telephon", "mobil", "cell", "hotlin"],
    &["headquart", "hq", "seat"],
    &["mail", "email", "e-mail", "mailbox"],
    &["price", "cost", "fee", "charg", "rate"],
    &["deadlin", "due", "submiss"],
    &["meet", "sync", "call"],
    &["subscrib", "subscript"],
    &["car", "vehicl"],
    &["salari", "wage", "pay"],
    &["flat", "apart"],
    &["repo", "repositori"],
    &["db", "databas"],
    &["postgr", "postgresql"],
    &["k8s", "kubernet"],
    &["config", "configur"],
    &["prod", "product"],
    &["app", "applic"],
    &["doctor", "dr", "physician"],
    &["appoint", "appt"],
    &["ci", "pipelin"],
    &["bin", "collect"],
    &["photo", "pictur"],
    &["vacat", "holiday"],
    &["pm", "manag"],
    &["repli", "answer", "respons"],
    &["launch", "releas", "rollout"],
    &["start", "begin"],
    &["end", "finish", "close"],
    &["surnam", "name"],
    &["owner", "ownership"],
    &["respons", "responsibl"],
];

/// The stem that stands for all that mean the same.
pub(super) fn meaning_of(stem: String) -> String {
    match SAME.iter().find(|same| same.contains(&stem.as_str())) {
        Some(same) => same[0].to_owned(),
        None => stem,
    }
}

/// Where, when or for whom else it holds.
#[rustfmt::skip]
const SCOPES: &[&str] = &[
    "android", "apac", "backend", "beta", "dev", "development", "emea", "eu", "external", "frontend", "internal", "ios",
    "linux", "local", "locally", "macos", "nightly", "personal", "prod", "production", "qa", "sandbox", "staging", "uk",
    "us", "weekday", "weekdays", "weekend", "weekends", "windows",
];

pub(super) fn scope_of(words: &[String], place: usize, written: &str) -> Option<&'static str> {
    let before = place.checked_sub(1).map_or("", |at| words[at].as_str());
    let is_moment = matches!(before, "last" | "this" | "next" | "over");
    let place = SCOPES.binary_search(&words[place].as_str()).ok().filter(|_| !is_moment && written != "us")?;
    Some(match SCOPES[place] {
        "prod" => "production",
        "development" => "dev",
        "locally" => "local",
        scope => scope,
    })
}

/// What somebody wants, and what for.
pub(super) fn is_wish(word: &str) -> bool {
    matches!(word, "if" | "should" | "want" | "wants" | "will")
}

/// A further value, a plan, a possibility, somebody's word: both may hold.
pub(super) fn is_doubtful(words: &[String], place: usize, is_first: bool) -> bool {
    let next = words.get(place + 1).map_or("", String::as_str);
    let before = place.checked_sub(1).map_or("", |at| words[at].as_str());
    // What holds from now on is no plan.
    let says_now = words
        .iter()
        .any(|word| matches!(word.as_str(), "now" | "instead" | "longer" | "starting" | "onwards" | "henceforth"));
    match words[place].as_str() {
        // `too small` is something else.
        "would" => next != "rather",
        "too" => next.is_empty() || is_stop(next),
        "also" | "another" | "additionally" | "besides" | "both" | "either" | "if" | "might" | "maybe" | "could"
        | "considering" | "thinking" | "hopes" | "hope" | "hoping" | "temporarily" | "sometimes" | "occasionally"
        | "wondering" | "perhaps" | "imagine" | "unless" | "wish" | "suggests" | "suggested" | "proposed"
        | "proposes" | "debating" | "discussing" | "rumour" | "rumor" => true,
        "well" => before == "as",
        "may" => {
            let is_month = |word: &str| word.parse::<u8>().is_ok();
            let leads_to_month =
                matches!(before, "by" | "end" | "for" | "from" | "in" | "of" | "since" | "to" | "until");
            !is_month(next) && !is_month(before) && !leads_to_month && !says_now
        }
        "will" | "should" | "can" => !says_now && !matches!(words[place].as_str(), "can"),
        "someday" | "eventually" => true,
        "day" => before == "some",
        "plan" | "plans" | "planning" | "want" | "wants" | "like" => next == "to",
        "visited" | "visiting" => true,
        "new" => is_first && next == "idea",
        _ => false,
    }
}

/// `has an office in Kiel`.
pub(super) fn tells_one_of_several(words: &[String]) -> bool {
    words.windows(2).any(|pair| matches!(pair[0].as_str(), "has" | "have") && matches!(pair[1].as_str(), "a" | "an"))
}

/// `in 2019`, `used to`: told as it was, not as it is.
pub(super) fn tells_history(words: &[String]) -> bool {
    let after =
        |first: &str, second: fn(&str) -> bool| words.windows(2).any(|pair| pair[0] == first && second(&pair[1]));
    let is_ago = words.iter().any(|word| matches!(word.as_str(), "ago" | "formerly" | "originally" | "born"));
    is_ago
        || after("in", is_year)
        || after("between", is_year)
        || after("since", is_year)
        || after("until", |word| is_year(word) || word == "recently" || word == "then")
        || words.iter().any(|word| matches!(word.as_str(), "was" | "were" | "worked" | "lived"))
            && words.iter().any(|word| word == "until")
        || words.first().is_some_and(|word| word == "until")
        || after("used", |word| word == "to")
        || after("from", is_year)
        || after("last", |word| word == "year")
        || after("back", |word| matches!(word, "then" | "when"))
}

pub(super) fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Behind these a sentence gives reasons and circumstances.
pub(super) fn begins_aside(word: &str) -> bool {
    matches!(
        word,
        "because" | "since" | "after" | "due" | "thanks" | "which" | "who" | "while" | "so" | "when" | "although"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_so_that_lookups_find_everything() {
        for list in [STRONG, WEAK, FILLERS, COMMON, SCOPES] {
            assert!(list.is_sorted(), "{:?}", list.windows(2).find(|pair| pair[0] > pair[1]));
        }
    }
}
