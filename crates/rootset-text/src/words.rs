//! Lists of English words: which a query drops, which are irregular, which begin a sentence without being a name.
//!
//! Sorted, lower-case, one list per purpose. Words are data here; what follows from them is decided by the modules that
//! ask.

/// Words that a query does not look for. Halves of contractions are in it, because an apostrophe ends a word.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "ain", "all", "also", "although", "am", "an", "and", "any",
    "are", "aren", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by",
    "can", "cannot", "could", "couldn", "did", "didn", "do", "does", "doesn", "doing", "don", "down", "during", "each",
    "either", "else", "etc", "ever", "few", "for", "from", "further", "get", "had", "hadn", "has", "hasn", "have",
    "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if", "in", "into",
    "is", "isn", "it", "its", "itself", "just", "let", "ll", "may", "me", "might", "mightn", "more", "most", "must",
    "mustn", "my", "myself", "needn", "neither", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or",
    "other", "our", "ours", "ourselves", "out", "over", "own", "please", "re", "same", "shall", "shan", "she",
    "should", "shouldn", "since", "so", "some", "such", "than", "that", "the", "their", "theirs", "them", "themselves",
    "then", "there", "these", "they", "this", "those", "though", "through", "to", "too", "under", "until", "up", "us",
    "ve", "very", "was", "wasn", "we", "were", "weren", "what", "whatever", "when", "where", "whether", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "won", "would", "wouldn", "you",
    "your", "yours", "yourself", "yourselves",
];

/// What may follow an apostrophe inside a word: `Caroline's`, `don't`, `we'll`.
const CLITICS: &[&str] = &["d", "ll", "m", "re", "s", "t", "ve"];

/// Forms that no rule of the stemmer reaches, with their base.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("analyses", "analysis"), ("appendices", "appendix"), ("ate", "eat"), ("became", "become"), ("began", "begin"),
    ("begun", "begin"), ("bent", "bend"), ("bitten", "bite"), ("blew", "blow"), ("blown", "blow"), ("bought", "buy"),
    ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("built", "build"), ("came", "come"),
    ("caught", "catch"), ("children", "child"), ("chose", "choose"), ("chosen", "choose"), ("criteria", "criterion"),
    ("dealt", "deal"), ("does", "do"), ("done", "do"), ("drank", "drink"), ("drawn", "draw"), ("drew", "draw"),
    ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"), ("eaten", "eat"), ("fallen", "fall"),
    ("feet", "foot"), ("fell", "fall"), ("felt", "feel"), ("flew", "fly"), ("flown", "fly"), ("forgave", "forgive"),
    ("forgot", "forget"), ("forgotten", "forget"), ("fought", "fight"), ("found", "find"), ("froze", "freeze"),
    ("frozen", "freeze"), ("gave", "give"), ("geese", "goose"), ("given", "give"), ("goes", "go"), ("gone", "go"),
    ("got", "get"), ("gotten", "get"), ("grew", "grow"), ("grown", "grow"), ("heard", "hear"), ("held", "hold"),
    ("hid", "hide"), ("hidden", "hide"), ("hung", "hang"), ("indices", "index"), ("kept", "keep"), ("knew", "know"),
    ("knives", "knife"), ("known", "know"), ("led", "lead"), ("left", "leave"), ("lent", "lend"), ("lost", "lose"),
    ("made", "make"), ("matrices", "matrix"), ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mouse"),
    ("paid", "pay"), ("ran", "run"), ("rang", "ring"), ("ridden", "ride"), ("risen", "rise"), ("rode", "ride"),
    ("rose", "rise"), ("said", "say"), ("sang", "sing"), ("sank", "sink"), ("saw", "see"), ("seen", "see"),
    ("sent", "send"), ("shaken", "shake"), ("shook", "shake"), ("shot", "shoot"), ("slept", "sleep"), ("sold", "sell"),
    ("sought", "seek"), ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("stole", "steal"),
    ("stolen", "steal"), ("stood", "stand"), ("struck", "strike"), ("stuck", "stick"), ("sung", "sing"),
    ("swam", "swim"), ("swept", "sweep"), ("swum", "swim"), ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"),
    ("thought", "think"), ("threw", "throw"), ("thrown", "throw"), ("told", "tell"), ("took", "take"),
    ("understood", "understand"), ("vertices", "vertex"), ("went", "go"), ("wives", "wife"), ("woke", "wake"),
    ("women", "woman"), ("wore", "wear"), ("worn", "wear"), ("written", "write"), ("wrote", "write"),
];

