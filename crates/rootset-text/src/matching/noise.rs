//! Words of a request that name nothing: how it begins, how it ends, and what turns to the point.
//!
//! Lists are data; what follows from them is decided by `request`.

use crate::words::is_stop;

/// What a request begins with before it comes to the point.
#[rustfmt::skip]
const LEADING: &[&str] = &[
    "already", "any", "anything", "bit", "bits", "clear", "content", "contents", "copies", "copy", "data", "delete", "detail",
    "details", "discard", "drop", "entries", "entry", "erase", "every", "everything", "fact", "facts", "forget", "get",
    "forgetting", "info", "information", "item", "items", "keep", "kept", "know", "knowledge", "known", "last", "leave", "memories", "memory",
    "mention", "mentioned", "mentions", "might", "note", "notes", "piece", "pieces", "please", "purge", "record", "recorded",
    "records", "redact", "reference", "references", "remember", "remembered", "remove", "rid", "saved", "scrub",
    "single", "still", "store", "stored", "stuff", "thing", "things", "touch", "trace", "traces", "whatever", "whole", "wipe",
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
    "alone", "altogether", "anymore", "anything", "intact", "untouched", "completely", "data", "database", "detail", "details", "entirely", "entries",
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
    ", only keep ",
    ", just keep ",
    "; only keep ",
    ". only keep ",
    " and only keep ",
    " but only keep ",
    " only keeping ",
    "; keep ",
    ", keep ",
    " without touching ",
    " without removing ",
    " without deleting ",
    " save for ",
    " except that ",
    " but leave ",
    " but don't ",
    " but don’t ",
    " but do not ",
    " but the ",
    " while keeping ",
    " leaving ",
    ". keep ",
    ". leave ",
    ". don't ",
    ". don’t ",
    ". do not ",
    "; leave ",
    "; don't ",
    "; do not ",
    ", but keep ",
    ", but not ",
    ", but leave ",
    " and keep ",
    ", except ",
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

/// What a request is wrapped in: nothing of it says what is meant.
#[rustfmt::skip]
const OPENING: &[&str] = &[
    "please", "hey", "hi", "hello", "ok", "okay", "kindly", "just", "so", "also", "now", "and", "could you", "can you",
    "would you", "will you", "you can", "you should", "you may", "i want you to", "i need you to", "i'd like you to",
    "i’d like you to", "i would like you to", "i want to", "i'd like to", "i’d like to", "i would like to", "let's",
    "let’s", "help me", "go ahead and", "make sure to", "make sure you", "be sure to", "try to", "don't remember",
    "do not remember", "stop remembering", "don't keep", "do not keep", "no longer remember", "um", "uh", "well", "i guess", "i think",
    "gdpr request from", "gdpr request for", "erasure request from", "erasure request for", "i don't need", "i dont need",
    "i do not need", "i no longer need", "i don't want to be reminded of", "i do not want to be reminded of",
    "you don't need to remember", "you do not need to remember",
];

/// What a request ends with.
#[rustfmt::skip]
const CLOSING: &[&str] = &[
    "please", "thanks", "thank you", "nothing else", "and nothing else", "but nothing else", "nothing more", "only",
    "right now", "now", "immediately", "for me", "from memory", "from my memory", "from your memory", "ever again",
    "as soon as possible", "asap", "would you", "will you", "could you", "can you", "if you can", "if possible",
    "for good", "once and for all", "from my profile", "from your notes", "from the notes", "from our records",
    "from your records", "from the records", "from the database", "from storage", "all of it", "forget it", "forget that",
    "delete it", "remove it", "erase it", "forget all of it", "has to go", "have to go", "can go", "must go", "should go", "needs to go",
    "can be deleted", "can be removed", "can be forgotten", "is no longer needed", "anymore", "any more", "any longer", "every record",
    "everything about it", "everything about her", "everything about him", "everything about them", "erase her", "erase him",
    "erase them", "delete her", "delete him", "delete them", "forget her", "forget him", "forget them", "remove her", "remove him",
    "remove them",
];

/// A request without what it is wrapped in.
pub(super) fn core(plain: &str) -> &str {
    let mut rest = plain.trim();
    let is_border = |c: char| !c.is_alphanumeric();
    loop {
        let folded = rest.to_ascii_lowercase();
        let starts = OPENING.iter().filter(|it| {
            folded.strip_prefix(**it).is_some_and(|rest| rest.starts_with([' ', ',']))
                && rest.is_char_boundary(it.len())
        });
        let ends = CLOSING.iter().filter(|it| {
            folded.trim_end_matches(is_border).strip_suffix(**it).is_some_and(|rest| rest.ends_with([' ', ',']))
        });
        if let Some(opening) = starts.max_by_key(|it| it.len()) {
            rest = rest[opening.len()..].trim_start_matches([' ', ',']);
        } else if let Some(closing) = ends.max_by_key(|it| it.len()) {
            let trimmed = rest.trim_end_matches(|c: char| is_border(c) && !matches!(c, '"' | '`' | '”'));
            if trimmed.len() < closing.len() || trimmed.ends_with(['"', '`', '”']) {
                return rest;
            }
            rest = trimmed[..trimmed.len() - closing.len()].trim_end_matches([' ', ',', '-', '–']);
        } else {
            return rest;
        }
    }
}

/// In front of a word in small letters these say that it is a name.
const SMALL_LEADERS: &[&str] =
    &["account", "database", "handle", "host", "hostname", "login", "machine", "nick", "server", "user", "username"];

pub(super) fn is_small_leader(folded: &str) -> bool {
    SMALL_LEADERS.contains(&folded)
}

/// What somebody may have that has a name of its own: `the project Alice leads`.
#[rustfmt::skip]
const CHAINED: &[&str] = &[
    "app", "application", "campaign", "cat", "client", "company", "customer", "dog", "initiative", "library", "pet",
    "product", "programme", "project", "repo", "repository", "server", "service", "startup", "system", "team", "tool",
];

pub(super) fn is_chained(folded: &str) -> bool {
    CHAINED.contains(&folded)
}

/// Who somebody may be to another: `Viktor's landlord`.
#[rustfmt::skip]
const ROLES: &[&str] = &[
    "accountant", "advisor", "assistant", "aunt", "boss", "boyfriend", "brother", "coach", "cousin", "dentist", "doctor", "electrician",
    "employer", "ex", "fiance", "fiancee", "flatmate", "girlfriend", "grandfather", "grandmother", "hairdresser", "husband", "landlady",
    "landlord", "lawyer", "manager", "mechanic", "mentor", "mother", "father", "nanny", "neighbor", "neighbour", "nurse", "optician",
    "partner", "physio", "plumber", "roommate", "sister", "solicitor", "son", "daughter", "supervisor", "teacher", "tenant", "therapist",
    "trainer", "tutor", "uncle", "vet", "wife",
];

pub(super) fn is_role(folded: &str) -> bool {
    ROLES.contains(&folded)
}

/// Words of a request that mean all that is known, and not one fact.
const ALL_OF: &[&str] = &["all", "any", "anything", "every", "everything", "nothing", "whatever"];

/// Whether a request asks for all that is known of something: `everything about …`, `what you know about …`.
pub(super) fn says_all(plain: &str) -> bool {
    let folded = plain.to_lowercase();
    folded.contains("know about") || folded.split(|c: char| !c.is_alphabetic()).any(|word| ALL_OF.contains(&word))
}

/// How other languages ask to forget. Nothing else of such a request is understood but names.
#[rustfmt::skip]
const FOREIGN: &[&str] = &[
    "apaga", "apague", "borra", "borrar", "cancella", "cancellare", "dimentica", "efface", "effacer", "effacez", "elimina", "eliminar",
    "entferne", "entfernen", "esqueça", "esquece", "glem", "glöm", "lösch", "lösche", "löschen", "olvida", "olvidar", "olvide", "oublie",
    "oublier", "oubliez", "poista", "radera", "slet", "slett", "supprime", "supprimer", "supprimez", "unohda", "usuń", "verwijder",
    "vergeet", "vergessen", "vergesst", "vergiss", "zapomeň", "zapomnij", "забудь", "забудьте", "забыть", "удали", "удалите", "удалить",
];

/// And how they lead to a name when all that is known of it is meant.
#[rustfmt::skip]
const FOREIGN_LEADING: &[&str] = &[
    "à", "alle", "alles", "allt", "alt", "av", "bitte", "d", "da", "das", "de", "dem", "den", "der", "des", "di", "die", "du", "el", "favor",
    "il", "kaikki", "l", "la", "las", "le", "les", "lo", "los", "om", "over", "plaît", "por", "prego", "propos", "s", "sobre", "su", "sur", "te",
    "toda", "todo", "todos", "tout", "tudo", "tutto", "vous", "von", "wszystko", "zu", "über", "всё", "все", "о", "об", "пожалуйста", "про",
];

/// Whether words beside a name ask, in another language, for something of it that is not understood.
pub(super) fn asks_in_other_words<'w>(mut words: impl Iterator<Item = &'w str> + Clone) -> bool {
    words.clone().any(|word| FOREIGN.contains(&word))
        && words.any(|word| !FOREIGN.contains(&word) && !FOREIGN_LEADING.contains(&word))
}

