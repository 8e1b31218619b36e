//! Text to the terms of the full-text index, and queries to the same terms.
//!
//! An identifier gives itself, folded and whole, so that every place that names it can be found; and its parts, folded
//! and stemmed, so that people find it by words. What an identifier gives is remembered in a bounded table: code says
//! the same names again and again.

mod split;
mod table;

use rootset_model::code::{CodeChunk, Outline};

use crate::reader::Source;
use split::{identifiers, whole_of};
use table::TermTable;

/// Terms of one chunk, separated by blanks, each once per field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkTerms {
    /// What it is called, each term marked as [`own_name_term`], and what it stands in, as [`around_name_term`].
    pub head: String,
    /// The text.
    pub body: String,
}

/// More terms do not make a query clearer.
const QUERY_TERMS_MAX: usize = 64;

/// Of any text, in its order, each once.
pub fn query_terms(query: &str) -> Vec<String> {
    let mut table = TermTable::default();
    let mut written = String::new();
    let mut terms: Vec<String> = Vec::new();
    table.begin();
    for identifier in identifiers(query) {
        table.write(identifier, &mut written);
        terms.extend(written.split(' ').filter(|term| !term.is_empty()).map(str::to_owned));
        written.clear();
        if terms.len() >= QUERY_TERMS_MAX {
            break;
        }
    }
    terms.truncate(QUERY_TERMS_MAX);
    terms
}

/// Terms of a text in the order in which they first occur, up to `terms_max` of them, and in how many of its identifiers
/// each is.
pub fn term_counts(text: &str, terms_max: usize) -> Vec<(String, usize)> {
    let mut table = TermTable::default();
    let mut written = String::new();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for identifier in identifiers(text) {
        table.begin();
        written.clear();
        table.write(identifier, &mut written);
        for term in written.split(' ').filter(|term| !term.is_empty()) {
            match counts.iter().position(|(known, _)| known == term) {
                Some(place) => counts[place].1 += 1,
                None if counts.len() < terms_max => counts.push((term.to_owned(), 1)),
                None => {}
            }
        }
    }
    counts
}

/// The one term that every occurrence of this identifier has in `body`, in whatever case it is written. Of a name with
/// punctuation inside (`save!`, `my-function`), its longest run.
pub fn identifier_term(identifier: &str) -> String {
    let mut longest = "";
    for run in identifiers(identifier) {
        if run.len() > longest.len() {
            longest = run;
        }
    }
    let mut whole = String::new();
    whole_of(longest, &mut whole);
    whole
}

