//! Source files as a list of functions that call each other, and how they are written in four languages.
//!
//! A file's text does not depend on its path: a file that moves keeps its content.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

const VERBS: [&str; 7] = ["load", "parse", "store", "check", "merge", "render", "close"];
const NOUNS: [&str; 6] = ["config", "header", "order", "report", "session", "token"];
const OWNERS: [&str; 5] = ["Reader", "Writer", "Planner", "Ledger", "Gateway"];
/// Beyond the length at which a function is split into several chunks.
const LONG_FUNCTION_LINES: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    Rust,
    TypeScript,
    Go,
}

impl Language {
    pub const ALL: [Self; 4] = [Self::Python, Self::Rust, Self::TypeScript, Self::Go];

    pub fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::Rust => "rs",
            Self::TypeScript => "ts",
            Self::Go => "go",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub calls: Vec<String>,
    /// Makes its body its own.
    pub constant: u32,
    pub is_long: bool,
}

impl Function {
    pub fn random(random: &mut StdRng) -> Self {
        let calls = (0..random.random_range(0..3)).map(|_| name(random)).collect();
        Self { name: name(random), calls, constant: random.random_range(0..100_000), is_long: random.random_bool(0.03) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub language: Language,
    /// Functions of other files that it brings in by name.
    pub imports: Vec<String>,
    pub functions: Vec<Function>,
    /// A type with methods, and the type that it extends.
    pub owner: Option<(String, Option<String>, Vec<Function>)>,
    pub has_windows_line_ends: bool,
}

impl Source {
    pub fn random(language: Language, random: &mut StdRng) -> Self {
        let functions = (0..random.random_range(0..5)).map(|_| Function::random(random)).collect();
        let owner = random.random_bool(0.5).then(|| {
            let methods = (0..random.random_range(0..3)).map(|_| Function::random(random)).collect();
            (owner_name(random), random.random_bool(0.5).then(|| owner_name(random)), methods)
        });
        let imports = (0..random.random_range(0..3)).map(|_| name(random)).collect();
        Self { language, imports, functions, owner, has_windows_line_ends: random.random_bool(0.1) }
    }

    pub fn text(&self) -> String {
        let text = match self.language {
            Language::Python => self.python(),
            Language::Rust => self.rust(),
            Language::TypeScript => self.typescript(),
            Language::Go => self.go(),
        };
        if self.has_windows_line_ends { text.replace('\n', "\r\n") } else { text }
    }

    fn python(&self) -> String {
        let mut text = String::from("\"\"\"Part of the application.\"\"\"\n");
        for import in &self.imports {
            text.push_str(&format!("from app.core import {import}\n"));
        }
        let function = |function: &Function, indent: &str, receiver: &str| {
            let calls = calls(function, &format!("{indent}    value += "), "(value)\n");
            let long = long(function, &format!("{indent}    value += "));
            let (name, constant) = (&function.name, function.constant);
            format!(
                "\n{indent}def {name}({receiver}value):\n{indent}    # Adds {constant}.\n{calls}{long}{indent}    return value + {constant}\n"
            )
        };
        for it in &self.functions {
            text.push_str(&function(it, "", ""));
        }
        if let Some((name, base, methods)) = &self.owner {
            let base = base.as_ref().map_or(String::new(), |base| format!("({base})"));
            text.push_str(&format!("\n@register\nclass {name}{base}:\n    size = 3\n"));
            methods.iter().for_each(|it| text.push_str(&function(it, "    ", "self, ")));
        }
        text
    }

    fn rust(&self) -> String {
        let mut text = String::from("//! Part of the application.\n");
        for import in &self.imports {
            text.push_str(&format!("use crate::core::{import};\n"));
        }
        let function = |function: &Function, indent: &str, receiver: &str| {
            let calls = calls(function, &format!("{indent}    let value = value + "), "(value);\n");
            let long = long(function, &format!("{indent}    let value = value + 0; //"));
            let (name, constant) = (&function.name, function.constant);
            format!(
                "\n{indent}/// Adds {constant}.\n{indent}pub fn {name}({receiver}value: u64) -> u64 {{\n{calls}{long}{indent}    value + {constant}\n{indent}}}\n"
            )
        };
        for it in &self.functions {
            text.push_str(&function(it, "", ""));
        }
        if let Some((name, base, methods)) = &self.owner {
            text.push_str(&format!("\npub struct {name} {{\n    size: u64,\n}}\n"));
            if let Some(base) = base {
                text.push_str(&format!("\nimpl {base} for {name} {{}}\n"));
            }
            text.push_str(&format!("\nimpl {name} {{"));
            methods.iter().for_each(|it| text.push_str(&function(it, "    ", "&self, ")));
            text.push_str("}\n");
        }
        text
    }

    fn typescript(&self) -> String {
        let mut text = String::new();
        for import in &self.imports {
            text.push_str(&format!("import {{ {import} }} from './core';\n"));
        }
        let body = |function: &Function, indent: &str| {
            let calls = calls(function, &format!("{indent}  value += "), "(value);\n");
            let long = long(function, &format!("{indent}  value += 0; //"));
            let constant = function.constant;
            format!("(value: number): number {{\n{calls}{long}{indent}  return value + {constant};\n{indent}}}\n")
        };
        for it in &self.functions {
            text.push_str(&format!("\nexport function {}{}", it.name, body(it, "")));
        }
        if let Some((name, base, methods)) = &self.owner {
            let base = base.as_ref().map_or(String::new(), |base| format!(" extends {base}"));
            text.push_str(&format!("\nexport class {name}{base} {{\n  size = 3;\n"));
            methods.iter().for_each(|it| text.push_str(&format!("\n  {}{}", it.name, body(it, "  "))));
            text.push_str("}\n");
        }
        text
    }

    fn go(&self) -> String {
        let mut text = String::from("package app\n");
        for import in &self.imports {
            text.push_str(&format!("\nimport \"example.org/{import}\"\n"));
        }
        let body = |function: &Function| {
            let calls = calls(function, "\tvalue += ", "(value)\n");
            let long = long(function, "\tvalue += 0 //");
            let (name, constant) = (&function.name, function.constant);
            format!("{name}(value int) int {{\n{calls}{long}\treturn value + {constant}\n}}\n")
        };
        for it in &self.functions {
            text.push_str(&format!("\nfunc {}", body(it)));
        }
        if let Some((name, _, methods)) = &self.owner {
            text.push_str(&format!("\ntype {name} struct {{\n\tsize int\n}}\n"));
            methods.iter().for_each(|it| text.push_str(&format!("\nfunc (it {name}) {}", body(it))));
        }
        text
    }
}

/// Out of few, so that names are ambiguous and calls reach several files.
pub fn name(random: &mut StdRng) -> String {
    format!("{}_{}", any(&VERBS, random), any(&NOUNS, random))
}

fn owner_name(random: &mut StdRng) -> String {
    any(&OWNERS, random).to_owned()
}

fn any(words: &[&'static str], random: &mut StdRng) -> &'static str {
    words.choose(random).expect("there are words")
}

fn calls(function: &Function, before: &str, after: &str) -> String {
    function.calls.iter().map(|callee| format!("{before}{callee}{after}")).collect()
}

fn long(function: &Function, line: &str) -> String {
    let lines = if function.is_long { LONG_FUNCTION_LINES } else { 0 };
    (0..lines).map(|number| format!("{line} {number}000000000000000000000\n")).collect()
}
