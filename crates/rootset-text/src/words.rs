//! Lists of English words: which a query drops, which are irregular, which begin a sentence without being a name.
//!
//! Sorted, lower-case, one list per purpose. Words are data here; what follows from them is decided by the modules that
//! ask.

mod ordinary;

pub(crate) use ordinary::is_ordinary;

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

/// Words that name nothing, wherever they have a capital: interjections, numbers, and words of the trade. Stop words need not
/// be repeated, nor most of what `is_ordinary` knows.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "absolutely", "according", "action", "actually", "add", "added", "adopt", "allow", "almost", "already", "always",
    "answer", "anytime", "anyway", "api", "apis", "apply", "args", "ask", "async", "autoscaling", "avoid", "awesome",
    "aww", "backend", "background", "backup", "based", "besides", "best", "bet", "better", "big", "boolean", "break",
    "bring", "btw", "bug", "build", "bye", "caching", "call", "change", "changed", "changelog", "changes", "check",
    "checkpoint", "cheers", "choose", "clean", "client", "close", "code", "codebase", "come", "config", "configs",
    "congrats", "congratulations", "consider", "context", "convert", "cool", "crazy", "create", "created", "cron",
    "current", "currently", "cute", "data", "dataset", "datasets", "date", "deadline", "decision", "decisions",
    "default", "define", "delete", "deploy", "deployment", "deployments", "description", "despite", "details",
    "developers", "difficult", "disable", "dockerfile", "docs", "document", "done", "drop", "dropped", "due", "dunno",
    "easy", "eight", "eleven", "enable", "endpoint", "endpoints", "ensure", "enum", "env", "envs", "epic", "error",
    "errors", "even", "every", "everybody", "everyone", "everything", "exactly", "example", "expose", "failover",
    "finally", "find", "first", "five", "fix", "fixed", "fixme", "follow", "found", "four", "frontend", "future",
    "fyi", "generally", "give", "glad", "go", "goal", "goals", "going", "gonna", "good", "got", "gotta", "great",
    "guess", "haha", "hahaha", "handle", "happy", "hard", "hehe", "hello", "help", "hey", "hi", "hmm", "hooray",
    "hope", "hopefully", "hostname", "however", "hundred", "idea", "ideas", "image", "implement", "important",
    "improve", "include", "increase", "indeed", "info", "input", "install", "instead", "issue", "issues", "keep",
    "kinda", "know", "kubeconfig", "last", "lately", "latency", "later", "latest", "learn", "lemme", "life", "like",
    "limit", "linter", "linting", "list", "little", "lmao", "localhost", "log", "logging", "logs", "lol", "long",
    "look", "looking", "lots", "love", "make", "makefile", "many", "maybe", "meanwhile", "meeting", "memory", "merge",
    "message", "metadata", "microservice", "microservices", "middleware", "migrate", "migration", "migrations",
    "million", "mom", "monitor", "moreover", "mostly", "move", "moved", "much", "nah", "namespace", "namespaces",
    "need", "never", "new", "next", "nice", "nine", "nobody", "none", "nope", "note", "notes", "nothing",
    "offboarding", "often", "oh", "ok", "okay", "old", "omg", "onboarding", "one", "ooh", "open", "options",
    "original", "otherwise", "ouch", "output", "owner", "param", "params", "parse", "people", "perhaps", "phew",
    "pick", "plan", "pls", "plugin", "plugins", "prefer", "previous", "previously", "problem", "production", "put",
    "query", "question", "questions", "queue", "queues", "rationale", "read", "readme", "really", "reason", "reasons",
    "recently", "reduce", "refactor", "refactoring", "regarding", "regex", "release", "remember", "remove", "removed",
    "rename", "replace", "replaced", "repo", "repos", "request", "requests", "restart", "result", "results", "retro",
    "retry", "return", "reviewed", "rewrite", "right", "rollback", "rollbacks", "run", "running", "runtime", "say",
    "schema", "schemas", "second", "see", "seems", "send", "server", "set", "seven", "several", "ship", "show",
    "simply", "site", "six", "skip", "small", "snapshot", "snapshots", "something", "sometimes", "somewhere", "soon",
    "sorry", "sorta", "sounds", "split", "staging", "standup", "start", "started", "status", "stay", "stderr", "stdin",
    "stdout", "still", "stop", "store", "stored", "struct", "sub", "summary", "super", "support", "sure", "switch",
    "switched", "sync", "system", "take", "talk", "task", "tasks", "tbh", "tell", "ten", "test", "tests", "thank",
    "thanks", "therefore", "thing", "things", "think", "third", "thousand", "three", "thus", "thx", "time",
    "timestamp", "timestamps", "tip", "title", "today", "todo", "todos", "tomorrow", "totally", "track", "true", "try",
    "tuple", "turn", "twelve", "two", "type", "ugh", "unless", "unlike", "update", "updated", "upgrade", "url", "urls",
    "usage", "use", "used", "user", "username", "users", "using", "usually", "validate", "verify", "version", "wait",
    "wanna", "want", "warning", "watch", "webhook", "webhooks", "welcome", "well", "whenever", "whoa", "woah",
    "woohoo", "work", "workflow", "workflows", "working", "wow", "write", "yay", "yeah", "yep", "yes", "yesterday",
    "yet", "yup",
];

