//! What a value may be: every key of every source is checked against the table before anything is merged.

#![expect(clippy::disallowed_types, reason = "settings have values of any type")]

use figment::value::{Dict, Num, Value};
use rootset_api::StrategyChoice;
use rootset_model::names::check_workspace_id;
use rootset_model::time::parse_duration_ms;
use rootset_service::ServiceError;
use rootset_store::Location;

use super::keys::{self, Key, Kind, WORKING_FOLDER_KEYS};
use super::retention;
use super::sources::{Layer, SourceKind};

/// Characters of a value that an error shows.
const VALUE_CHARS_SHOWN: usize = 80;
/// Names at least this alike are suggested.
const ALIKE_MIN: f64 = 0.75;
/// What turns a recurring thing off.
pub const OFF: &str = "off";

pub fn layer(layer: &Layer) -> Result<(), ServiceError> {
    for (path, value) in flattened(&layer.values) {
        let Some(key) = keys::find(&path) else { return Err(unknown(&path, layer)) };
        if layer.kind == SourceKind::WorkingFolder && !WORKING_FOLDER_KEYS.contains(&key.path) {
            return Err(not_here(&path, layer));
        }
        if let Err(allowed) = value_of(key, &path, &value) {
            let shown = shown(key, &value);
            let message = format!("`{path}` is {shown} in {}; allowed: {allowed}", layer.origin);
            return Err(ServiceError::invalid(message));
        }
    }
    Ok(())
}

/// Leaves with their dotted paths. A table under the name of a key is a leaf: the check of its type refuses it.
fn flattened(values: &Dict) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    let mut open: Vec<(String, Value)> = values.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Dict(_, inner) if keys::is_section(&path) => {
                open.extend(inner.into_iter().map(|(name, value)| (format!("{path}.{name}"), value)));
            }
            value => leaves.push((path, value)),
        }
    }
    leaves.sort_by(|a, b| a.0.cmp(&b.0));
    leaves
}

fn unknown(path: &str, layer: &Layer) -> ServiceError {
    let shown: String = path.chars().take(VALUE_CHARS_SHOWN).collect();
    if keys::is_section(path) {
        return ServiceError::invalid(format!("`{shown}` in {} is a section, not a value", layer.origin));
    }
    let error = ServiceError::invalid(format!("unknown key `{shown}` in {}", layer.origin));
    for secret in [".api_key", ".secret"] {
        if let Some(section) = path.strip_suffix(secret) {
            return error.with_hint(format!(
                "secrets are read from the environment only: name the variable in `{section}{secret}_env`"
            ));
        }
    }
    let best = keys::all()
        .map(|key| (strsim::jaro_winkler(path, key.path), key))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(alike, _)| *alike >= ALIKE_MIN);
    match best {
        Some((_, near)) => error.with_hint(format!("did you mean `{}`?", layer.kind.key_as_written(&near.written()))),
        None => error.with_hint("`rootset config example` lists every key"),
    }
}

fn not_here(path: &str, layer: &Layer) -> ServiceError {
    let allowed = WORKING_FOLDER_KEYS.join("` and `");
    ServiceError::invalid(format!(
        "`{path}` may not be set in {}: a file in the working folder may set only `{allowed}`",
        layer.origin
    ))
    .with_hint("put it in your own configuration, or name this file with `--config` if you trust it")
}

/// The value in words, but never what may be a secret.
fn shown(key: &Key, value: &Value) -> String {
    let is_hidden = match key.kind {
        Kind::Variable => true,
        Kind::Url | Kind::Database => value.as_str().is_some_and(|text| text.contains('@')),
        _ => false,
    };
    if is_hidden {
        return "(hidden)".to_owned();
    }
    let json = as_json(value).to_string();
    let cut: String = json.chars().take(VALUE_CHARS_SHOWN).collect();
    format!("`{cut}`")
}

