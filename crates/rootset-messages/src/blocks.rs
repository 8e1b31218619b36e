//! The text of a block, and what its text does not show.
//!
//! Not here: what a block is good for. Everything is one level deep: a result holds blocks, those hold none that matter.

use serde_json::Value;

/// What the APIs count for an image of the usual size.
pub(crate) const IMAGE_TOKENS: u32 = 1_600;
/// A page of a document; how many there are is guessed from its size.
const PAGE_TOKENS: u32 = 1_600;
/// Base64 of a page of a document with few pictures.
const PAGE_BASE64_BYTES: usize = 75_000;
/// Encrypted thinking: base64, and not denser than the text it hides.
const ENCRYPTED_BYTES_PER_TOKEN: usize = 6;

/// Readable text, and tokens beside it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub text: String,
    pub extra_tokens: u32,
}

impl Shown {
    fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), extra_tokens: 0 }
    }

    pub fn add(&mut self, other: Self) {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&other.text);
        self.extra_tokens = self.extra_tokens.saturating_add(other.extra_tokens);
    }
}

pub(crate) fn type_of(block: &Value) -> &str {
    text_at(block, "type").unwrap_or_default()
}

pub(crate) fn text_at<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field).and_then(Value::as_str)
}

pub(crate) fn is_thinking(block: &Value) -> bool {
    matches!(type_of(block), "thinking" | "redacted_thinking")
}

/// The id of a tool call, wherever the tool runs: `tool_use`, `server_tool_use`, `mcp_tool_use`. Empty when it has none.
pub(crate) fn call_id(block: &Value) -> Option<&str> {
    is_kind_of(block, "tool_use").then(|| text_at(block, "id").unwrap_or_default())
}

/// Of the call that it answers: `tool_result`, `web_search_tool_result` and its like. Empty when it names none.
pub(crate) fn result_id(block: &Value) -> Option<&str> {
    is_kind_of(block, "tool_result").then(|| text_at(block, "tool_use_id").unwrap_or_default())
}

/// A content, which is a text, a list of blocks, or nothing.
pub(crate) fn show_content(content: &Value) -> Shown {
    match content {
        Value::Null => Shown::default(),
        Value::String(text) => Shown::words(text.as_str()),
        Value::Array(blocks) => {
            let mut all = Shown::default();
            blocks.iter().for_each(|block| all.add(show_simple(block)));
            all
        }
        other => show_simple(other),
    }
}

/// Any block of either API.
pub(crate) fn show(block: &Value) -> Shown {
    if call_id(block).is_some() {
        return Shown::words(call_text(text_at(block, "name").unwrap_or_default(), block.get("input")));
    }
    if result_id(block).is_some() {
        return show_content(block.get("content").unwrap_or(&Value::Null));
    }
    show_simple(block)
}

/// `name {input}`.
pub(crate) fn call_text(name: &str, input: Option<&Value>) -> String {
    match input {
        None | Some(Value::Null) => name.to_owned(),
        Some(Value::String(text)) => format!("{name} {text}"),
        Some(input) => format!("{name} {input}"),
    }
}

fn show_simple(block: &Value) -> Shown {
    match type_of(block) {
        "text" | "input_text" | "output_text" => Shown::words(text_at(block, "text").unwrap_or_default()),
        "refusal" => Shown::words(text_at(block, "refusal").unwrap_or_default()),
        "thinking" => Shown::words(text_at(block, "thinking").unwrap_or_default()),
        "redacted_thinking" => {
            let tokens = text_at(block, "data").unwrap_or_default().len() / ENCRYPTED_BYTES_PER_TOKEN;
            Shown { text: String::new(), extra_tokens: u32::try_from(tokens).unwrap_or(u32::MAX) }
        }
        "image" => show_image(block.get("source").unwrap_or(&Value::Null)),
        "image_url" => show_image_url(block),
        "document" => show_document(block),
        "input_audio" => {
            let kind = block.pointer("/input_audio/format").and_then(Value::as_str);
            Shown::words(format!("[audio {}]", kind.unwrap_or("unknown")))
        }
        "file" => show_file(block.get("file").unwrap_or(&Value::Null)),
        "web_search_result" | "search_result" => show_search_result(block),
        "" => Shown::words(block.as_str().map_or_else(|| block.to_string(), str::to_owned)),
        other => Shown::words(format!("[{other}] {block}")),
    }
}

fn show_image(source: &Value) -> Shown {
    let what = text_at(source, "media_type").or_else(|| text_at(source, "url")).or_else(|| text_at(source, "file_id"));
    let text = what.map_or_else(|| "[image]".to_owned(), |what| format!("[image {what}]"));
    Shown { text, extra_tokens: IMAGE_TOKENS }
}

fn show_image_url(part: &Value) -> Shown {
    let url = part.pointer("/image_url/url").and_then(Value::as_str).unwrap_or_default();
    let what = split_data_url(url).map_or(url, |(media_type, _)| media_type);
    Shown { text: format!("[image {what}]"), extra_tokens: IMAGE_TOKENS }
}

fn show_document(block: &Value) -> Shown {
    let source = block.get("source").unwrap_or(&Value::Null);
    let mut shown = Shown::default();
    for field in ["title", "context"] {
        shown.add(Shown::words(text_at(block, field).unwrap_or_default()));
    }
    match type_of(source) {
        "text" => shown.add(Shown::words(text_at(source, "data").unwrap_or_default())),
        "content" => match source.get("content") {
            Some(Value::Array(inner)) => {
                let texts: Vec<&str> = inner.iter().filter_map(|block| text_at(block, "text")).collect();
                shown.add(Shown::words(texts.join("\n")));
            }
            Some(Value::String(text)) => shown.add(Shown::words(text.as_str())),
            _ => {}
        },
        _ => {
            let what = ["media_type", "url", "file_id"].into_iter().find_map(|field| text_at(source, field));
            let size = text_at(source, "data").map_or(0, str::len);
            shown.add(Shown {
                text: format!("[document {}]", what.unwrap_or("unknown")),
                extra_tokens: page_tokens(size),
            });
        }
    }
    shown
}

fn show_file(file: &Value) -> Shown {
    let name = text_at(file, "filename").or_else(|| text_at(file, "file_id")).unwrap_or("unknown");
    let size = text_at(file, "file_data").map_or(0, str::len);
    Shown { text: format!("[file {name}]"), extra_tokens: page_tokens(size) }
}

fn page_tokens(base64_bytes: usize) -> u32 {
    let pages = u32::try_from(base64_bytes.div_ceil(PAGE_BASE64_BYTES)).unwrap_or(u32::MAX);
    pages.max(1).saturating_mul(PAGE_TOKENS)
}

fn show_search_result(block: &Value) -> Shown {
    let mut shown = Shown::default();
    for field in ["title", "url", "source"] {
        shown.add(Shown::words(text_at(block, field).unwrap_or_default()));
    }
    if let Some(Value::Array(inner)) = block.get("content") {
        for text in inner.iter().filter_map(|block| text_at(block, "text")) {
            shown.add(Shown::words(text));
        }
    }
    shown
}

/// Media type and base64 of `data:image/png;base64,…`.
pub(crate) fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// Whether it is of this type, or of one that is named after it: `server_tool_use` is a `tool_use`.
pub(crate) fn is_kind_of(block: &Value, kind: &str) -> bool {
    type_of(block).strip_suffix(kind).is_some_and(|before| before.is_empty() || before.ends_with('_'))
}
