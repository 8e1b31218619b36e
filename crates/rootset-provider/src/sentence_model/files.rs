//! The folder of a model: which file is which, read with a limit on its size. Nothing outside the folder is named by what a
//! file says.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::fault::ModelFault;
use crate::ProviderError;
use crate::static_table::Tokenizer;

pub const CONFIG_FILE: &str = "config.json";
pub const WEIGHTS_FILE: &str = "model.safetensors";
pub const TOKENIZER_FILE: &str = "tokenizer.json";
pub const VOCABULARY_FILE: &str = "vocab.txt";
pub const TOKENIZER_CONFIG_FILE: &str = "tokenizer_config.json";
pub const MODULES_FILE: &str = "modules.json";
pub const POOLING_FILE: &str = "1_Pooling/config.json";
pub const WINDOW_FILE: &str = "sentence_bert_config.json";

/// Everything that is read of a model; what else is in its folder is none of it.
pub const MODEL_FILES: &[&str] = &[
    CONFIG_FILE,
    MODULES_FILE,
    POOLING_FILE,
    WINDOW_FILE,
    TOKENIZER_FILE,
    TOKENIZER_CONFIG_FILE,
    VOCABULARY_FILE,
    WEIGHTS_FILE,
];

/// Settings are a few lines.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;
/// The largest common vocabulary, of 250,000 pieces, takes 17 MB.
const TOKENIZER_BYTES_MAX: u64 = 64 << 20;

pub struct ModelFolder {
    path: PathBuf,
    name: String,
}

impl ModelFolder {
    pub fn open(path: &Path) -> Result<Self, ProviderError> {
        match std::fs::canonicalize(path) {
            // By the name that it was asked for: a link and a copy of the same model make the same vectors.
            Ok(found) => {
                let name = path.file_name().or(found.file_name()).map(|name| name.to_string_lossy().into_owned());
                Ok(Self { name: name.unwrap_or_else(|| "model".to_owned()), path: found })
            }
            Err(error) => {
                let is_missing = error.kind() == io::ErrorKind::NotFound;
                let fault = if is_missing { ModelFault::NoModel } else { unreadable(&error) };
                Err(ProviderError::Model { path: path.to_owned(), fault })
            }
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// An error that names the file.
    pub fn about(&self, file: &str) -> impl Fn(ModelFault) -> ProviderError {
        let path = self.path.join(file);
        move |fault| ProviderError::Model { path: path.clone(), fault }
    }

    /// An error that names the file which the tokens came from.
    pub fn about_tokenizer<T>(&self, outcome: Result<T, ModelFault>) -> Result<T, ProviderError> {
        outcome.map_err(self.about(self.tokenizer_file()))
    }

    fn tokenizer_file(&self) -> &'static str {
        if self.path.join(TOKENIZER_FILE).exists() { TOKENIZER_FILE } else { VOCABULARY_FILE }
    }

    /// An open regular file and its size, which is within the limit.
    pub fn file(&self, file: &str, limit_bytes: u64) -> Result<(File, u64), ProviderError> {
        let open = || {
            let path = self.path.join(file);
            // Asked before it is opened: opening a pipe would wait for whoever writes into it.
            if !std::fs::metadata(&path).map_err(|error| unreadable(&error))?.is_file() {
                return Err(ModelFault::NotAFile);
            }
            let opened = File::open(path).map_err(|error| unreadable(&error))?;
            let bytes = opened.metadata().map_err(|error| unreadable(&error))?.len();
            if bytes > limit_bytes { Err(ModelFault::TooLarge { bytes, limit_bytes }) } else { Ok((opened, bytes)) }
        };
        open().map_err(self.about(file))
    }

    fn bytes(&self, file: &str, limit_bytes: u64) -> Result<Vec<u8>, ProviderError> {
        let (opened, size) = self.file(file, limit_bytes)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        // It may have grown since it was asked for its size.
        let read = opened.take(limit_bytes).read_to_end(&mut bytes);
        read.map_err(|error| self.about(file)(unreadable(&error)))?;
        Ok(bytes)
    }

    pub fn json(&self, file: &str) -> Result<Value, ProviderError> {
        let bytes = self.bytes(file, SETTINGS_BYTES_MAX)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| self.about(file)(ModelFault::NotJson(rootset_model::json::fault(&error))))
    }

    /// `null` where there is no such file.
    pub fn json_if_there(&self, file: &str) -> Result<Value, ProviderError> {
        if self.path.join(file).exists() { self.json(file) } else { Ok(Value::Null) }
    }

    /// With the hash of what it was made from.
    pub fn tokenizer(&self) -> Result<(Tokenizer, blake3::Hash), ProviderError> {
        let file = self.tokenizer_file();
        let mut bytes = self.bytes(file, TOKENIZER_BYTES_MAX)?;
        if file == VOCABULARY_FILE {
            let settings = self.json_if_there(TOKENIZER_CONFIG_FILE)?;
            bytes = tokenizer_of_vocabulary(&bytes, &settings).map_err(self.about(file))?;
        }
        let tokenizer = Tokenizer::from_bytes(&bytes).map_err(|fault| ModelFault::Tokenizer(fault.to_string()));
        Ok((tokenizer.map_err(self.about(file))?, blake3::hash(&bytes)))
    }
}

/// What `tokenizer.json` would say: older models only list their pieces, one on each line.
fn tokenizer_of_vocabulary(vocabulary: &[u8], settings: &Value) -> Result<Vec<u8>, ModelFault> {
    let not_text = |_| ModelFault::Tokenizer("not a list of words: it is not UTF-8 text".to_owned());
    let pieces = std::str::from_utf8(vocabulary).map_err(not_text)?.lines();
    let ids: serde_json::Map<String, Value> =
        pieces.enumerate().map(|(id, piece)| (piece.to_owned(), id.into())).collect();
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
    let added: Vec<Value> = special
        .into_iter()
        .filter_map(|token| Some(json!({"id": ids.get(token)?, "content": token, "special": true})))
        .collect();
    let tokenizer = json!({
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true,
            "handle_chinese_chars": settings["tokenize_chinese_chars"].as_bool().unwrap_or(true),
            "strip_accents": settings["strip_accents"].as_bool(),
            "lowercase": settings["do_lower_case"].as_bool().unwrap_or(true),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": ids,
        },
    });
    Ok(tokenizer.to_string().into_bytes())
}

pub fn unreadable(error: &io::Error) -> ModelFault {
    ModelFault::Unreadable(error.kind())
}
