//! Values in a sentence: numbers with what they count, versions, days, times, addresses, names, states.

use crate::chars::fold;
use crate::scan::{Kind, Piece};
use crate::words::{MONTHS, SMALL_NUMBERS, TENS, is_calendar, is_starter, is_stop};

use super::lexicon;
use super::states::{GROUPS, states_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Number,
    Version,
    Weekday,
    Date,
    Time,
    Mail,
    /// An address of a machine or page.
    Address,
    Name,
    /// What something is, in one word: `the default branch is main`.
    Is,
    /// One of a group of states that exclude each other.
    State(usize),
}

impl ValueKind {
    const PLAIN: [Self; 9] = [
        Self::Number,
        Self::Version,
        Self::Weekday,
        Self::Date,
        Self::Time,
        Self::Mail,
        Self::Address,
        Self::Name,
        Self::Is,
    ];

    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::PLAIN.into_iter().chain((0..GROUPS).map(Self::State))
    }
}

/// `https://wiki.example/team`.
const URL_SLASHES_MAX: usize = 3;
/// Longer words in capitals are commands and constants.
const CAPITALS_MAX: usize = 4;

/// Units and what they are counted in. Words of one row are the same unit.
#[rustfmt::skip]
const UNITS: &[&[&str]] = &[
    &["%", "percent", "pct"], &["ms", "milliseconds", "millisecond"], &["s", "sec", "secs", "seconds", "second"],
    &["min", "mins", "minutes", "minute"], &["h", "hours", "hour", "hrs"], &["days", "day"], &["weeks", "week"],
    &["months", "month"], &["years", "year"], &["kb"], &["mb"], &["gb", "gib"], &["tb"], &["kg", "kilos", "kilo"],
    &["km"], &["cm"], &["m", "metres", "meters"], &["mg"], &["ml"], &["g", "grams"], &["€", "eur", "euro", "euros"],
    &["$", "usd", "dollars", "dollar", "bucks"], &["£", "gbp", "pounds"], &["miles", "mile"], &["°", "degrees", "c"],
];

fn unit_of(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|unit| unit.contains(&word)).map(|unit| unit[0])
}

#[derive(Clone, Debug)]
pub(super) struct Value {
    pub kind: ValueKind,
    /// In one form, however it was written.
    pub written: String,
    /// What it is a number of, if it says so.
    pub key: Option<String>,
    /// What it is an amount of: `32 GB of memory`.
    pub of: Option<String>,
    /// It numbers one of several things rather than counts or measures: `note 12`, `room 204`.
    pub is_label: bool,
    /// Places of its pieces.
    pub from: usize,
    pub to: usize,
}

/// Reads the values of one sentence from left to right.
pub(super) struct Reader<'a> {
    pub sentence: &'a str,
    pub pieces: &'a [Piece],
    pub words: &'a [String],
}