/// With a day, these say nothing more.
const OCCASIONS: &[&str] =
    &["appointment", "appointments", "date", "day", "event", "events", "happen", "happened", "plan", "plans"];

pub(super) fn is_occasion(folded: &str) -> bool {
    OCCASIONS.contains(&folded)
}

/// What the name of a firm or a thing ends with: its first word alone is no person's first name.
#[rustfmt::skip]
const OF_FIRMS: &[&str] = &[
    "academy", "analytics", "associates", "bakery", "bank", "bikes", "books", "brewery", "brewing", "bridge", "cafe",
    "capital", "center", "centre", "cider", "clinic", "club", "coffee", "college", "consulting", "contract", "council",
    "dental", "design", "digital", "electric", "energy", "engineering", "farm", "farms", "festival", "films", "finance",
    "foods", "foundation", "furniture", "games", "gardens", "group", "health", "holdings", "hospital", "hotel", "house",
    "industries", "institute", "insurance", "lab", "labs", "lane", "law", "legal", "library", "logistics", "media",
    "motors", "museum", "music", "network", "networks", "paints", "park", "partners", "pharma", "pharmacy", "pizza",
    "platform", "plumbing", "power", "press", "productions", "project", "properties", "records", "repairs",
    "restaurant", "robotics", "roofing", "school", "security", "services", "shop", "software", "solar", "solutions",
    "square", "station", "store", "street", "studio", "studios", "systems", "tech", "technologies", "textiles",
    "theatre", "tiles", "timber", "tools", "toys", "trading", "transport", "travel", "university", "ventures", "wines",
    "works",
];

pub(super) fn is_of_firm(folded: &str) -> bool {
    OF_FIRMS.contains(&folded)
}
