//! Generated notes of about 200 bytes, as agents write them, and questions that people would ask about them.
//!
//! Note `n` of a seed is always the same text, so nothing has to be kept in memory to ask about it later.

use serde_json::{Value, json};

use crate::random::Random;
use crate::vocabulary::{Vocabulary, Zipf, capitalised, syllables};

/// About as long as a note that an agent writes down.
const NOTE_BYTES: usize = 200;
const PEOPLE: usize = 800;
const AREAS: usize = 300;
const IDENTIFIERS: usize = 12_000;
const PATHS: usize = 8_000;
const VERBS: &[&str] = &["uses", "owns", "replaced", "reviewed", "changed", "calls", "fixed", "needs"];
const EXTENSIONS: &[&str] = &["rs", "py", "ts", "go", "sql", "toml", "yaml", "md"];
const TAGS: &[&str] =
    &["decision", "incident", "todo", "howto", "customer", "infra", "release", "review", "meeting", "preference"];
const QUESTION_WORDS: &[&str] = &["what", "when", "why", "how", "where", "who", "which"];
/// Words that carry on after the question word and say nothing.
const QUESTION_GLUE: &[&[&str]] =
    &[&["did"], &["was", "the"], &["do", "we"], &["is", "the"], &["does"], &["should", "i"], &["were"]];
const QUESTION_LINKS: &[&str] = &["the", "in", "for", "with", "about", "of"];
const QUESTION_WORDS_MIN: usize = 5;
const QUESTION_WORDS_MAX: usize = 12;

#[derive(Debug)]
pub struct Notes {
    seed: u64,
    vocabulary: Vocabulary,
    people: Vec<String>,
    areas: Vec<String>,
    identifiers: Vec<String>,
    paths: Vec<String>,
    person: Zipf,
    area: Zipf,
    identifier: Zipf,
    path: Zipf,
}

#[derive(Clone, Debug)]
pub struct Note {
    pub text: String,
    topic: Option<String>,
    tags: Vec<&'static str>,
}

impl Note {
    pub fn request(&self) -> Value {
        let mut request = json!({ "context": self.text });
        if let Some(topic) = &self.topic {
            request["topic"] = json!(topic);
        }
        if !self.tags.is_empty() {
            request["tags"] = json!(self.tags);
        }
        request
    }
}

impl Notes {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let vocabulary = Vocabulary::new(&mut random);
        let people = (0..PEOPLE).map(|_| person(&mut random)).collect();
        let areas = (0..AREAS)
            .map(|_| format!("{} {}", vocabulary.content_word(&mut random), vocabulary.content_word(&mut random)))
            .collect();
        let identifiers = (0..IDENTIFIERS).map(|_| identifier(&vocabulary, &mut random)).collect();
        let paths = (0..PATHS).map(|_| path(&vocabulary, &mut random)).collect();
        Self {
            seed,
            vocabulary,
            people,
            areas,
            identifiers,
            paths,
            person: Zipf::new(PEOPLE),
            area: Zipf::new(AREAS),
            identifier: Zipf::new(IDENTIFIERS),
            path: Zipf::new(PATHS),
        }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn note(&self, number: u64) -> Note {
        let mut random = self.random(number, 0);
        let random = &mut random;
        let mut text = self.opening(random);
        while text.len() < NOTE_BYTES - 40 {
            text.push(' ');
            text.push_str(&self.sentence(random));
        }
        let area = &self.areas[self.area.draw(random)];
        let topic = random.happens(0.8).then(|| format!("{area}: {}", self.words(random, 2)));
        let tags = (0..random.below(3)).map(|_| random.pick(TAGS)).collect();
        Note { text, topic, tags }
    }

