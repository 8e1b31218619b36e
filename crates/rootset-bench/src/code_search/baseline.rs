//! Plain BM25 over whole source files and their paths, identifiers split; for comparison.
//!
//! It shares nothing with the search that it is compared to, so that it does not move along with it.

use std::collections::{HashMap, HashSet};

use super::checkout::Source;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Counts of the words of every content seen so far.
#[derive(Default)]
pub struct Baseline {
    contents: HashMap<String, HashMap<String, f64>>,
}

/// A path, how often it has its words, and how often the content has them.
type File<'s> = (&'s str, HashMap<String, f64>, &'s HashMap<String, f64>);

impl Baseline {
    /// Paths, best first; files without a word of the query are left out.
    pub fn rank(&mut self, sources: &[Source], query: &str) -> Vec<String> {
        for source in sources {
            self.contents.entry(source.content.clone()).or_insert_with(|| {
                let bytes = std::fs::read(&source.file).unwrap_or_default();
                let mut counts = HashMap::new();
                words(&String::from_utf8_lossy(&bytes), |word| *counts.entry(word).or_default() += 1.0);
                counts
            });
        }
        let files: Vec<File<'_>> = sources
            .iter()
            .map(|source| {
                let mut path = HashMap::new();
                words(&source.path, |word| *path.entry(word).or_default() += 1.0);
                (source.path.as_str(), path, &self.contents[&source.content])
            })
            .collect();
        let mut asked = HashSet::new();
        words(query, |word| {
            asked.insert(word);
        });
        let count =
            |word: &str, (_, path, text): &File<'_>| path.get(word).unwrap_or(&0.0) + text.get(word).unwrap_or(&0.0);
        let lengths: Vec<f64> =
            files.iter().map(|(_, path, text)| path.values().chain(text.values()).sum::<f64>()).collect();
        let average = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        let mut scores = vec![0.0; files.len()];
        let mut asked: Vec<&String> = asked.iter().collect();
        asked.sort_unstable();
        for word in asked {
            let counts: Vec<f64> = files.iter().map(|file| count(word, file)).collect();
            let holding = counts.iter().filter(|count| **count > 0.0).count() as f64;
            let rarity = (1.0 + (files.len() as f64 - holding + 0.5) / (holding + 0.5)).ln();
            for (place, count) in counts.into_iter().enumerate() {
                let length = K1 * (1.0 - B + B * lengths[place] / average);
                scores[place] += rarity * count * (K1 + 1.0) / (count + length);
            }
        }
        let mut ranked: Vec<(f64, &str)> =
            scores.into_iter().zip(&files).filter(|(score, _)| *score > 0.0).map(|(score, it)| (score, it.0)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.into_iter().map(|(_, path)| path.to_owned()).collect()
    }
}

/// Runs of letters and digits in lower case, split where camel case begins a word; of an identifier with several parts
/// also the whole.
fn words(text: &str, mut give: impl FnMut(String)) {
    for run in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|run| !run.is_empty()) {
        let mut parts = vec![String::new()];
        let mut last = ' ';
        for c in run.chars() {
            if c == '_' || (c.is_uppercase() && last.is_lowercase()) {
                parts.push(String::new());
            }
            if c != '_' {
                parts.last_mut().expect("there is one from the beginning").extend(c.to_lowercase());
            }
            last = c;
        }
        parts.retain(|part| !part.is_empty());
        if parts.len() > 1 {
            give(run.to_lowercase());
        }
        parts.into_iter().for_each(&mut give);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_and_files_with_rare_words_come_first() {
        let mut found = Vec::new();
        words("parseConfig max_size x", |word| found.push(word));
        assert_eq!(found, ["parseconfig", "parse", "config", "max_size", "max", "size", "x"]);
        let folder = tempfile::tempdir().unwrap();
        let source = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            Source { path: name.to_owned(), content: name.to_owned(), file }
        };
        let sources = [source("a.py", "def load(): read()"), source("b.py", "read()"), source("c.py", "pass")];
        assert_eq!(Baseline::default().rank(&sources, "load and read"), ["a.py", "b.py"]);
    }
}