/// Answers with what is allowed when the value is not.
fn value_of(key: &Key, path: &str, value: &Value) -> Result<(), String> {
    let text = value.as_str();
    let is_filled = text.is_some_and(|text| !text.trim().is_empty());
    let (is_good, allowed) = match key.kind {
        Kind::Text => (is_filled, "text that is not blank".to_owned()),
        Kind::Database => return database(text),
        Kind::Workspace => match text.map(check_workspace_id) {
            Some(Ok(())) => (true, String::new()),
            _ => (false, "up to 64 of a-z 0-9 _ -, beginning with a letter or digit".to_owned()),
        },
        Kind::Address => {
            let is_address = text.is_some_and(|text| text.parse::<std::net::SocketAddr>().is_ok());
            (is_address, "an IP address and a port, such as `127.0.0.1:7654`".to_owned())
        }
        Kind::Hosts => {
            let is_host = |item: &Value| item.as_str().is_some_and(is_host_name);
            let is_list = value.as_array().is_some_and(|items| items.iter().all(is_host));
            (is_list, "a list of names such as `memory.example.org`, without scheme and port".to_owned())
        }
        Kind::Url => {
            let is_url = text.is_some_and(|text| {
                (text.starts_with("http://") || text.starts_with("https://")) && !text.contains(['@', '?', '#'])
            });
            (is_url, "a URL such as `http://localhost:11434/v1`, without password, query or fragment".to_owned())
        }
        Kind::Variable => {
            let is_name = |text: &str| {
                text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            (text.is_some_and(is_name), "the name of an environment variable, such as `OPENAI_API_KEY`".to_owned())
        }
        Kind::Choice(choices) => {
            let is_choice = text.is_some_and(|text| choices.contains(&text));
            (is_choice, format!("`{}`", choices.join("`, `")))
        }
        Kind::Switch => (value.to_bool().is_some(), "true or false".to_owned()),
        Kind::DurationMs { min, max } => (is_duration(value, min, max), durations_allowed(min, max)),
        Kind::DurationMsOrOff { min, max } => {
            let is_good = text == Some(OFF) || is_duration(value, min, max);
            (is_good, format!("{}; or `{OFF}`", durations_allowed(min, max)))
        }
        Kind::Number { min, max } => {
            (number(value).is_some_and(|it| (min..=max).contains(&it)), format!("a number from {min} to {max}"))
        }
        Kind::Count { min } => (count(value).is_some_and(|it| it >= min), format!("a whole number from {min}")),
        Kind::TextList => {
            let is_list = value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()));
            (is_list, "a list of strings".to_owned())
        }
        Kind::Strategies => (strategies(value).is_some(), format!("a list of {}", known_strategies())),
        Kind::Retention => return retention::field(path, value),
    };
    if is_good { Ok(()) } else { Err(allowed) }
}

/// An IPv6 address stands in brackets, as in the header it is compared with.
fn is_host_name(text: &str) -> bool {
    let is_v6 = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match is_v6 {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)),
    }
}

fn is_duration(value: &Value, min: i64, max: i64) -> bool {
    let milliseconds = match value {
        Value::String(_, text) => parse_duration_ms(text).ok(),
        other => count(other),
    };
    milliseconds.is_some_and(|it| (min..=max).contains(&it))
}

fn durations_allowed(min: i64, max: i64) -> String {
    let from = if min > 1 { format!(" from {}", duration_in_words(min)) } else { String::new() };
    format!("a duration such as `90s`, `24h` or `7d`,{from} up to {}", duration_in_words(max))
}

fn duration_in_words(milliseconds: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    match milliseconds {
        days if days % DAY_MS == 0 => format!("{}d", days / DAY_MS),
        other => format!("{}s", other / 1_000),
    }
}

fn database(text: Option<&str>) -> Result<(), String> {
    // A value of another type is as wrong as blank text, and the same is allowed.
    location(text.unwrap_or_default()).map(drop).map_err(|error| error.0.message)
}

/// The database behind `db`; its error says what is allowed.
pub fn location(db: &str) -> Result<Location, ServiceError> {
    Location::parse(db).map_err(|allowed| ServiceError::invalid(allowed.to_string()))
}

/// At least one strategy: a list without any would be a scheduler that looks for nothing.
pub fn strategies(value: &Value) -> Option<Vec<StrategyChoice>> {
    let choice = |item: &Value| {
        let word = item.as_str()?;
        StrategyChoice::every().into_iter().find(|choice| choice.word() == word)
    };
    value.as_array()?.iter().map(choice).collect::<Option<Vec<_>>>().filter(|choices| !choices.is_empty())
}

fn known_strategies() -> String {
    StrategyChoice::listed(|choice| format!("`{}`", choice.word()))
}

pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Num(_, Num::F64(number)) => Some(*number),
        Value::Num(_, Num::F32(number)) => Some(f64::from(*number)),
        other => count(other).map(|whole| whole as f64),
    }
}

pub fn count(value: &Value) -> Option<i64> {
    match value {
        Value::Num(_, number) => number.to_i128().and_then(|number| i64::try_from(number).ok()),
        _ => None,
    }
}

pub fn as_json(value: &Value) -> serde_json::Value {
    match value {
        // Figment's numbers know their width, JSON's do not.
        Value::Num(..) => match count(value) {
            Some(whole) => whole.into(),
            None => number(value).map_or(serde_json::Value::Null, Into::into),
        },
        other => serde_json::to_value(other).unwrap_or(serde_json::Value::Null),
    }
}
