//! Words that say how something is said: relations, changes, conditions. Lists are data; `claims` decides.

/// How a value belongs to its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Be,
    /// At a place.
    Live,
    Work,
    Use,
    /// Is answerable for.
    Own,
    Prefer,
    /// Takes place.
    Happen,
    /// Amounts to, costs, takes, allows.
    Amount,
    Name,
    /// Was changed to.
    Change,
    /// Changed its place.
    Move,
    /// Changed what it uses.
    Switch,
}

impl Relation {
    /// Whether only one value can hold.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::Live | Self::Own | Self::Name | Self::Work | Self::Move)
    }

    /// Whether claims of the two may be about one attribute.
    pub(super) fn goes_with(self, other: Self) -> bool {
        use Relation::{Amount, Be, Change, Happen, Live, Move, Switch, Use, Work};
        let loose = |a: Self, b: Self| match (a, b) {
            (Change, Be | Amount | Happen | Use | Change) | (Be, Amount | Happen) => true,
            (Move, Live | Happen | Be) | (Switch, Use | Be | Live) | (Change, Live | Work) => true,
            (Work, Be) => false,
            _ => false,
        };
        self == other || loose(self, other) || loose(other, self)
    }

    /// Whether this one says that the other no longer holds.
    pub(super) fn changes(self, other: Self) -> bool {
        use Relation::{Be, Change, Live, Move, Prefer, Switch, Use, Work};
        matches!(
            (self, other),
            (Move, Live)
                | (Switch, Use | Be | Live)
                | (Change, Be | Use | Live | Work)
                | (Use, Use)
                | (Live, Live)
                | (Work, Work)
                | (Be, Be)
                | (Prefer, Prefer)
        )
    }
}

const RELATIONS: &[(Relation, &[&str])] = &[
    (Relation::Be, &["is", "are", "was", "were", "equals", "stands", "remains", "stays", "became", "becomes", "has"]),
    (
        Relation::Live,
        &[
            "lives",
            "live",
            "living",
            "resides",
            "based",
            "located",
            "sits",
            "headquartered",
            "hosted",
            "stored",
            "kept",
        ],
    ),
    (Relation::Work, &["works", "work", "working", "employed", "joined"]),
    (
        Relation::Use,
        &[
            "uses", "use", "using", "runs", "run", "running", "deployed", "built", "written", "targets", "requires",
            "speaks", "listens",
        ],
    ),
    (
        Relation::Own,
        &[
            "owns",
            "own",
            "owned",
            "maintains",
            "maintained",
            "leads",
            "led",
            "manages",
            "managed",
            "handles",
            "handled",
            "assigned",
        ],
    ),
    (Relation::Prefer, &["prefers", "prefer", "likes", "wants", "drinks", "eats", "drives", "wears"]),
    (
        Relation::Happen,
        &[
            "happens",
            "starts",
            "begins",
            "meets",
            "meet",
            "takes",
            "scheduled",
            "planned",
            "due",
            "ends",
            "opens",
            "closes",
            "occurs",
        ],
    ),
    (
        Relation::Amount,
        &[
            "costs", "cost", "earns", "pays", "weighs", "measures", "allows", "expires", "takes", "holds", "lasts",
            "handles", "limited",
        ],
    ),
    (Relation::Name, &["called", "named", "renamed"]),
    (
        Relation::Change,
        &[
            "changed",
            "changes",
            "raised",
            "increased",
            "lowered",
            "reduced",
            "dropped",
            "rose",
            "fell",
            "grew",
            "went",
            "climbed",
            "improved",
            "set",
            "bumped",
            "extended",
            "shortened",
            "cut",
            "replaced",
            "updated",
            "reset",
            "turned",
        ],
    ),
    (
        Relation::Move,
        &["moved", "moves", "relocated", "rescheduled", "postponed", "shifted", "delayed", "transferred", "pushed"],
    ),
    (Relation::Switch, &["switched", "switches", "migrated", "upgraded", "downgraded", "converted", "ported"]),
];

/// The relation that the word at this place says.
pub(super) fn relation_of(words: &[String], place: usize, word: &str) -> Option<Relation> {
    let relation = RELATIONS.iter().find(|(_, verbs)| verbs.contains(&word)).map(|(relation, _)| *relation)?;
    // A form of `be` or `have` in front of another verb only helps it: `is based in`, `has moved to`.
    let helped = words.get(place + 1..).unwrap_or_default().iter().take(2).find_map(|next| {
        RELATIONS.iter().find(|(of, verbs)| *of != Relation::Be && verbs.contains(&next.as_str())).map(|(of, _)| *of)
    });
    Some(if relation == Relation::Be { helped.unwrap_or(relation) } else { relation })
}