/// In order of the year.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Each at the place of its value.
#[rustfmt::skip]
pub(crate) const SMALL_NUMBERS: [&str; 21] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
];

/// Greater numbers in words are written with several.
pub(crate) const TENS: [(&str, u32); 8] = [
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
];

/// Days and months, which are capitalised everywhere, and their short forms. `jan`, `mar` and `sun` name other things as well.
#[rustfmt::skip]
const CALENDAR: &[&str] = &[
    "apr", "april", "aug", "august", "dec", "december", "feb", "february", "fri", "friday", "january", "july", "june",
    "march", "may", "mon", "monday", "nov", "november", "oct", "october", "saturday", "sept", "september", "sunday",
    "thu", "thur", "thurs", "thursday", "tue", "tues", "tuesday", "wed", "wednesday",
];

/// Words of capitals that everybody uses and that link nothing.
#[rustfmt::skip]
const COMMON_ACRONYMS: &[&str] = &[
    "aka", "am", "api", "asap", "btw", "ceo", "cfo", "ci", "cli", "cpu", "cto", "db", "diy", "dvd", "eof", "err",
    "eta", "false", "faq", "fifo", "fyi", "gb", "gpu", "gui", "hr", "http", "https", "id", "ids", "imo", "info", "io",
    "ip", "it", "kb", "lgtm", "lol", "lru", "mb", "mr", "mvp", "null", "ok", "omg", "oom", "os", "pc", "pdf", "pm",
    "pr", "ps", "qa", "ram", "rtfm", "sdk", "ssd", "tb", "tba", "tbd", "tldr", "todo", "true", "ttl", "tv", "ui",
    "uri", "url", "uuid", "ux", "vip", "vm", "wip", "wtf", "yolo",
];

/// Nouns that lead a name (`Project Falcon`) and are none alone.
const LEADERS: &[&str] =
    &["company", "customer", "department", "group", "operation", "phase", "project", "room", "sprint", "team"];

/// Whether a word in lower case says too little to be searched for.
pub fn is_stop(folded: &str) -> bool {
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
    let is_listed = |word: &str| CALENDAR.binary_search(&word).is_ok();
    is_listed(folded) || folded.strip_suffix("days").is_some_and(|stem| is_listed(&format!("{stem}day")))
}

/// An acronym that names nothing in particular, also in the plural.
pub(crate) fn is_common_acronym(folded: &str) -> bool {
    let is_listed = |word: &str| COMMON_ACRONYMS.binary_search(&word).is_ok();
    is_listed(folded) || folded.strip_suffix('s').is_some_and(is_listed)
}

pub(crate) fn is_leader(folded: &str) -> bool {
    LEADERS.contains(&folded)
}

pub(crate) fn is_number_word(folded: &str) -> bool {
    SMALL_NUMBERS.contains(&folded) || TENS.iter().any(|(word, _)| *word == folded)
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
        assert!(CALENDAR.is_sorted() && COMMON_ACRONYMS.is_sorted());
        assert!(IRREGULAR.is_sorted());
        assert!(IRREGULAR.iter().all(|(_, base)| base_of(base).is_none()), "a base has no base of its own");
    }
}
