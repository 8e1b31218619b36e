//! What a request names, in the form in which it is looked for in a sentence.

use std::ops::Range;

use super::canonical::{self, Number};
use super::conjunction::Conjunction;
use super::names::{Bearers, Name};
use super::text::{ACCENTS, PAIRS, Sentence, Word, accents_max, bare_and_expanded};
use super::{Certainty, Near, Probe};
use crate::chars::{fold, is_lone, is_word};
use crate::scan::{Kind, Piece};
use crate::stem::Stems;
use crate::terms::index_terms;

/// Written without blanks, these may follow a name that ends before them: particles, titles, and words that go with names.
const AFTER_UNSPACED: &str = "氏様君殿先さんのはがをにへとでもやから가는은이의를을에게와과도씨님在是的和与與说說有了也要会會去来來住将將被把给給对對从從到向为為曾已将就都很不没沒喜住工买買吃喝写寫参參负負搬讨討想做需";
const BEFORE_UNSPACED: &str = "和与與跟对對给給是在了的はがをにへとで、は";
#[derive(Clone, Debug)]
pub(super) enum Thing {
    /// An identifier with one form, or a quoted phrase.
    Exact(Box<Conjunction>, String),
    Number(Number),
    Hexadecimal(String),
    /// Letters and digits, however they are grouped.
    Code(String),
    /// Words that colons join.
    Run(String),
    Url(String),
    /// Without its `@`.
    Handle(String),
    /// A name in a script without blanks.
    Unspaced(String),
    Name(Name),
}

impl Thing {
    /// How sure it is that a sentence names it, and in which words.
    pub(super) fn find(&self, sentence: &Sentence<'_>, bearers: &Bearers) -> Option<(Certainty, String)> {
        let plain = &sentence.plain;
        let sure = |range: Range<usize>| (Certainty::Sure, plain[range].to_owned());
        match self {
            Self::Exact(conjunction, written) => {
                conjunction.matches([sentence.written]).then(|| (Certainty::Sure, written.clone()))
            }
            Self::Number(number) => {
                let found = canonical::numbers(plain).into_iter().find(|(it, _)| it.is(number));
                found.map(|(_, range)| sure(range))
            }
            Self::Hexadecimal(digits) => {
                let runs = canonical::colon_runs(plain);
                let pieces = sentence.pieces.iter().map(|piece| piece.start..piece.end);
                let is_apart = |range: &Range<usize>| {
                    !runs.iter().any(|run| run.start <= range.start && range.end <= run.end && run != range)
                };
                let mut places = runs.iter().cloned().chain(pieces.filter(is_apart));
                let written =
                    places.find(|range| canonical::hexadecimal(&plain[range.clone()]).as_ref() == Some(digits));
                // An account that happens to have no other letters, in groups.
                written.or_else(|| canonical::code_in(plain, digits)).map(sure)
            }
            Self::Code(code) => canonical::code_in(plain, code).map(sure),
            Self::Run(run) => {
                canonical::colon_runs(plain).into_iter().find(|range| fold(&plain[range.clone()]) == *run).map(sure)
            }
            Self::Url(url) => {
                let pieces = sentence.pieces.iter().filter(|piece| canonical::may_be_url(piece));
                let mut places = pieces.map(|piece| canonical::url_range(plain, piece));
                let is_it = |written: &str| {
                    canonical::url(written).as_ref() == Some(url) || canonical::host(written).as_ref() == Some(url)
                };
                places.find(|range| is_it(&plain[range.clone()])).map(sure)
            }
            Self::Handle(handle) => find_handle(handle, sentence),
            Self::Unspaced(name) => find_unspaced(name, plain),
            Self::Name(name) => name.find(sentence, bearers),
        }
    }

    /// Terms of the index for texts that may name it; for what only comes near, too, where `nearly` says so.
    pub(super) fn probes(&self, nearly: bool) -> Vec<Probe> {
        match self {
            Self::Exact(conjunction, _) => {
                vec![conjunction.index_terms().iter().map(|term| vec![term.clone()]).collect()]
            }
            Self::Number(number) => number.probes(),
            Self::Hexadecimal(digits) => {
                let mut probes = canonical::hexadecimal_probes(digits);
                probes.extend(canonical::code_probes(digits));
                probes
            }
            Self::Code(code) => canonical::code_probes(code),
            Self::Run(run) => vec![terms_of(run)],
            // What an apostrophe joins the index takes apart by what follows it: the other words are enough.
            Self::Url(url) => {
                let parts = url.split(['/', '.', '-', '_', '?', '#', '&', '=', ':', '%', '+', '~', '@']);
                let whole: Vec<&str> = parts.filter(|part| !part.contains(['\'', '’'])).collect();
                vec![terms_of(&whole.join(" "))]
            }
            // Marks that stand apart where the index read them are one letter with it when they are read again.
            Self::Handle(handle) => {
                let again = index_terms(handle);
                vec![vec![again.split(' ').map(str::to_owned).chain(terms_of(handle).into_iter().flatten()).collect()]]
            }
            Self::Unspaced(name) => vec![name.chars().map(|c| vec![fold(&c.to_string())]).collect()],
            Self::Name(name) => name_probes(name, nearly),
        }
    }
}

fn terms_of(words: &str) -> Probe {
    let runs = words.split(|c| !is_word(c) && !is_lone(c)).flat_map(|run| run.split_inclusive(is_lone));
    // A character of a script without blanks is a term of its own.
    let parts = runs.flat_map(|run| match run.chars().next_back() {
        Some(last) if is_lone(last) => {
            let (word, lone) = run.split_at(run.len() - last.len_utf8());
            [word, lone]
        }
        _ => [run, ""],
    });
    parts.filter(|part| !part.is_empty()).map(|part| vec![stem_of(part)]).collect()
}