/// Words that often begin a sentence, a list item or a label with a capital and name nothing. Stop words
/// need not be repeated.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "absolutely", "according", "action", "actually", "add", "added", "adopt", "allow", "almost", "already", "always",
    "answer", "anytime", "anyway", "apply", "ask", "avoid", "awesome", "aww", "background", "backup", "based",
    "besides", "best", "bet", "better", "big", "break", "bring", "btw", "bug", "build", "bye", "call", "change",
    "changed", "changes", "check", "choose", "clean", "client", "close", "code", "come", "config", "congrats",
    "congratulations", "consider", "context", "convert", "cool", "crazy", "create", "created", "current", "currently",
    "cute", "data", "date", "deadline", "decision", "decisions", "default", "define", "delete", "deploy",
    "description", "despite", "details", "developers", "difficult", "disable", "docs", "document", "done", "drop",
    "dropped", "due", "easy", "enable", "ensure", "epic", "error", "errors", "even", "every", "everybody", "everyone",
    "everything", "exactly", "example", "expose", "finally", "find", "first", "fix", "fixed", "fixme", "follow",
    "found", "future", "fyi", "generally", "give", "glad", "go", "goal", "goals", "going", "good", "got", "gotta",
    "great", "guess", "haha", "handle", "happy", "hard", "hello", "help", "hey", "hi", "hope", "hopefully", "however",
    "idea", "ideas", "image", "implement", "important", "improve", "include", "increase", "indeed", "info", "input",
    "install", "instead", "issue", "issues", "keep", "know", "last", "lately", "later", "latest", "learn", "life",
    "like", "limit", "list", "little", "log", "logs", "lol", "long", "look", "looking", "lots", "love", "make", "many",
    "maybe", "meanwhile", "meeting", "memory", "merge", "message", "migrate", "mom", "monitor", "moreover", "mostly",
    "move", "moved", "much", "need", "never", "new", "next", "nice", "nobody", "none", "note", "notes", "nothing",
    "often", "oh", "ok", "okay", "old", "one", "open", "options", "original", "otherwise", "output", "owner", "parse",
    "people", "perhaps", "pick", "plan", "prefer", "previous", "previously", "problem", "production", "put", "query",
    "question", "questions", "rationale", "read", "really", "reason", "reasons", "recently", "reduce", "refactor",
    "regarding", "release", "remember", "remove", "removed", "rename", "replace", "replaced", "request", "requests",
    "restart", "result", "results", "retry", "return", "reviewed", "rewrite", "right", "run", "running", "say",
    "second", "see", "seems", "send", "server", "set", "several", "ship", "show", "simply", "site", "skip", "small",
    "something", "sometimes", "somewhere", "soon", "sorry", "sounds", "split", "staging", "start", "started", "status",
    "stay", "still", "stop", "store", "stored", "sub", "summary", "super", "support", "sure", "switch", "switched",
    "system", "take", "talk", "task", "tasks", "tell", "test", "tests", "thank", "thanks", "therefore", "thing",
    "things", "think", "third", "thus", "time", "tip", "title", "today", "todo", "tomorrow", "totally", "track",
    "true", "try", "turn", "two", "type", "unless", "unlike", "update", "updated", "upgrade", "usage", "use", "used",
    "user", "users", "using", "usually", "validate", "verify", "version", "wait", "want", "warning", "watch",
    "welcome", "well", "whenever", "woah", "work", "working", "wow", "write", "yeah", "yep", "yes", "yesterday", "yet",
];

/// Days and months, which are capitalised everywhere.
#[rustfmt::skip]
const CALENDAR: &[&str] = &[
    "april", "august", "december", "february", "friday", "january", "july", "june", "march", "may", "monday",
    "november", "october", "saturday", "september", "sunday", "thursday", "tuesday", "wednesday",
];

/// Nouns that lead a name (`Project Falcon`) and are none alone.
const LEADERS: &[&str] =
    &["company", "customer", "department", "group", "operation", "phase", "project", "room", "sprint", "team"];

pub(crate) fn is_stop(folded: &str) -> bool {
    STOP.binary_search(&folded).is_ok()
}

pub(crate) fn is_clitic(word: &str) -> bool {
    CLITICS.iter().any(|clitic| clitic.eq_ignore_ascii_case(word))
}

/// An ordinary word that a capital letter does not make a name.
pub(crate) fn is_starter(folded: &str) -> bool {
    STARTERS.binary_search(&folded).is_ok() || is_stop(folded)
}

pub(crate) fn is_calendar(folded: &str) -> bool {
    CALENDAR.contains(&folded)
}

pub(crate) fn is_leader(folded: &str) -> bool {
    LEADERS.contains(&folded)
}

/// The base of an irregular form.
pub(crate) fn base_of(folded: &str) -> Option<&'static str> {
    IRREGULAR.binary_search_by_key(&folded, |&(form, _)| form).ok().map(|index| IRREGULAR[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_so_that_lookups_find_everything() {
        assert!(STOP.is_sorted());
        assert!(STARTERS.is_sorted(), "{:?}", STARTERS.windows(2).find(|pair| pair[0] > pair[1]));
        assert!(IRREGULAR.is_sorted());
        assert!(IRREGULAR.iter().all(|(_, base)| base_of(base).is_none()), "a base has no base of its own");
    }
}