impl Reader<'_> {
    pub(super) fn read(&self) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let mut index = 0;
        while index < self.pieces.len() {
            for (group, state) in states_of(self.words, index, self.ends_clause(index)) {
                let kind = ValueKind::State(group);
                values.push(Value {
                    kind,
                    written: state.to_owned(),
                    key: None,
                    of: None,
                    is_label: false,
                    from: index,
                    to: index + 1,
                });
            }
            match self.value_at(index) {
                Some(value) => {
                    index = value.to;
                    values.push(value);
                }
                None => index += 1,
            }
        }
        values
    }

    fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    fn value_at(&self, index: usize) -> Option<Value> {
        let word = self.word(index);
        let value = |kind, written: String, key, to| {
            Some(Value { kind, written, key, of: None, is_label: false, from: index, to })
        };
        let whole = || word.to_owned();
        match self.pieces[index].kind {
            Kind::Email => return value(ValueKind::Mail, whole(), None, index + 1),
            // A page deep in a site is what is spoken of, not where something is.
            Kind::Url if word.matches('/').count() > URL_SLASHES_MAX => return None,
            Kind::Url => return value(ValueKind::Address, whole(), None, index + 1),
            Kind::Version if word.split('.').count() == 4 => {
                return value(ValueKind::Address, whole(), None, index + 1);
            }
            Kind::Issue if !word.starts_with(|c: char| c.is_ascii_digit()) => return None,
            Kind::Dotted if is_host(word) => return value(ValueKind::Address, whole(), None, index + 1),
            Kind::Version => {
                let bare = word.trim_start_matches('v').to_owned();
                return value(ValueKind::Version, bare, self.noun_before(index), index + 1);
            }
            Kind::Compound if is_iso_date(word) => {
                return value(ValueKind::Date, word[5..].to_owned(), None, index + 1);
            }
            _ => {}
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number(index);
        }
        if let Some(number) = self.number_word(index) {
            let key = self.counted(index + 1);
            let is_counted = key.is_some() || index > 0 && matches!(self.word(index + 1), "in" | "now" | "of");
            return is_counted.then_some(Value {
                kind: ValueKind::Number,
                written: number.to_string(),
                key,
                of: None,
                is_label: false,
                from: index,
                to: index + 1,
            });
        }
        if let Some(date) = self.date_at(index) {
            return Some(date);
        }
        if let Some(weekday) = weekday_of(word) {
            return value(ValueKind::Weekday, weekday.to_owned(), None, index + 1);
        }
        // `@ines`; `is called nightjar`
        let is_handle = self.sentence[..self.pieces[index].start].ends_with('@');
        let is_title = index > 0
            && matches!(self.word(index - 1), "called" | "named" | "codenamed")
            && matches!(self.pieces[index].kind, Kind::Word | Kind::Compound | Kind::Snake | Kind::Camel)
            && !is_stop(word);
        if is_handle || is_title && !self.is_name(index) {
            return value(ValueKind::Name, whole(), None, index + 1);
        }
        if self.is_all_of_predicate(index) {
            return value(ValueKind::Is, whole(), None, index + 1);
        }
        if self.is_name(index) {
            let mut to = index + 1;
            while to < self.pieces.len() && self.touches(to) && self.is_name(to) {
                to += 1;
            }
            return value(ValueKind::Name, self.words[index..to].join(" "), None, to);
        }
        None
    }

    /// Only white space stands between this piece and the one before it.
    pub(super) fn touches(&self, index: usize) -> bool {
        index > 0 && self.sentence[self.pieces[index - 1].end..self.pieces[index].start].trim().is_empty()
    }

    fn ends_clause(&self, index: usize) -> bool {
        let after = self.sentence[self.pieces[index].end..].trim_start();
        after.is_empty() || after.starts_with(['.', ',', ';', '!', ')']) || lexicon::ends_former(self.word(index + 1))
    }

    /// A word that a capital makes a name. At the beginning of a sentence it must not be an ordinary word.
    pub(super) fn is_name(&self, index: usize) -> bool {
        let (piece, word) = (&self.pieces[index], self.word(index));
        let written = piece.of(self.sentence);
        let is_capital = written.starts_with(char::is_uppercase) && written.chars().count() > 1;
        let is_constant = written.len() > CAPITALS_MAX && !written.contains(|c: char| c.is_lowercase());
        if !is_capital || is_constant || is_stop(word) || is_calendar(word) || weekday_of(word).is_some() {
            return false;
        }
        if !matches!(piece.kind, Kind::Word | Kind::Camel | Kind::Compound | Kind::Issue) {
            return false;
        }
        // At the beginning, only what follows tells a name from a word.
        let next = self.word(index + 1);
        let is_followed = |place: usize| {
            matches!(self.word(place), "is" | "was" | "has" | "and" | "will")
                || lexicon::attributes_of(self.word(place)).next().is_some()
                || place < self.words.len() && lexicon::change_of(self.words, place) != lexicon::Change::None
        };
        let is_next_capital = self
            .pieces
            .get(index + 1)
            .is_some_and(|next| next.of(self.sentence).starts_with(char::is_uppercase) && self.touches(index + 1));
        let is_possessive = self.sentence[piece.end..].starts_with(['\'', '’']);
        let is_camel = piece.kind != Kind::Word || written.chars().skip(1).any(char::is_uppercase);
        if index == 0 && !(is_followed(1) || is_next_capital || is_possessive || is_camel || next.is_empty()) {
            return false;
        }
        let begins = index == 0 || self.sentence[..piece.start].trim_end().ends_with([':', '"', '.', '*', '-', '!']);
        !begins
            || (!is_starter(word)
                && !lexicon::is_common(word)
                && lexicon::change_of(self.words, index) == lexicon::Change::None)
    }

    /// `main` in `the default branch is main now`: the only word behind the verb.
    fn is_all_of_predicate(&self, index: usize) -> bool {
        let is_now = |word: &str| matches!(word, "again" | "currently" | "now" | "today");
        let verb = (1..index).rev().find(|place| !is_now(self.word(*place)));
        let is_last = (index + 1..self.words.len()).all(|place| is_now(self.word(place)));
        let is_plain = self.pieces[index].of(self.sentence).starts_with(char::is_lowercase);
        let is_said = !is_stop(self.word(index))
            && !lexicon::is_filler(self.word(index))
            && lexicon::change_of(self.words, index) == lexicon::Change::None;
        is_last
            && is_plain
            && is_said
            && verb.is_some_and(|verb| self.word(verb) == "is" && verb > 1)
            && states_of(self.words, index, true).is_empty()
    }

    fn number_word(&self, index: usize) -> Option<u32> {
        let word = self.word(index);
        let ordinal = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
        if let Some(place) = ordinal.iter().skip(1).position(|it| *it == word) {
            return Some(place as u32 + 2);
        }
        let small = SMALL_NUMBERS.iter().position(|it| *it == word).map(|place| place as u32);
        // `one` is a pronoun more often than a number.
        small.filter(|it| *it != 1).or_else(|| TENS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number))
    }

    /// `May 3`, `3rd of May`, `3 May`.
    fn date_at(&self, index: usize) -> Option<Value> {
        let (word, next) = (self.word(index), self.word(index + 1));
        let (written, to) = match (month_of(word), day_number(next)) {
            (Some(month), Some(day)) => (format!("{month:02}-{day:02}"), index + 2),
            // A month alone: `may` and `march` are other words, too.
            (Some(month), None) => {
                let is_capital = self.pieces[index].of(self.sentence).starts_with(char::is_uppercase) && index > 0;
                let is_told = is_capital
                    && matches!(
                        self.word(index - 1),
                        "in" | "to" | "until" | "for" | "by" | "of" | "end" | "early" | "mid" | "late" | "planned"
                    );
                return is_told.then(|| Value {
                    kind: ValueKind::Date,
                    written: format!("{month:02}"),
                    key: None,
                    of: None,
                    is_label: false,
                    from: index,
                    to: index + 1,
                });
            }
            _ => return None,
        };
        Some(Value { kind: ValueKind::Date, written, key: None, of: None, is_label: false, from: index, to })
    }

    fn number(&self, index: usize) -> Option<Value> {
        let (piece, word) = (&self.pieces[index], self.word(index));
        let before_it = self.sentence[..piece.start].chars().next_back();
        let next = self.word(index + 1);
        let value = |kind, written: String, key, to| {
            Some(Value { kind, written, key, of: None, is_label: false, from: index, to })
        };
        // `#123` names something, and `7e77eec` is a hash.
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        if before_it == Some('#') || letters > UNIT_LETTERS_MAX {
            return None;
        }
        // `3 May`, `3rd of May`
        let of = usize::from(next == "of");
        if let (Some(day), Some(month)) = (day_number(word), month_of(self.word(index + 1 + of))) {
            return value(ValueKind::Date, format!("{month:02}-{day:02}"), None, index + 2 + of);
        }
        if let Some(time) = self.time(index) {
            return Some(time);
        }
        if lexicon::is_year(word)
            && matches!(
                index.checked_sub(1).map_or("", |at| self.word(at)),
                "in" | "since" | "of" | "until" | "from" | "and"
            )
        {
            return None;
        }
        let mut to = index + 1;
        let mut written = word.to_owned();
        // `1,200` is one number, and `0161 496 0120` is one.
        while let Some(more) = self.pieces.get(to) {
            let between = &self.sentence[self.pieces[to - 1].end..more.start];
            let digits = self.word(to);
            let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            let is_grouped = between == "," && digits.len() == 3;
            let is_dialled = matches!(between, " " | "-")
                && (written.len() >= 3 && digits.len() >= 2)
                && written.bytes().all(|b| b.is_ascii_digit());
            if !is_digits || !(is_grouped || is_dialled) {
                break;
            }
            written.push_str(digits);
            to += 1;
        }
        let unit_inside = written.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
        let glued = unit_of(&unit_inside);
        if glued.is_some() {
            written.truncate(written.len() - unit_inside.len());
        } else if unit_inside == "k" {
            written = format!("{}000", written.trim_end_matches('k'));
        }
        let last = &self.pieces[to - 1];
        let sign =
            self.sentence[last.end..].trim_start().chars().next().filter(|c| matches!(c, '%' | '€' | '$' | '£' | '°'));
        let sign = sign.or(before_it.filter(|c| matches!(c, '€' | '$' | '£')));
        let unit = glued.or_else(|| sign.and_then(|c| unit_of(c.encode_utf8(&mut [0; 4]))));
        let named = unit.or_else(|| unit_of(self.word(to)));
        let is_named_after = unit.is_none() && named.is_some();
        let (named, written) = in_base_unit(named, written);
        let before = index.checked_sub(1).map_or("", |place| self.word(place));
        let is_capital = index > 0
            && self.pieces[index - 1].of(self.sentence).chars().skip(usize::from(index == 1)).any(char::is_uppercase);
        let is_setting = is_capital || SETTINGS.contains(&before);
        let label = self.noun_before(index);
        let is_labelled = named.is_none() && label.is_some() && (is_setting || LABELS.contains(&before));
        let counted = if named.is_none() && !is_labelled { self.counted(to) } else { None };
        let is_label = named.is_none() && counted.is_none() && label.is_some() && !is_setting;
        let key = named.map(str::to_owned).or(counted).or(label);
        let to = to + usize::from(is_named_after);
        let of = (named.is_some() && self.word(to) == "of").then(|| self.counted(to + 1)).flatten();
        Some(Value { kind: ValueKind::Number, written, key, of, is_label, from: index, to })
    }

    /// `10:30`, `2pm`, `2 pm`, `at 10`.
    fn time(&self, index: usize) -> Option<Value> {
        let (piece, word, next) = (&self.pieces[index], self.word(index), self.word(index + 1));
        let after = &self.sentence[piece.end..];
        let follows = self.pieces.get(index + 1).is_some_and(|it| it.start == piece.end + 1);
        let minutes = next
            .get(..2)
            .and_then(|it| it.parse::<u32>().ok())
            .filter(|it| after.starts_with(':') && follows && *it < 60);
        let at = index
            .checked_sub(1)
            .is_some_and(|place| matches!(self.word(place), "at" | "to" | "until" | "till" | "from" | "around"));
        let half_at = |place: usize| match self.word(place) {
            it if it.ends_with("am") && it.len() <= 4 => Some(0),
            it if it.ends_with("pm") && it.len() <= 4 => Some(12),
            _ => None,
        };
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let hour: u32 = digits.parse().ok().filter(|hour| *hour <= 24)?;
        let last = index + usize::from(minutes.is_some());
        let half_inside = half_at(last);
        let half_after = if half_inside.is_none() && matches!(self.word(last + 1), "am" | "pm" | "a.m" | "p.m") {
            Some(if self.word(last + 1).starts_with('p') { 12 } else { 0 })
        } else {
            None
        };
        let is_oclock =
            matches!(next, "o'clock" | "oclock" | "uhr") || word.ends_with("h") && digits.len() == word.len() - 1 && at;
        let is_plain = digits.len() == word.len();
        let is_bare_hour = at && is_plain && minutes.is_none() && self.is_weekday_near(index)
            || (index.checked_sub(1).is_some_and(|place| self.word(place) == "at")
                && is_plain
                && unit_of(next).is_none()
                && !after.trim_start().starts_with('%')
                && self.ends_clause(index));
        let half = half_inside.or(half_after);
        let is_unit = |c: char| c == '%';
        if (minutes.is_none() && half.is_none() && !is_oclock && !is_bare_hour) || after.starts_with(is_unit) {
            return None;
        }
        let hour = match half {
            Some(12) if hour < 12 => hour + 12,
            _ => hour,
        };
        Some(Value {
            kind: ValueKind::Time,
            written: format!("{hour}:{:02}", minutes.unwrap_or(0)),
            key: None,
            of: None,
            is_label: false,
            from: index,
            to: last + 1 + usize::from(half_after.is_some()),
        })
    }

    fn is_weekday_near(&self, index: usize) -> bool {
        (index.saturating_sub(3)..index).any(|place| weekday_of(self.word(place)).is_some())
    }

    /// The noun in front of a number: `port 8080`, `Node 18`.
    fn noun_before(&self, index: usize) -> Option<String> {
        let place = index.checked_sub(1).filter(|_| self.touches(index))?;
        let word = self.word(place);
        let is_noun = !is_stop(word)
            && !lexicon::is_filler(word)
            && lexicon::attributes_of(word).next().is_none()
            && lexicon::change_of(self.words, place) == lexicon::Change::None
            && self.number_word(place).is_none()
            // `costs 18`, `retries 3 times`
            && (place == 0 || !word.ends_with('s') || word.ends_with("ss") || self.pieces[place].kind == Kind::Camel)
            && word.len() > 1
            && !word.starts_with(|c: char| c.is_ascii_digit());
        is_noun.then(|| lexicon::meaning_of(crate::matching::stem_of(word)))
    }

    /// The noun behind a number: `32 singers`.
    fn counted(&self, to: usize) -> Option<String> {
        let word = self.word(to);
        let is_noun = to < self.pieces.len()
            && self.touches(to)
            && !is_stop(word)
            && !lexicon::is_filler(word)
            && lexicon::attributes_of(word).next().is_none()
            && !word.starts_with(|c: char| c.is_ascii_digit());
        unit_of(word)
            .map(str::to_owned)
            .or_else(|| is_noun.then(|| lexicon::meaning_of(crate::matching::stem_of(word))))
    }
}