    /// A question of 5 to 12 words whose words are in the note: two to five that say something, the rest glue.
    pub fn question(&self, number: u64) -> String {
        let note = self.note(number);
        let mut random = self.random(number, 1);
        let random = &mut random;
        let mut telling: Vec<&str> = note
            .text
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'))
            .filter(|word| word.len() > 2 && !Vocabulary::is_function_word(&word.to_lowercase()))
            .collect();
        let mut words = vec![capitalised(random.pick(QUESTION_WORDS))];
        words.extend(random.pick(QUESTION_GLUE).iter().map(|word| (*word).to_owned()));
        let wanted = random.between(QUESTION_WORDS_MIN, QUESTION_WORDS_MAX);
        for _ in 0..random.between(2, 5).min(telling.len()) {
            let place = random.below(telling.len());
            words.push(telling.swap_remove(place).to_owned());
            if words.len() + 1 < wanted && random.happens(0.6) {
                words.push(random.pick(QUESTION_LINKS).to_owned());
            }
        }
        while words.len() < QUESTION_WORDS_MIN {
            words.push(self.vocabulary.content_word(random).to_owned());
        }
        words.truncate(wanted);
        words.join(" ") + "?"
    }

    /// Every note has a stream of numbers of its own, and another one for its question.
    fn random(&self, number: u64, stream: u64) -> Random {
        Random::new(self.seed ^ (number * 2 + stream + 1).wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// Somebody did something to something: where entities and relations come from.
    fn opening(&self, random: &mut Random) -> String {
        let person = &self.people[self.person.draw(random)];
        let verb = random.pick(VERBS);
        let identifier = &self.identifiers[self.identifier.draw(random)];
        let rest = self.words(random, 5);
        match random.below(4) {
            0 => format!("{person} {verb} {identifier} {rest}."),
            1 => format!("{person} {verb} {identifier} {rest} in {}.", self.paths[self.path.draw(random)]),
            2 => format!("{person} {verb} {identifier} since v{} {rest}.", version(random)),
            _ => format!("{person} {verb} {rest} {identifier}."),
        }
    }

    fn sentence(&self, random: &mut Random) -> String {
        let count = random.between(6, 12);
        let words = capitalised(&self.words(random, count));
        match random.below(8) {
            0 => format!("{words} {}.", self.people[self.person.draw(random)]),
            1 => format!("{words} `{}`.", self.identifiers[self.identifier.draw(random)]),
            2 => format!("{words} {}.", self.paths[self.path.draw(random)]),
            3 => format!("{words} OPS-{}.", random.between(1, 4_000)),
            4 => format!("{words} {} ms.", random.between(1, 900)),
            _ => format!("{words}."),
        }
    }

    fn words(&self, random: &mut Random, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| self.vocabulary.word(random)).collect();
        words.join(" ")
    }
}

fn person(random: &mut Random) -> String {
    format!("{} {}", capitalised(&syllables(random, 2)), capitalised(&syllables(random, 3)))
}

fn identifier(vocabulary: &Vocabulary, random: &mut Random) -> String {
    let first = vocabulary.content_word(random).to_owned();
    let second = vocabulary.content_word(random).to_owned();
    match random.below(3) {
        0 => format!("{first}_{second}"),
        1 => format!("{}{}", capitalised(&first), capitalised(&second)),
        _ => format!("{first}::{second}"),
    }
}

fn path(vocabulary: &Vocabulary, random: &mut Random) -> String {
    let folder = vocabulary.content_word(random).to_owned();
    format!("src/{folder}/{}.{}", vocabulary.content_word(random), random.pick(EXTENSIONS))
}

fn version(random: &mut Random) -> String {
    format!("{}.{}.{}", random.below(4), random.below(20), random.below(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_the_same_for_a_seed_and_about_as_long_as_promised() {
        let notes = Notes::new(7);
        assert_eq!(notes.note(3).text, Notes::new(7).note(3).text);
        assert_ne!(notes.note(3).text, Notes::new(8).note(3).text);
        let bytes: usize = (0..500).map(|number| notes.note(number).text.len()).sum();
        assert!((170..=240).contains(&(bytes / 500)), "{} bytes", bytes / 500);
    }

    #[test]
    fn questions_have_5_to_12_words() {
        let notes = Notes::new(7);
        for number in 0..500 {
            let question = notes.question(number);
            assert!((5..=12).contains(&question.split_whitespace().count()), "{question}");
        }
    }
}
