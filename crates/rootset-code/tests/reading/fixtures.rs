//! Sources as people write them, for every language: `fixtures/<language>/<path in the repository>`.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rootset_code::{Language, Reader, Source, language_of};
use rootset_model::code::Outline;

pub struct Fixture {
    /// The folder of the fixture.
    pub language: String,
    /// In the repository `demo-app`.
    pub path: String,
    pub text: String,
}

/// In the order of their paths.
pub static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reading/fixtures");
    let fixture = |file: PathBuf| {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap();
        let (language, path) = path.split_once(std::path::MAIN_SEPARATOR).unwrap();
        Fixture {
            language: language.to_owned(),
            path: path.replace(std::path::MAIN_SEPARATOR, "/"),
            text: std::fs::read_to_string(&file).unwrap(),
        }
    };
    files_below(&root).into_iter().map(fixture).collect()
});

fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { &mut open } else { &mut files }.push(path);
        }
    }
    files.sort();
    files
}

impl Fixture {
    pub fn source(&self) -> Source<'_> {
        Source { repo: "demo-app", path: &self.path, text: &self.text }
    }

    pub fn language(&self) -> &'static Language {
        let language = language_of(&self.path, self.text.lines().next().unwrap_or_default()).unwrap();
        assert_eq!(language.name(), self.language, "{}", self.path);
        language
    }

    pub fn outline(&self) -> Outline {
        Reader::new().outline(self.language(), &self.source()).unwrap()
    }
}

/// What a person would want to check, a line each.
pub fn rendered(source: &Source<'_>, outline: &Outline) -> String {
    let mut lines = Vec::new();
    for symbol in &outline.symbols {
        let parent = symbol.parent.map_or("-", |parent| outline.symbols[parent as usize].name.as_str());
        lines.push(format!(
            "{} {} [{}-{}] in {parent}: {}",
            symbol.kind.as_str(),
            symbol.qualified_name,
            symbol.first_line,
            symbol.last_line,
            symbol.signature
        ));
    }
    lines.push(String::new());
    for chunk in &outline.chunks {
        let symbol = chunk.symbol.map_or("-", |symbol| outline.symbols[symbol as usize].name.as_str());
        let text = &source.text[chunk.start as usize..chunk.end as usize];
        let first = source.text[..chunk.start as usize].matches('\n').count() + 1;
        let last = first + text.trim_end().matches('\n').count();
        lines.push(format!("chunk of {symbol} [{first}-{last}] {} bytes", text.len()));
    }
    lines.push(String::new());
    for import in &outline.references.imports {
        lines.push(format!("{}: import {} as {}", import.line, import.target, import.local.as_deref().unwrap_or("*")));
    }
    for base in &outline.references.bases {
        let symbol = &outline.symbols[base.symbol as usize].name;
        lines.push(format!("base of {symbol}: {} {}", base.kind.as_str(), base.target));
    }
    for call in &outline.references.calls {
        let caller = &outline.symbols[call.caller as usize].name;
        let receiver = call.receiver.as_deref().map(|receiver| format!(" on {receiver}")).unwrap_or_default();
        let from = call.from.as_deref().map(|from| format!(", that is {from}")).unwrap_or_default();
        lines.push(format!("{}: {caller} calls {}{receiver}{from}", call.line, call.name));
    }
    for typed in &outline.references.typed {
        let symbol = &outline.symbols[typed.symbol as usize].name;
        let what = if typed.name.is_empty() { "what it returns" } else { typed.name.as_str() };
        lines.push(format!("type in {symbol}: {what} is {}", typed.from));
    }
    lines.join("\n")
}
