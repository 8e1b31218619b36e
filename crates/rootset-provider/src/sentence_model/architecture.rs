//! The sizes and choices that a model's settings name. Every one is checked before a byte is allocated for it.

use serde_json::Value;

use super::fault::ModelFault;
use super::files::{CONFIG_FILE, MODULES_FILE, ModelFolder, POOLING_FILE, WINDOW_FILE};
use super::pooling::Pooling;
use crate::ProviderError;

/// `bert-large` has 1,024; what is larger than this is another kind of model.
const HIDDEN_MAX: u64 = 4_096;
const LAYERS_MAX: u64 = 48;
const INTERMEDIATE_MAX: u64 = 16_384;
const POSITIONS_MAX: u64 = 8_192;
const TOKENS_MAX: u64 = 1_000_000;
/// A window needs the tokens that begin and end it, and one between them.
const WINDOW_TOKENS_MIN: u64 = 3;
const NORM_EPSILON_DEFAULT: f32 = 1e-12;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Architecture {
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    pub intermediate: usize,
    pub positions: usize,
    pub tokens: usize,
    pub token_types: usize,
    pub activation: Activation,
    pub norm_epsilon: f32,
    pub pooling: Pooling,
    /// Tokens read at once, with those that begin and end a text.
    pub window_tokens: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    Gelu,
    GeluTanh,
    Relu,
}

impl Architecture {
    pub fn read(folder: &ModelFolder) -> Result<Self, ProviderError> {
        let config = folder.json(CONFIG_FILE)?;
        let mut read = Self::of_config(&config).map_err(folder.about(CONFIG_FILE))?;
        check_modules(&folder.json_if_there(MODULES_FILE)?).map_err(folder.about(MODULES_FILE))?;
        read.pooling = Pooling::of(&folder.json_if_there(POOLING_FILE)?).map_err(folder.about(POOLING_FILE))?;
        let window = folder.json_if_there(WINDOW_FILE)?;
        if !window["max_seq_length"].is_null() {
            let range = (WINDOW_TOKENS_MIN, read.positions as u64);
            read.window_tokens = number(&window, "max_seq_length", range).map_err(folder.about(WINDOW_FILE))?;
        }
        Ok(read)
    }

    fn of_config(config: &Value) -> Result<Self, ModelFault> {
        let word = |field: &'static str, default: &'static str| config[field].as_str().unwrap_or(default).to_owned();
        let not_supported = |field, value, supported| Err(ModelFault::NotSupported { field, value, supported });
        let family = word("model_type", "");
        if family != "bert" {
            return not_supported("model_type", family, "`bert`");
        }
        let position = word("position_embedding_type", "absolute");
        if position != "absolute" {
            return not_supported("position_embedding_type", position, "`absolute`");
        }
        let activation = match word("hidden_act", "gelu").as_str() {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => return not_supported("hidden_act", other.to_owned(), "`gelu`, `gelu_new`, `relu`"),
        };
        let hidden = number(config, "hidden_size", (1, HIDDEN_MAX))?;
        let heads = number(config, "num_attention_heads", (1, HIDDEN_MAX))?;
        if hidden % heads != 0 {
            return Err(ModelFault::UnevenHeads { heads, hidden });
        }
        let positions = number(config, "max_position_embeddings", (WINDOW_TOKENS_MIN, POSITIONS_MAX))?;
        let token_types =
            if config["type_vocab_size"].is_null() { 2 } else { number(config, "type_vocab_size", (1, 16))? };
        Ok(Self {
            hidden,
            layers: number(config, "num_hidden_layers", (1, LAYERS_MAX))?,
            heads,
            intermediate: number(config, "intermediate_size", (1, INTERMEDIATE_MAX))?,
            positions,
            tokens: number(config, "vocab_size", (1, TOKENS_MAX))?,
            token_types,
            activation,
            norm_epsilon: config["layer_norm_eps"].as_f64().map_or(NORM_EPSILON_DEFAULT, |it| it as f32),
            pooling: Pooling::Mean,
            window_tokens: positions,
        })
    }
}

/// What follows the transformer may be pooling and scaling to unit length, and nothing that has weights of its own.
fn check_modules(modules: &Value) -> Result<(), ModelFault> {
    const KNOWN: [&str; 3] = ["Transformer", "Pooling", "Normalize"];
    let kinds = modules.as_array().into_iter().flatten().map(|module| module["type"].as_str().unwrap_or_default());
    for kind in kinds {
        let name = kind.rsplit('.').next().unwrap_or_default();
        if !KNOWN.contains(&name) {
            let supported = "`Transformer`, `Pooling`, `Normalize`";
            return Err(ModelFault::NotSupported { field: "type", value: name.to_owned(), supported });
        }
    }
    Ok(())
}

fn number(json: &Value, field: &'static str, (min, max): (u64, u64)) -> Result<usize, ModelFault> {
    let value = json[field].as_u64().ok_or(ModelFault::NoNumber { field })?;
    if (min..=max).contains(&value) {
        Ok(value as usize)
    } else {
        Err(ModelFault::OutOfRange { field, value, min, max })
    }
}
