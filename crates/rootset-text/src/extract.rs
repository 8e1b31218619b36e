//! Entities and relations of a content, found by form alone: no model, no dictionary of the world.
//!
//! Meant to be plausible and cheap. A name or an identifier that is missed can still be found by its words; one that is
//! made up would link memories that have nothing in common, so doubtful capitals are left out. The type follows from
//! the form of the text and not from its surroundings, because equal names must become the same entity in every memory.
//!
//! Not here: ids, storage, and extraction by a model.

use std::collections::{HashMap, HashSet};

use rootset_model::limits::{EXTRACTED_DESCRIPTION_CHARS_MAX, EXTRACTED_ENTITIES_MAX};
use rootset_model::{Content, ExtractedEntity, Extraction};

use crate::chars::{floor_boundary, fold};
use crate::extract::mentions::{Mention, mentions};
use crate::extract::reading::{Reading, Sentence};
use crate::extract::relations::Links;
use crate::snippet::preview;

mod forms;
mod mentions;
mod reading;
mod relations;
mod verbs;

/// Stored beside what was found: which extractor found it,
pub const EXTRACTOR_ID: &str = "builtin";
/// and by which of its rules. Other rules are another version.
pub const EXTRACTOR_VERSION: i64 = 2;

/// Where an entity stands far into its sentence, its description begins this many bytes before it.
const DESCRIPTION_LEAD_BYTES: usize = 60;

/// What the topic, the context, the decisions and the rationale speak of.
pub fn extract(content: &Content) -> Extraction {
    let lists = content.decisions.iter().chain(&content.rationale);
    let fields = [&content.topic, &content.context].into_iter().chain(lists);
    let readings: Vec<Reading<'_>> = fields.map(|field| Reading::of(field)).collect();
    let mut vocabulary = Vocabulary::default();
    readings.iter().for_each(|reading| vocabulary.learn(reading));

    let mut found = Entities::default();
    let mut links = Links::default();
    for reading in &readings {
        for sentence in reading.sentences() {
            let mentions = mentions(&sentence, &vocabulary);
            let places: Vec<Option<usize>> = mentions.iter().map(|it| found.note(&sentence, it)).collect();
            if !sentence.is_code {
                links.read(&sentence, &mentions, &places, &found);
            }
        }
    }
    Extraction { relations: links.into_relations(), entities: found.entities }.canonical()
}

/// How words are written elsewhere in the same content.
#[derive(Debug, Default)]
struct Vocabulary<'a> {
    /// Words with a capital that no beginning of a sentence asks for.
    capitals: HashSet<&'a str>,
    /// Words in lower case.
    common: HashSet<&'a str>,
}

impl<'a> Vocabulary<'a> {
    fn learn(&mut self, reading: &Reading<'a>) {
        for sentence in reading.sentences() {
            for (index, piece) in sentence.pieces.iter().enumerate() {
                let word = piece.of(sentence.text);
                if word.starts_with(char::is_lowercase) {
                    self.common.insert(word);
                } else if !sentence.is_initial(index) && !sentence.is_headline && !sentence.is_shouted {
                    self.capitals.insert(word);
                }
            }
        }
    }
}

/// Entities in order of first mention, each once.
#[derive(Debug, Default)]
struct Entities {
    entities: Vec<ExtractedEntity>,
    /// Case-folded, in the same order.
    keys: Vec<String>,
    places: HashMap<(String, &'static str), usize>,
}

impl Entities {
    /// Counts a mention. None when the content has more entities than one extraction may hold.
    fn note(&mut self, sentence: &Sentence<'_, '_>, mention: &Mention) -> Option<usize> {
        let name = &sentence.text[mention.start..mention.end];
        let key = (fold(name), mention.entity_type);
        if let Some(&place) = self.places.get(&key) {
            self.entities[place].weight += 1.0;
            return Some(place);
        }
        if self.entities.len() == EXTRACTED_ENTITIES_MAX {
            return None;
        }
        let place = self.entities.len();
        self.entities.push(ExtractedEntity {
            name: name.to_owned(),
            entity_type: mention.entity_type.to_owned(),
            description: description(sentence, mention),
            weight: 1.0,
        });
        self.keys.push(key.0.clone());
        self.places.insert(key, place);
        Some(place)
    }
}

/// The sentence of a mention, or the part of it that reaches the mention.
fn description(sentence: &Sentence<'_, '_>, mention: &Mention) -> String {
    let is_near = mention.end - sentence.start <= EXTRACTED_DESCRIPTION_CHARS_MAX;
    let lead = floor_boundary(sentence.text, mention.start.saturating_sub(DESCRIPTION_LEAD_BYTES));
    let start = if is_near { sentence.start } else { lead.max(sentence.start) };
    preview(&sentence.text[start..sentence.end.max(mention.end)], EXTRACTED_DESCRIPTION_CHARS_MAX)
}

#[cfg(test)]
mod tests;