/// Letters that may stand behind a number in one word: `25th`, `10mb`, `30sec`.
const UNIT_LETTERS_MAX: usize = 4;
/// Nouns that a number behind them belongs to, telling one of several things.
const LABELS: [&str; 28] = [
    "bug", "case", "chapter", "document", "entry", "example", "fact", "file", "floor", "invoice", "item", "line",
    "memory", "message", "no", "note", "nr", "number", "page", "part", "phase", "room", "section", "sprint", "step",
    "task", "test", "ticket",
];
/// Nouns of which a number behind them is the value.
const SETTINGS: [&str; 5] = ["port", "version", "level", "node", "python"];

/// Durations and sizes in one unit each, so that 3 hours and 40 minutes can be compared.
fn in_base_unit(unit: Option<&'static str>, written: String) -> (Option<&'static str>, String) {
    let (base, factor) = match unit {
        Some("ms") => ("duration", 0.001),
        Some("s") => ("duration", 1.0),
        Some("min") => ("duration", 60.0),
        Some("h") => ("duration", 3_600.0),
        Some("kb") => ("size", 0.001),
        Some("mb") => ("size", 1.0),
        Some("gb") => ("size", 1_000.0),
        Some("tb") => ("size", 1_000_000.0),
        other => return (other, written),
    };
    match written.parse::<f64>() {
        Ok(number) => (Some(base), format!("{:.3}", number * factor)),
        Err(_) => (unit, written),
    }
}

