//! What is done to a text before it is cut into words.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{not_built_in, wrong_field};

pub enum Normalizer {
    Nothing,
    Bert(BertNormalizer),
    Lowercase,
    StripAccents,
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Sequence(Vec<Normalizer>),
}

#[derive(Deserialize)]
pub struct BertNormalizer {
    clean_text: bool,
    handle_chinese_chars: bool,
    /// Unset: as `lowercase`.
    strip_accents: Option<bool>,
    lowercase: bool,
}

impl Normalizer {
    pub fn from_json(json: &Value) -> Result<Self, String> {
        let Some(kind) = json["type"].as_str() else {
            return if json.is_null() { Ok(Self::Nothing) } else { Err("the `normalizer` has no `type`".to_owned()) };
        };
        Ok(match kind {
            "BertNormalizer" => Self::Bert(BertNormalizer::deserialize(json).map_err(|_| wrong_field("normalizer"))?),
            "Lowercase" => Self::Lowercase,
            "StripAccents" => Self::StripAccents,
            "NFC" => Self::Nfc,
            "NFD" => Self::Nfd,
            "NFKC" => Self::Nfkc,
            "NFKD" => Self::Nfkd,
            // One level deep, which is all that files have: no recursion over what a file says.
            "Sequence" => {
                let parts = json["normalizers"].as_array().ok_or("the `Sequence` has no `normalizers`")?;
                let is_nested = |part: &Value| part["type"] == "Sequence";
                if parts.iter().any(is_nested) {
                    return Err(not_built_in("normalizer", "Sequence in a Sequence"));
                }
                Self::Sequence(parts.iter().map(Self::from_json).collect::<Result<_, _>>()?)
            }
            other => return Err(not_built_in("normalizer", other)),
        })
    }

    pub fn normalize<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self {
            Self::Nothing => Cow::Borrowed(text),
            Self::Bert(bert) => Cow::Owned(bert.normalize(text)),
            Self::Lowercase => Cow::Owned(lowercase(text)),
            Self::StripAccents => Cow::Owned(text.chars().filter(|&char| !is_combining_mark(char)).collect()),
            Self::Nfc => Cow::Owned(text.nfc().collect()),
            Self::Nfd => Cow::Owned(text.nfd().collect()),
            Self::Nfkc => Cow::Owned(text.nfkc().collect()),
            Self::Nfkd => Cow::Owned(text.nfkd().collect()),
            Self::Sequence(parts) => {
                let step = |text: Cow<'t, str>, part: &Self| Cow::Owned(part.normalize(&text).into_owned());
                parts.iter().fold(Cow::Borrowed(text), step)
            }
        }
    }
}

impl BertNormalizer {
    fn normalize(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.clean_text {
            static INVISIBLE: LazyLock<Regex> = LazyLock::new(|| {
                Regex::new(r"[[\p{Cc}\p{Cf}\p{Co}\u{FFFD}]--[\t\n\r]]").expect("a regular expression of our own")
            });
            text = INVISIBLE.replace_all(&text, "").into_owned();
            text = text.chars().map(|char| if char.is_whitespace() { ' ' } else { char }).collect();
        }
        if self.handle_chinese_chars {
            text = text.chars().flat_map(spaced_if_chinese).flatten().collect();
        }
        if self.strip_accents.unwrap_or(self.lowercase) {
            static ACCENT: LazyLock<Regex> =
                LazyLock::new(|| Regex::new(r"\p{Mn}").expect("a regular expression of our own"));
            let decomposed: String = text.nfd().collect();
            text = ACCENT.replace_all(&decomposed, "").into_owned();
        }
        if self.lowercase {
            text = lowercase(&text);
        }
        text
    }
}

/// Letter by letter: a sigma at the end of a word is a sigma like any other.
fn lowercase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Each of these is a word of its own.
fn spaced_if_chinese(char: char) -> [Option<char>; 3] {
    let is_chinese = matches!(
        u32::from(char),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    );
    let space = is_chinese.then_some(' ');
    [space, Some(char), space]
}
