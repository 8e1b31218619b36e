//! Every key, listed once: checking, the environment, `config show` and `config example` all read this table.

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    Database,
    Workspace,
    Url,
    Variable,
    Choice(&'static [&'static str]),
    DurationMs { min: i64, max: i64 },
    Number { min: f64, max: f64 },
    Count { min: i64 },
    TextList,
}

#[derive(Debug)]
pub struct Key {
    pub path: &'static str,
    pub kind: Kind,
    pub value: Value,
    /// For people; one line.
    pub about: &'static str,
}

/// What is in force when nobody sets the key, in TOML.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Default(&'static str),
    /// No default; this is what one could look like.
    Unset {
        example: &'static str,
    },
}

impl Key {
    pub fn default_value(&self) -> serde_json::Value {
        match self.value {
            // The defaults of the table are also JSON; a test holds that.
            Value::Default(toml) => serde_json::from_str(toml).unwrap_or(serde_json::Value::Null),
            Value::Unset { .. } => serde_json::Value::Null,
        }
    }
}

const DAY_MS: i64 = 86_400_000;
/// A model's answer must come within the lease on a pending memory.
const TIMEOUT_MS_MAX: i64 = 200_000;
const TIMEOUT: Kind = Kind::DurationMs { min: 1, max: TIMEOUT_MS_MAX };

/// In the order of `config example`: keys without a section first, sections together.
pub const KEYS: &[Key] = &[
    Key {
        path: "db",
        kind: Kind::Database,
        value: Value::Unset { example: r#""/home/alice/memory.db""# },
        about: "database: a path or `sqlite:PATH`; unset: rootset/rootset.db in the XDG data folder",
    },
    Key {
        path: "workspace",
        kind: Kind::Workspace,
        value: Value::Default(r#""default""#),
        about: "workspace of commands that name none",
    },
    Key {
        path: "gc.grace",
        kind: Kind::DurationMs { min: 0, max: 3_650 * DAY_MS },
        value: Value::Default(r#""7d""#),
        about: "how long trash can be undone",
    },
    Key {
        path: "limits.plan_fraction_max",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        value: Value::Default("0.2"),
        about: "largest share of one source's memories that a plan may trash without being allowed to be large",
    },
    Key {
        path: "limits.plan_count_free",
        kind: Kind::Count { min: 0 },
        value: Value::Default("5"),
        about: "up to this many memories the share does not matter",
    },
    Key {
        path: "memory.keep_revisions",
        kind: Kind::Count { min: 0 },
        value: Value::Default("20"),
        about: "earlier revisions kept per memory",
    },
    Key {
        path: "extract.provider",
        kind: Kind::Choice(&["builtin", "openai"]),
        value: Value::Default(r#""builtin""#),
        about: "who finds entities and relations: `builtin` rules, or a model behind an `openai`-compatible endpoint",
    },
    Key {
        path: "extract.base_url",
        kind: Kind::Url,
        value: Value::Unset { example: r#""http://localhost:11434/v1""# },
        about: "what `/chat/completions` is appended to",
    },
    Key {
        path: "extract.model",
        kind: Kind::Text,
        value: Value::Unset { example: r#""qwen3:8b""# },
        about: "name of the model at that endpoint",
    },
    Key {
        path: "extract.api_key_env",
        kind: Kind::Variable,
        value: Value::Unset { example: r#""OPENAI_API_KEY""# },
        about: "environment variable that holds the key; keys are never read from files",
    },
    Key { path: "extract.timeout", kind: TIMEOUT, value: Value::Default(r#""60s""#), about: "time for one attempt" },
    Key {
        path: "embed.provider",
        kind: Kind::Choice(&["none", "openai", "static"]),
        value: Value::Default(r#""none""#),
        about: "vectors for search: `none`, an `openai`-compatible endpoint, or a `static` table on disk",
    },
    Key {
        path: "embed.base_url",
        kind: Kind::Url,
        value: Value::Unset { example: r#""http://localhost:11434/v1""# },
        about: "what `/embeddings` is appended to",
    },
    Key {
        path: "embed.model",
        kind: Kind::Text,
        value: Value::Unset { example: r#""nomic-embed-text""# },
        about: "name of the model at that endpoint",
    },
    Key {
        path: "embed.api_key_env",
        kind: Kind::Variable,
        value: Value::Unset { example: r#""OPENAI_API_KEY""# },
        about: "environment variable that holds the key",
    },
    Key {
        path: "embed.path",
        kind: Kind::Text,
        value: Value::Unset { example: r#""/opt/models/potion-base-8M""# },
        about: "folder of a static table: model.safetensors and tokenizer.json",
    },
    Key { path: "embed.timeout", kind: TIMEOUT, value: Value::Default(r#""60s""#), about: "time for one attempt" },
    Key {
        path: "code.exclude",
        kind: Kind::TextList,
        value: Value::Default("[]"),
        about: "patterns of files that the code index leaves out",
    },
];

/// What a file in the working folder may set: a cloned repository must not redirect models or turn deletion on.
pub const WORKING_FOLDER_KEYS: &[&str] = &["workspace", "code.exclude"];

pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// Whether keys live under this name.
pub fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_and_example_is_json_too() {
        for key in KEYS {
            let (Value::Default(text) | Value::Unset { example: text }) = key.value;
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{}: {text}", key.path);
        }
    }

    #[test]
    fn sections_stand_together() {
        let mut seen: Vec<&str> = Vec::new();
        for key in KEYS {
            let section = key.path.rsplit_once('.').map_or("", |(section, _)| section);
            if seen.last() != Some(&section) {
                assert!(!seen.contains(&section), "{section} is in two places");
                seen.push(section);
            }
        }
    }
}
