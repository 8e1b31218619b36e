//! Words that tell two things, attributes or times apart, so that what is said of each may hold.
//!
//! Lists are data; `judging` decides.

/// Words that tell one of several things of a kind from the others.
const TELLING_APART: &[&[&str]] = &[
    &["primary", "secondary", "tertiary", "backup", "fallback"],
    &["work", "private", "personal", "home"],
    &["left", "right"],
    &["upper", "lower"],
    &["front", "rear", "back"],
    &["northern", "southern", "eastern", "western"],
    &["training", "validation", "test"],
    &["gross", "net"],
    &["inbound", "outbound", "incoming", "outgoing"],
    &["mother", "father"],
    &["son", "daughter"],
    &["brother", "sister"],
    &["senior", "junior"],
    &["read", "write"],
    &["hot", "cold"],
    &["treasurer", "secretary", "president", "chair"],
];
/// Times and places at which it may be one or the other; a word of change says that it is another now.
const TIMES_APART: &[&[&str]] = &[
    &["first", "second", "third", "fourth", "fifth"],
    &["morning", "afternoon", "evening", "night"],
    &["spring", "summer", "autumn", "winter"],
    &["q1", "q2", "q3", "q4"],
];

/// Whether the two speak of things, or of times, that words tell apart.
pub(super) fn are_told_apart(mine: &[String], theirs: &[String], is_change: bool) -> bool {
    // What ends a sentence is a value of it.
    let front = |words: &'_ [String]| words.split_last().map_or(0, |(_, rest)| rest.len());
    let held = |words: &[String], group: &[&str]| -> Vec<String> {
        words.iter().filter(|word| group.contains(&word.as_str())).cloned().collect()
    };
    let is_apart = |mine: &[String], theirs: &[String], group: &[&str]| {
        let (mine, theirs) = (held(mine, group), held(theirs, group));
        !mine.is_empty() && !theirs.is_empty() && !mine.iter().any(|word| theirs.contains(word))
    };
    let (mine_front, theirs_front) = (&mine[..front(mine)], &theirs[..front(theirs)]);
    TELLING_APART.iter().any(|group| is_apart(mine_front, theirs_front, group))
        || !is_change && TIMES_APART.iter().any(|group| is_apart(mine, theirs, group))
}

/// Verbs of which a thing does one or the other, at times of their own.
const APART: &[(&[&str], &[&str])] = &[
    (&["opens", "opening"], &["closes", "closing"]),
    (&["starts", "begins", "start", "begin"], &["ends", "finishes", "end", "finish"]),
    (&["arrives", "arrival", "lands"], &["departs", "departure", "leaves"]),
    (&["buys", "bought"], &["sells", "sold"]),
    (&["upload", "uploads"], &["download", "downloads"]),
    (&["birthday"], &["anniversary", "wedding", "exam"]),
    (&["works"], &["lives"]),
    (&["maximum", "max", "most"], &["minimum", "min", "least"]),
];

/// Whether the two speak of attributes that exclude each other.
pub(super) fn speak_apart(mine: &[String], theirs: &[String]) -> bool {
    let holds = |words: &[String], any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
    let is_apart = |a: &[&str], b: &[&str]| holds(mine, a) && holds(theirs, b) && !holds(mine, b) && !holds(theirs, a);
    APART.iter().any(|(a, b)| is_apart(a, b) || is_apart(b, a))
}
