//! Words that look like words, drawn as words are drawn: a few all the time, most hardly ever (Zipf's law).
//!
//! Only the function words are English, so that stop words and their absence in questions are as in real notes; every
//! other word is made of syllables.

use std::collections::HashSet;

use crate::random::Random;

/// The commonest words of any English text, commonest first.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "the", "of", "and", "to", "a", "in", "is", "that", "for", "it", "was", "on", "with", "as", "be", "by", "at", "this",
    "from", "are", "or", "not", "we", "but", "which", "an", "they", "have", "has", "were", "when", "all", "can", "there",
    "been", "if", "more", "will", "so", "no", "after", "only", "because", "than", "then", "its", "also", "into", "our",
    "before", "should", "must", "now", "still", "until", "without", "while", "again", "both", "each",
];
const CONTENT_WORDS: usize = 6_000;
const ONSETS: &[&str] = &[
    "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "l", "m", "n", "p", "pl", "pr", "r", "s", "sh",
    "st", "t", "tr", "v", "w",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: &[&str] = &["", "", "n", "r", "l", "t", "s", "m", "nd", "rk", "ck"];
/// Stemming has something to do.
const ENDINGS: &[&str] = &["", "", "", "", "s", "ing", "ed", "er", "ment", "tion"];

/// An integer in 0..count, where the one at place `n` is drawn in proportion to 1 / (n + shift).
#[derive(Debug)]
pub struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    /// Mandelbrot's correction: without it the commonest word would be every ninth.
    const SHIFT: f64 = 2.7;

    pub fn new(count: usize) -> Self {
        let mut total = 0.0;
        let cumulative = (1..=count)
            .map(|place| {
                total += 1.0 / (place as f64 + Self::SHIFT);
                total
            })
            .collect();
        Self { cumulative }
    }

    pub fn draw(&self, random: &mut Random) -> usize {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let wanted = random.fraction() * total;
        self.cumulative.partition_point(|sum| *sum <= wanted).min(self.cumulative.len().saturating_sub(1))
    }
}

#[derive(Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    all: Zipf,
    content: Zipf,
}

impl Vocabulary {
    pub fn new(random: &mut Random) -> Self {
        let mut words: Vec<String> = FUNCTION_WORDS.iter().map(|word| (*word).to_owned()).collect();
        let mut seen: HashSet<String> = words.iter().cloned().collect();
        while words.len() < FUNCTION_WORDS.len() + CONTENT_WORDS {
            let word = content_word(random);
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let (all, content) = (Zipf::new(words.len()), Zipf::new(CONTENT_WORDS));
        Self { words, all, content }
    }

    /// Any word, as it comes in running text.
    pub fn word(&self, random: &mut Random) -> &str {
        &self.words[self.all.draw(random)]
    }

    /// A word that says something.
    pub fn content_word(&self, random: &mut Random) -> &str {
        &self.words[FUNCTION_WORDS.len() + self.content.draw(random)]
    }

    /// Whether a word only holds a sentence together.
    pub fn is_function_word(word: &str) -> bool {
        FUNCTION_WORDS.contains(&word)
    }
}

fn content_word(random: &mut Random) -> String {
    let mut word = syllables(random, 2);
    word.push_str(random.pick(ENDINGS));
    word
}

/// One to `most` syllables, lower case.
pub fn syllables(random: &mut Random, most: usize) -> String {
    let count = random.between(1, most);
    (0..count).map(|_| [random.pick(ONSETS), random.pick(VOWELS), random.pick(CODAS)].concat()).collect()
}

pub fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_common_and_rare_words_occur() {
        let zipf = Zipf::new(1_000);
        let mut random = Random::new(1);
        let mut counts = vec![0; 1_000];
        (0..100_000).for_each(|_| counts[zipf.draw(&mut random)] += 1);
        assert!(counts[0] > 20 * counts[500].max(1), "{} and {}", counts[0], counts[500]);
        assert!(counts[900..].iter().sum::<i32>() > 500);
    }
}
