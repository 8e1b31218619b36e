//! Turns texts into token ids: with WordPiece if `tokenizer.json` describes that, else with the crate `tokenizers` if it is
//! compiled in.

use serde_json::Value;

use super::wordpiece::WordPiece;
use crate::error::TableFault;

pub enum Tokenizer {
    WordPiece(WordPiece),
    #[cfg(feature = "tokenizers")]
    Other(other::OtherTokenizer),
}

impl Tokenizer {
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TableFault> {
        let json: Value = serde_json::from_slice(bytes)
            .map_err(|error| TableFault::NotTokenizer(format!("it {}", rootset_model::json::fault(&error))))?;
        match WordPiece::from_json(&json) {
            Ok(word_piece) => Ok(Self::WordPiece(word_piece)),
            #[cfg(feature = "tokenizers")]
            Err(_) => other::OtherTokenizer::from_bytes(bytes, &json["model"]).map(Self::Other),
            #[cfg(not(feature = "tokenizers"))]
            Err(reason) => Err(TableFault::NotTokenizer(reason)),
        }
    }

    /// `None` where the text cannot be cut into tokens.
    pub fn encode(&self, text: &str) -> Option<Vec<u32>> {
        match self {
            Self::WordPiece(word_piece) => word_piece.encode(text),
            #[cfg(feature = "tokenizers")]
            Self::Other(other) => other.encode(text),
        }
    }

    /// The id of a token that is written exactly so.
    #[cfg(feature = "local-model")]
    pub fn token_id(&self, token: &str) -> Option<u32> {
        match self {
            Self::WordPiece(word_piece) => word_piece.token_id(token),
            #[cfg(feature = "tokenizers")]
            Self::Other(other) => other.token_id(token),
        }
    }

    pub fn id_max(&self) -> Option<u32> {
        match self {
            Self::WordPiece(word_piece) => word_piece.id_max(),
            #[cfg(feature = "tokenizers")]
            Self::Other(other) => other.id_max(),
        }
    }

    /// The id that stands for every unknown word; its row says nothing about a text.
    pub fn unknown_token(&self) -> Option<u32> {
        match self {
            Self::WordPiece(word_piece) => word_piece.unknown_token(),
            #[cfg(feature = "tokenizers")]
            Self::Other(other) => other.unknown_token,
        }
    }
}

#[cfg(feature = "tokenizers")]
mod other {
    use serde_json::Value;

    use crate::error::TableFault;

    pub struct OtherTokenizer {
        tokenizer: tokenizers::Tokenizer,
        pub unknown_token: Option<u32>,
    }

    impl OtherTokenizer {
        pub fn from_bytes(bytes: &[u8], model: &Value) -> Result<Self, TableFault> {
            // The library's message is that of its parser.
            let fault = |_: tokenizers::Error| TableFault::NotTokenizer("its parts do not fit together".to_owned());
            let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes).map_err(fault)?;
            // Padding would count as words, truncation would drop words; a mean needs neither.
            tokenizer.with_padding(None);
            tokenizer.with_truncation(None).map_err(fault)?;
            // Word models name their unknown token, Unigram gives its id.
            let unknown_token = match model["unk_token"].as_str() {
                Some(token) => tokenizer.token_to_id(token),
                None => model["unk_id"].as_u64().and_then(|id| u32::try_from(id).ok()),
            };
            Ok(Self { tokenizer, unknown_token })
        }

        pub fn encode(&self, text: &str) -> Option<Vec<u32>> {
            self.tokenizer.encode_fast(text, false).ok().map(|encoding| encoding.get_ids().to_vec())
        }

        #[cfg(feature = "local-model")]
        pub fn token_id(&self, token: &str) -> Option<u32> {
            self.tokenizer.token_to_id(token)
        }

        pub fn id_max(&self) -> Option<u32> {
            self.tokenizer.get_vocab(true).into_values().max()
        }
    }
}

#[cfg(test)]
mod tests;
