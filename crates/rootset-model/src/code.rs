//! What a source file is made of: symbols, the chunks that are searched, and references as they were written.
//!
//! Everything here follows from one file's path and text alone. Whom a call reaches depends on other files and is resolved
//! on request; storing it would make a new symbol in one file change the rows of a hundred others.

use serde::{Deserialize, Serialize};

/// What kind of thing a symbol is. The word is part of answers and of an entity's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// The file as a whole: its head, and whatever belongs to no other symbol.
    Module,
    Function,
    Method,
    Class,
    Struct,
    Trait,
    Interface,
    Enum,
    /// What is called like a function and expanded: `macro_rules!`, `#define F(x)`.
    Macro,
    Constant,
    Variable,
    TypeAlias,
    Property,
    Field,
    EnumMember,
}

impl SymbolKind {
    pub const ALL: [Self; 15] = [
        Self::Module,
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Struct,
        Self::Trait,
        Self::Interface,
        Self::Enum,
        Self::Macro,
        Self::Constant,
        Self::Variable,
        Self::TypeAlias,
        Self::Property,
        Self::Field,
        Self::EnumMember,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Trait => "trait",
            Self::Interface => "interface",
            Self::Enum => "enum",
            Self::Macro => "macro",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::TypeAlias => "type_alias",
            Self::Property => "property",
            Self::Field => "field",
            Self::EnumMember => "enum_member",
        }
    }

    pub fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Counted as `functions` in the answer to an index run.
    pub fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }

    /// What has a name and no code of its own: it is found by its name, its text is part of what it is written in, it calls
    /// nothing, and it is no entity of the graph.
    pub fn is_value(self) -> bool {
        use SymbolKind::{Constant, EnumMember, Field, Property, TypeAlias, Variable};
        matches!(self, Constant | Variable | TypeAlias | Property | Field | EnumMember)
    }

    /// A value that belongs to a type.
    pub fn is_value_of_type(self) -> bool {
        matches!(self, Self::Property | Self::Field | Self::EnumMember)
    }

    /// Counted as `classes` in the answer to an index run.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Trait | Self::Interface | Self::Enum)
    }
}

/// Something with a name that a file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The last part of the qualified name.
    pub name: String,
    /// In the language's own spelling, beginning at the package or crate.
    pub qualified_name: String,
    pub kind: SymbolKind,
    /// The symbol that it is written in, by its place in [`Outline::symbols`]; always an earlier one. Of a member that is
    /// written outside of its type (`impl` blocks, Go's receivers), the type, if that stands further up in the file.
    pub parent: Option<u32>,
    /// All of it, doc comments and decorators included; bytes of the file's text, on character boundaries.
    pub start: u32,
    pub end: u32,
    /// One-based, inclusive.
    pub first_line: u32,
    pub last_line: u32,
    /// Its first line or lines up to the body, white space collapsed; empty for a module.
    pub signature: String,
}

/// A piece of text that is searched as one. The chunks of a file follow each other and leave nothing but blanks out. A
/// chunk is not always within its symbol: closing brackets go with what is before them, `impl A {` with what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChunk {
    /// Its place in [`Outline::symbols`]; `None` in a file that is read as plain text.
    pub symbol: Option<u32>,
    pub start: u32,
    pub end: u32,
}

/// A name that is called, as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The symbol that the call stands in, by its place in [`Outline::symbols`].
    pub caller: u32,
    /// The last part: `save` in `self.store.save(x)`.
    pub name: String,
    /// What stands before it, as written and shortened: `self.store`, `module`, `Type`.
    pub receiver: Option<String>,
    /// The receiver with what the function says of its own variables in their place, where that differs: `{Store}.cache`
    /// for `s.cache` after `s = Store()`. See [`Typed::from`]. Without a receiver: the name is a variable of the function.
    pub from: Option<String>,
    pub line: u32,
}

/// In front of the target of an import that names a package and no path: `x` and not `./x`. Names of modules have no `/`.
pub const PACKAGE_MARK: &str = "/";

/// A name that a file brings in from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The full name in the language's spelling, made absolute where the file's own path allows it: `app.store.Store`,
    /// `crate_name::store::Store`, `./store` resolved to `lib.store`, the package `store` as `/store` ([`PACKAGE_MARK`]).
    pub target: String,
    /// The name it has in this file; `None` when everything in `target` is brought in, or nothing by name.
    pub local: Option<String>,
    /// Whether others can import it from this file in turn: `pub use`, `export … from`.
    pub is_exported: bool,
    pub line: u32,
}

/// What a file says of the type of a name: a member's, or of what a function returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// The type whose member it is, the function, or the module; by its place in [`Outline::symbols`].
    pub symbol: u32,
    /// Empty: what the function returns.
    pub name: String,
    /// A chain of names: `{A.B}` is a value of that type, `{}` one of a type that no source defines, `?` one of which
    /// nothing is known; `f()` is what a call gives, `x[]` an element. A leading `::` begins at the names of crates.
    pub from: String,
}

/// What a manifest says of names: what is imported as `from` lies at `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    pub kind: MappingKind,
    pub from: String,
    /// A path in the repository, without an extension.
    pub to: String,
    /// The folder for whose files it holds.
    pub within: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MappingKind {
    /// A Go module and its folder.
    GoModule,
    /// A crate's name and the folder of its manifest.
    Crate,
    /// A module of JavaScript under this very name.
    Module,
    /// Modules of JavaScript whose names begin so.
    ModulesBelow,
    /// Not a name: what the manifest `to` says holds `within` this one's folder, too.
    Extends,
}

/// A type that a type of this file extends or implements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// By its place in [`Outline::symbols`].
    pub symbol: u32,
    /// Its full name where the file itself tells (defined here, or imported), else as written.
    pub target: String,
    /// What it is likely to be in that place of the language.
    pub kind: SymbolKind,
}

/// What a file says about other files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct References {
    pub imports: Vec<Import>,
    pub calls: Vec<Call>,
    pub bases: Vec<Base>,
    pub typed: Vec<Typed>,
    pub mappings: Vec<Mapping>,
}

/// Everything that is read out of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order of the text; the first is the module, if there are any.
    pub symbols: Vec<Symbol>,
    pub chunks: Vec<CodeChunk>,
    pub references: References,
}

impl Outline {
    /// Symbols of some kinds.
    pub fn count(&self, is: fn(SymbolKind) -> bool) -> i64 {
        self.symbols.iter().filter(|symbol| is(symbol.kind)).count() as i64
    }
}
