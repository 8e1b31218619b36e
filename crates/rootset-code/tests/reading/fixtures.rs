//! Sources as people write them, for every language.

use rootset_code::{Language, Reader, Source, language_of};
use rootset_model::code::Outline;

pub struct Fixture {
    pub language: &'static str,
    /// In the repository `demo-app`.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! fixtures {
    ($($language:literal $path:literal)*) => {
        pub const FIXTURES: &[Fixture] = &[$(Fixture {
            language: $language,
            path: $path,
            text: include_str!(concat!("fixtures/", $language, "/", $path)),
        }),*];
    };
}

fixtures! {
    "python" "src/app/store.py"
    "python" "pkg/__init__.py"
    "javascript" "src/shop/cart.js"
    "javascript" "lib/legacy.js"
    "typescript" "src/app/service.ts"
    "tsx" "src/ui/Panel.tsx"
    "rust" "crates/disk-store/src/engine/pages.rs"
    "rust" "tests/round_trip.rs"
    "go" "server/server.go"
    "java" "src/main/java/org/example/store/DiskStore.java"
    "c" "src/list.c"
    "cpp" "src/geometry/shape.cpp"
    "c" "include/widget.h"
    "csharp" "Billing/Invoice.cs"
    "csharp" "Billing/Flat.cs"
    "ruby" "lib/shop/order.rb"
    "php" "src/Http/Controller.php"
    "bash" "scripts/release"
}

impl Fixture {
    pub fn source(&self) -> Source<'static> {
        Source { repo: "demo-app", path: self.path, text: self.text }
    }

    pub fn language(&self) -> &'static Language {
        let language = language_of(self.path, self.text.lines().next().unwrap_or_default()).unwrap();
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
        lines.push(format!("{}: {caller} calls {}{receiver}", call.line, call.name));
    }
    lines.join("\n")
}
