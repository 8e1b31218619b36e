//! Words of a request that name nothing: how it begins, how it ends, and what turns to the point.
//!
//! Lists are data; what follows from them is decided by `request`.

use crate::words::is_stop;

/// What a request begins with before it comes to the point.
#[rustfmt::skip]
const LEADING: &[&str] = &[
    "any", "anything", "bit", "bits", "clear", "content", "contents", "copies", "copy", "data", "delete", "detail",
    "details", "discard", "drop", "entries", "entry", "erase", "every", "everything", "fact", "facts", "forget", "get",
    "info", "information", "item", "items", "kept", "know", "knowledge", "known", "last", "memories", "memory",
    "mention", "mentioned", "mentions", "note", "notes", "piece", "pieces", "please", "purge", "record", "recorded",
    "records", "redact", "reference", "references", "remember", "remembered", "remove", "rid", "saved", "scrub",
    "single", "store", "stored", "stuff", "thing", "things", "trace", "traces", "whatever", "wipe",
];

/// Between what a request begins with and its point.
#[rustfmt::skip]
const TURNING: &[&str] = &[
    "about", "belonging", "called", "concerning", "containing", "for", "from", "in", "involving", "linked",
    "mentioning", "named", "naming", "of", "on", "re", "referring", "regarding", "related", "relating", "that", "to",
    "with",
];

/// What a request ends with after its point.
#[rustfmt::skip]
const TRAILING: &[&str] = &[
    "altogether", "anymore", "anything", "completely", "data", "database", "detail", "details", "entirely", "entries",
    "entry", "everything", "fact", "facts", "forever", "good", "info", "information", "item", "items", "memories",
    "memory", "mentions", "note", "notes", "permanently", "please", "profile", "record", "records", "reference",
    "references", "store", "stuff", "thanks", "thing", "things",
];

/// Verbs and quantities that are no part of the point even without a turning word.
const REQUEST: &[&str] =
    &["any", "anything", "delete", "erase", "every", "everything", "forget", "please", "purge", "remove"];

/// Between a thing and what only tells more of it: `Sarah Chen from accounting`.
#[rustfmt::skip]
const DESCRIBING: &[&str] = &[
    "at", "by", "for", "from", "in", "of", "on", "our", "that", "the", "which", "who", "whose", "with", "a", "an", "my",
    "your", "their",
];

/// Nouns that say what a named thing is, in front of its name.
#[rustfmt::skip]
const LEADERS: &[&str] = &[
    "account", "app", "client", "codename", "company", "contact", "customer", "department", "employee", "group",
    "initiative", "invoice", "issue", "operation", "order", "patient", "phase", "product", "program", "project", "repo",
    "repository", "room", "server", "service", "sprint", "supplier", "team", "ticket", "user", "vendor",
];

/// Leaders of names that nobody bears: such a name may stand in the plural, and is no person's.
const LEADERS_OF_THINGS: &[&str] = &["codename", "initiative", "operation", "phase", "product", "program", "project"];

/// From here on a request says what is to be kept.
pub(super) const KEEPING: &[&str] = &[
    " except for ",
    " except ",
    " but not ",
    " but keep ",
    " other than ",
    " excluding ",
    " apart from ",
    " aside from ",
    ", not ",
    "; keep ",
    ", keep ",
    " without touching ",
];

/// Between two names of one thing, or two things that are both meant.
pub(super) const ALTERNATING: &[&str] =
    &[" / ", " or ", " aka ", " a.k.a. ", " a/k/a ", " also known as ", " alias ", " formerly ", "; ", " | "];

pub(super) fn is_leading(folded: &str) -> bool {
    LEADING.contains(&folded) || is_stop(folded)
}

pub(super) fn is_turning(folded: &str) -> bool {
    TURNING.contains(&folded)
}

pub(super) fn is_trailing(folded: &str) -> bool {
    TRAILING.contains(&folded) || TURNING.contains(&folded) || is_stop(folded)
}

pub(super) fn is_request_word(folded: &str) -> bool {
    REQUEST.contains(&folded)
}

pub(super) fn is_describing(folded: &str) -> bool {
    DESCRIBING.contains(&folded)
}

pub(super) fn is_leader(folded: &str) -> bool {
    LEADERS.contains(&folded)
}

pub(super) fn is_leader_of_things(folded: &str) -> bool {
    LEADERS_OF_THINGS.contains(&folded)
}

/// Words that say the same about somebody, so that the one is found where the other was asked for.
const SAME: &[&[&str]] = &[
    &["phone", "telephone", "mobile", "cell", "number", "call"],
    &["mail", "email", "e-mail", "inbox"],
    &["address", "lives", "live", "living", "street", "moved", "residence"],
    &["birthday", "born", "birthdate", "birth"],
    &["salary", "earns", "paid", "pay", "wage", "compensation"],
    &["job", "works", "work", "employer", "role", "position"],
    &["diagnosis", "diagnosed", "condition", "medical", "health", "illness"],
    &["allergy", "allergic", "allergies"],
    &["password", "passphrase", "credentials"],
    &["wife", "husband", "spouse", "married", "partner"],
];

/// The other words for an attribute.
pub(super) fn synonyms(folded: &str) -> &'static [&'static str] {
    SAME.iter().find(|same| same.contains(&folded)).copied().unwrap_or_default()
}