pub(crate) fn stem_of(word: &str) -> String {
    let mut stem = String::new();
    Stems::new().with_stem(&fold(word), |it| stem.push_str(it));
    stem
}

fn find_handle(handle: &str, sentence: &Sentence<'_>) -> Option<(Certainty, String)> {
    let plain = &sentence.plain;
    let mut best = None;
    for piece in &sentence.pieces {
        let written = piece.of(plain);
        let bare = written.trim_start_matches('/');
        if fold(bare) != handle {
            continue;
        }
        let is_marked = plain[..piece.start].ends_with('@');
        if is_marked || *bare == fold(bare) {
            return Some((Certainty::Sure, written.to_owned()));
        }
        best = Some((Certainty::Near(Near::Address), written.to_owned()));
    }
    best
}

fn find_unspaced(name: &str, plain: &str) -> Option<(Certainty, String)> {
    let mut best = None;
    for (start, _) in plain.match_indices(name) {
        let before = plain[..start].chars().next_back();
        let after = plain[start + name.len()..].chars().next();
        let ends = |c: Option<char>, known: &str| c.is_none_or(|c| !is_lone(c) || known.contains(c));
        if ends(before, BEFORE_UNSPACED) && ends(after, AFTER_UNSPACED) {
            return Some((Certainty::Sure, name.to_owned()));
        }
        best = Some((Certainty::Near(Near::LongerName), name.to_owned()));
    }
    best
}

fn name_probes(name: &Name, nearly: bool) -> Vec<Probe> {
    let groups: Probe = name.words.iter().map(|word| forms_of(word, name.is_of_thing)).collect();
    let joined: String = name.words.iter().map(|word| word.bare.as_str()).collect();
    let mut probes = Vec::new();
    if nearly || !name.is_of_thing {
        // Parts of a name are near, and the first name may be all there is.
        probes.extend(groups.iter().map(|group| vec![group.clone()]));
    } else {
        probes.push(groups);
    }
    if name.words.len() > 1 {
        let turned: String = name.words.iter().rev().map(|word| word.bare.as_str()).collect();
        let mut forms = vec![stem_of(&joined), joined, stem_of(&turned), turned];
        if let [first, last] = &name.words[..] {
            let initial: String = first.bare.chars().take(1).collect();
            forms.extend([format!("{initial}{}", last.bare), format!("{}{initial}", last.bare)]);
        }
        probes.push(vec![forms]);
    }
    probes
}

/// The terms by which the index may hold a word of a name.
fn forms_of(word: &Word, with_plural: bool) -> Vec<String> {
    let bare = &*word.bare;
    let mut forms: Vec<String> = vec![word.folded.clone(), word.expanded.clone()];
    if with_plural {
        forms.extend([format!("{bare}s"), bare.trim_end_matches('s').to_owned()]);
    }
    for form in [bare.to_owned(), bare.replacen("ss", "ß", 1)] {
        forms.extend(PAIRS.iter().map(|(pair, sign)| form.replacen(pair, &sign.to_string(), 1)));
        forms.push(form);
    }
    let mut accented = forms.clone();
    for _ in 0..accents_max(bare.chars().count()) {
        accented = accented.iter().flat_map(|form| with_an_accent(form)).collect();
        accented.sort_unstable();
        accented.dedup();
        forms.extend(accented.iter().cloned());
    }
    let mut terms: Vec<String> = forms.iter().map(|form| stem_of(form)).collect();
    terms.extend(forms);
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn with_an_accent(form: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for (offset, c) in form.char_indices() {
        let accents = ACCENTS.iter().find(|(letter, _)| *letter == c).map(|(_, accents)| *accents).unwrap_or_default();
        let around = (&form[..offset], &form[offset + c.len_utf8()..]);
        forms.extend(accents.chars().map(|accent| format!("{}{accent}{}", around.0, around.1)));
    }
    forms
}

/// The thing that a piece of a plain text is, where it is enough by itself.
pub(super) fn identifier(plain: &str, piece: &Piece) -> Option<Thing> {
    let written = piece.of(plain);
    if let Some(digits) = canonical::hexadecimal(written) {
        return Some(Thing::Hexadecimal(digits));
    }
    if canonical::may_be_url(piece)
        && let Some(url) = canonical::url(&plain[canonical::url_range(plain, piece)])
    {
        return Some(Thing::Url(url));
    }
    if matches!(piece.kind, Kind::Word | Kind::Camel)
        && let Some(code) = canonical::code(written)
    {
        return Some(Thing::Code(code));
    }
    let is_machine = piece.kind == Kind::Version && written.split('.').count() == 4;
    let names_one = matches!(
        piece.kind,
        Kind::Email | Kind::Url | Kind::Path | Kind::Snake | Kind::Camel | Kind::Issue | Kind::Dotted
    );
    let exact = || Conjunction::of_piece(plain, piece).map(|it| Thing::Exact(Box::new(it), written.to_owned()));
    (is_machine || names_one).then(exact).flatten()
}

impl Thing {
    pub(super) fn exact(written: &str) -> Option<Self> {
        Conjunction::new(written).map(|it| Self::Exact(Box::new(it), written.to_owned()))
    }

    pub(super) fn handle(written: &str) -> Self {
        Self::Handle(bare_and_expanded(written.trim_start_matches('@')).0)
    }
}
