//! Where one word of a text ends and the next begins.

use regex::Regex;
use serde_json::Value;

use super::not_built_in;

/// Words are what its expression finds; all else is between words.
pub struct WordSplitter(Regex);

impl WordSplitter {
    pub fn from_json(json: &Value) -> Result<Self, String> {
        let expression = match json["type"].as_str() {
            // Every mark of punctuation is a word of its own; so is every sign of ASCII that is neither letter nor digit.
            Some("BertPreTokenizer") => r"[\p{P}[:punct:]]|[^\s\p{P}[:punct:]]+",
            Some("Whitespace") => r"\w+|[^\w\s]+",
            Some("WhitespaceSplit") => r"\S+",
            Some(other) => return Err(not_built_in("pre-tokenizer", other)),
            // The whole text is one word.
            None if json.is_null() => r"(?s).+",
            None => return Err("the `pre_tokenizer` has no `type`".to_owned()),
        };
        Ok(Self(Regex::new(expression).expect("a regular expression of our own")))
    }

    pub fn words<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.0.find_iter(text).map(|found| found.as_str())
    }
}
