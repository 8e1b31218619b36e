//! WordPiece as BERT does it, from a `tokenizer.json`: clean the text, cut it into words, cut each word into the longest
//! pieces that the vocabulary knows. It makes ids and nothing else: no offsets, no padding, no truncation, no training.
//!
//! Ids are those of the crate `tokenizers`, which a test compares where it is compiled in. What another kind of model needs
//! (BPE, Unigram, their normalizers) is refused by name.

mod normalizer;
mod words;

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;
use serde_json::Value;

use self::normalizer::Normalizer;
use self::words::WordSplitter;

/// Common models say 100. A word takes time by the square of its length.
const WORD_CHARS_MAX: usize = 1_000;

pub struct WordPiece {
    added: AddedTokens,
    normalizer: Normalizer,
    splitter: WordSplitter,
    model: Model,
}

/// Tokens that are found in a text before anything else is done to it: `[SEP]` and the like.
struct AddedTokens {
    finder: AhoCorasick,
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, u32>,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    normalized: bool,
    #[serde(default)]
    single_word: bool,
}

impl WordPiece {
    /// The `Err` says what is wrong or not built in.
    pub fn from_json(json: &Value) -> Result<Self, String> {
        match &json["model"]["type"] {
            Value::String(kind) if kind == "WordPiece" => {}
            Value::String(kind) => return Err(not_built_in("model", kind)),
            _ => return Err("it has no `model` with a `type`".to_owned()),
        }
        let model = Model::deserialize(&json["model"]).map_err(|_| wrong_field("model"))?;
        if model.max_input_chars_per_word > WORD_CHARS_MAX {
            return Err(format!("its `max_input_chars_per_word` is more than {WORD_CHARS_MAX}"));
        }
        Ok(Self {
            added: AddedTokens::from_json(&json["added_tokens"], &model)?,
            normalizer: Normalizer::from_json(&json["normalizer"])?,
            splitter: WordSplitter::from_json(&json["pre_tokenizer"])?,
            model,
        })
    }

    pub fn id_max(&self) -> Option<u32> {
        self.model.vocab.values().chain(&self.added.ids).copied().max()
    }

    #[cfg(feature = "local-model")]
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.model.vocab.get(token).copied()
    }

    pub fn unknown_token(&self) -> Option<u32> {
        self.model.vocab.get(&self.model.unk_token).copied()
    }

    /// `None` where a word is unknown and the vocabulary has no token for unknown words.
    pub fn encode(&self, text: &str) -> Option<Vec<u32>> {
        let mut ids = Vec::new();
        let mut end = 0;
        for found in self.added.finder.find_iter(text) {
            self.encode_between(&text[end..found.start()], &mut ids)?;
            ids.push(self.added.ids[found.pattern().as_usize()]);
            end = found.end();
        }
        self.encode_between(&text[end..], &mut ids)?;
        Some(ids)
    }

    fn encode_between(&self, text: &str, ids: &mut Vec<u32>) -> Option<()> {
        let text = self.normalizer.normalize(text);
        for word in self.splitter.words(&text) {
            match self.model.pieces(word) {
                Some(pieces) => ids.extend(pieces),
                None => ids.push(self.unknown_token()?),
            }
        }
        Some(())
    }
}

impl Model {
    /// From the left, the longest piece each time. `None` where a part is unknown: then the whole word is.
    fn pieces(&self, word: &str) -> Option<Vec<u32>> {
        if word.chars().count() > self.max_input_chars_per_word {
            return None;
        }
        let mut pieces = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let prefix = if pieces.is_empty() { "" } else { &self.continuing_subword_prefix };
            let mut ends = rest.char_indices().map(|(at, char)| at + char.len_utf8()).rev();
            let (id, end) = ends.find_map(|end| Some((*self.vocab.get(&format!("{prefix}{}", &rest[..end]))?, end)))?;
            pieces.push(id);
            rest = &rest[end..];
        }
        Some(pieces)
    }
}

impl AddedTokens {
    fn from_json(json: &Value, model: &Model) -> Result<Self, String> {
        let tokens: Option<Vec<AddedToken>> =
            Deserialize::deserialize(json).map_err(|_| wrong_field("added_tokens"))?;
        let tokens: Vec<AddedToken> = tokens.into_iter().flatten().filter(|token| !token.content.is_empty()).collect();
        // Spaces around a token (`lstrip`, `rstrip`) are no words, whether they are taken along or not.
        if let Some(token) = tokens.iter().find(|token| token.normalized || token.single_word) {
            return Err(not_built_in("kind of added token", &token.content));
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|token| &token.content))
            .map_err(|error| error.to_string())?;
        let ids = tokens.iter().map(|token| model.vocab.get(&token.content).copied().unwrap_or(token.id)).collect();
        Ok(Self { finder, ids })
    }
}

fn wrong_field(part: &str) -> String {
    format!("a field of its `{part}` is missing or of the wrong type")
}

fn not_built_in(part: &str, name: &str) -> String {
    format!("the {part} `{name}` is not built in; hint: build with the cargo feature `tokenizers`")
}