/// The sentence itself says that something is different from before.
pub(super) fn is_marker(word: &str) -> bool {
    matches!(
        word,
        "now"
            | "longer"
            | "instead"
            | "anymore"
            | "currently"
            | "new"
            | "changed"
            | "since"
            | "meanwhile"
            | "latest"
            | "actually"
    )
}

/// Says nothing about what is claimed.
pub(super) fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "been"
            | "again"
            | "still"
            | "to"
            | "from"
            | "just"
            | "today"
            | "yesterday"
            | "recently"
            | "finally"
            | "over"
            | "took"
            | "per"
            | "every"
            | "each"
            | "place"
            | "at"
            | "around"
            | "about"
            | "approximately"
            | "exactly"
            | "already"
    )
}

/// Nouns for who is answerable.
pub(super) fn is_owner(stem: &str) -> bool {
    matches!(stem, "owner" | "maintain" | "lead" | "manag" | "manager" | "head" | "contact" | "assigne")
}

/// Where, when or for whom else it holds.
pub(super) fn is_scope(word: &str) -> bool {
    matches!(
        word,
        "production"
            | "prod"
            | "staging"
            | "development"
            | "dev"
            | "test"
            | "testing"
            | "qa"
            | "local"
            | "locally"
            | "ci"
            | "sandbox"
            | "canary"
            | "beta"
            | "eu"
            | "us"
            | "europe"
            | "asia"
            | "weekdays"
            | "weekends"
            | "weekend"
            | "summer"
            | "winter"
            | "primary"
            | "secondary"
            | "backup"
            | "replica"
            | "mobile"
            | "desktop"
            | "ios"
            | "android"
            | "linux"
            | "windows"
            | "macos"
            | "morning"
            | "evening"
            | "home"
            | "office"
            | "work"
            | "personal"
            | "frontend"
            | "backend"
            | "maximum"
            | "minimum"
            | "average"
            | "internal"
            | "external"
    )
}

/// A further value, a plan, a possibility, somebody's word: both may hold.
pub(super) fn is_doubtful(words: &[String], place: usize, word: &str) -> bool {
    let is_month =
        word == "may" && words.get(place + 1).is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_digit()));
    !is_month
        && matches!(
            word,
            "also"
                | "too"
                | "another"
                | "additionally"
                | "besides"
                | "both"
                | "either"
                | "if"
                | "might"
                | "maybe"
                | "may"
                | "could"
                | "would"
                | "should"
                | "will"
                | "plans"
                | "planning"
                | "hopes"
                | "considering"
                | "thinking"
                | "formerly"
                | "previously"
                | "originally"
                | "once"
                | "visited"
                | "visiting"
                | "visits"
                | "temporarily"
                | "sometimes"
                | "usually"
                | "often"
                | "later"
                | "then"
                | "ago"
                | "born"
        )
}

/// Who is meant, only the sentences around it tell.
pub(super) fn is_pronoun(word: &str) -> bool {
    matches!(
        word,
        "i" | "you"
            | "we"
            | "it"
            | "they"
            | "he"
            | "she"
            | "this"
            | "that"
            | "there"
            | "these"
            | "those"
            | "what"
            | "who"
            | "which"
            | "where"
            | "how"
            | "when"
            | "them"
            | "us"
            | "me"
    )
}

/// `in 2019`, `used to`: told as it was, not as it is.
pub(super) fn tells_history(words: &[String]) -> bool {
    let year = |word: &String| {
        word.len() == 4
            && (word.starts_with("19") || word.starts_with("20"))
            && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let after =
        |first: &str, second: fn(&String) -> bool| words.windows(2).any(|pair| pair[0] == first && second(&pair[1]));
    after("in", year)
        || after("until", |_| true)
        || after("used", |word| word == "to")
        || after("from", year)
        || after("before", |_| true)
}

/// Words that a capital at the beginning does not make a name.
pub(super) fn is_ordinary(word: &str) -> bool {
    crate::words::is_starter(word) || crate::words::is_calendar(word)
}

/// Whether the first word of a sentence is a name: what follows it is what somebody does or has.
pub(super) fn acts_as_subject(words: &[String], place: usize) -> bool {
    words
        .get(place + 1)
        .is_some_and(|next| relation_of(words, place + 1, next).is_some() || is_marker(next) || next == "has")
}