fn is_host(word: &str) -> bool {
    let Some((_, last)) = word.rsplit_once('.') else { return false };
    let known = matches!(
        last,
        "com"
            | "org"
            | "net"
            | "io"
            | "dev"
            | "example"
            | "de"
            | "eu"
            | "uk"
            | "ai"
            | "app"
            | "internal"
            | "local"
            | "lan"
            | "test"
            | "cloud"
            | "co"
    );
    known && !word.contains("::")
}

fn is_iso_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() })
}

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn weekday_of(word: &str) -> Option<&'static str> {
    let short = matches!(word, "mon" | "tue" | "tues" | "wed" | "thu" | "thur" | "thurs" | "fri");
    WEEKDAYS
        .iter()
        .find(|day| **day == word || word.strip_suffix('s') == Some(**day) || (short && day.starts_with(word)))
        .copied()
}

fn month_of(word: &str) -> Option<usize> {
    let is_named = |month: &&str| {
        **month == *word || (word.len() == 3 && month.starts_with(word)) || (word == "sept" && month.starts_with(word))
    };
    MONTHS.iter().position(is_named).map(|place| place + 1)
}

/// `7`, `7th`.
fn day_number(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day) && digits.len() <= 2)
}

/// The folded words of the pieces.
pub(super) fn words_of(sentence: &str, pieces: &[Piece]) -> Vec<String> {
    pieces.iter().map(|piece| fold(piece.of(sentence))).collect()
}