/// The parts of a (possibly partial) qualified name by any of the languages' separators: `.`, `::`, `#`, `/`, `\`.
pub fn name_parts(qualified_name: &str) -> Vec<&str> {
    qualified_name.split(['.', ':', '#', '/', '\\']).map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The term of a symbol that has this term in its own name. A word in a name says more than the same word in a text, and
/// is rarer: an index that keeps them apart finds what is called so among all that speaks of it.
pub fn own_name_term(term: &str) -> String {
    format!("={term}")
}

/// The term of a symbol that has this term in its path, or in the name of what it is defined in.
pub fn around_name_term(term: &str) -> String {
    format!("/{term}")
}

#[derive(Default)]
pub(crate) struct TermWriter {
    table: TermTable,
    names: String,
}

impl TermWriter {
    pub(crate) fn chunk_terms(&mut self, source: &Source<'_>, outline: &Outline, chunk: &CodeChunk) -> ChunkTerms {
        let text = source.text.get(chunk.start as usize..chunk.end as usize).unwrap_or_default();
        let symbol = chunk.symbol.and_then(|place| outline.symbols.get(place as usize));
        let mut head = String::new();
        if let Some(symbol) = symbol {
            self.write_marked(&[&symbol.name], own_name_term, &mut head);
        }
        let qualified_name = symbol.map_or("", |symbol| symbol.qualified_name.as_str());
        self.write_marked(&[qualified_name, source.path], around_name_term, &mut head);
        let mut body = String::with_capacity(text.len());
        self.table.begin();
        self.write(text, &mut body);
        ChunkTerms { head, body }
    }

    fn write_marked(&mut self, texts: &[&str], mark: fn(&str) -> String, out: &mut String) {
        let mut names = std::mem::take(&mut self.names);
        names.clear();
        self.table.begin();
        for text in texts {
            self.write(text, &mut names);
        }
        for term in names.split(' ').filter(|term| !term.is_empty()) {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&mark(term));
        }
        self.names = names;
    }

    fn write(&mut self, text: &str, out: &mut String) {
        for identifier in identifiers(text) {
            self.table.write(identifier, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        let source = Source { repo: "r", path: "a/b.py", text };
        let chunk = CodeChunk { symbol: None, start: 0, end: text.len() as u32 };
        TermWriter::default().chunk_terms(&source, &Outline::default(), &chunk).body
    }

    #[test]
    fn an_identifier_gives_itself_and_its_parts() {
        assert_eq!(body("parseHTTPHeader2"), "parsehttpheader2 pars http header");
        assert_eq!(body("load_users"), "load_users load user");
        assert_eq!(body("__init__"), "__init__ init");
        assert_eq!(body("MAX_SIZE max_size"), "max_size max size");
    }

    #[test]
    fn words_of_a_query_meet_the_parts_of_an_identifier() {
        let indexed = body("def parse_configurations(): pass");
        let matched: Vec<String> = query_terms("parse configuration")
            .into_iter()
            .filter(|term| indexed.split(' ').any(|it| it == term))
            .collect();
        assert_eq!(matched, ["pars", "configur"]);
    }

    #[test]
    fn every_identifier_is_found_by_its_whole_form() {
        let text = "x = f(y) # call $jQuery.saveAll!\n\"\\nfoo\" `größe` 日本語 a-b";
        let terms = body(text);
        for identifier in ["x", "f", "y", "call", "$jQuery", "saveAll!", "SAVEALL", "foo", "GRÖßE", "日本語", "a"]
        {
            let term = identifier_term(identifier);
            assert!(terms.split(' ').any(|it| it == term), "{identifier}: {term} in {terms}");
        }
    }

    #[test]
    fn each_term_comes_once() {
        assert_eq!(body("a b a B parse parses parse"), "a b parse pars parses");
    }

    #[test]
    fn numbers_that_say_nothing_are_left_out_on_both_sides() {
        assert_eq!(body("1 22 404 0xFFAA 123456789 utf8 x1"), "404 utf8 utf x1");
        assert_eq!(query_terms("1 22 404 0xFFAA"), ["404"]);
    }

    #[test]
    fn long_identifiers_are_cut_alike_everywhere() {
        let long = "Abc_".repeat(60);
        assert_eq!(body(&long).split(' ').next(), Some(identifier_term(&long).as_str()));
        assert_eq!(identifier_term(&long).len(), 100);
    }

    #[test]
    fn a_query_has_a_bounded_number_of_terms_each_once() {
        let query: String = (0..500).map(|number| format!("word{number} ")).collect();
        assert_eq!(query_terms(&query).len(), QUERY_TERMS_MAX);
        assert_eq!(query_terms("save Save SAVE"), ["save"]);
        assert!(query_terms(" -- \u{0} ** ").is_empty());
    }

    #[test]
    fn terms_are_counted_by_identifier_up_to_a_number() {
        let counts = term_counts("saveAll save; save_all", 3);
        assert_eq!(counts, [("saveall".to_owned(), 1), ("save".to_owned(), 3), ("all".to_owned(), 2)]);
    }

    #[test]
    fn names_are_taken_apart_at_any_separator() {
        assert_eq!(name_parts("a.b::c#d/e\\f"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(name_parts("::"), Vec::<&str>::new());
    }
}
