//! Values as symbols: constants, variables, type aliases, fields, properties, enum members. They open no scope.
//!
//! Only where others can name them: what a function declares is its own.

use rootset_model::code::{Symbol, SymbolKind};
use tree_sitter::Node;

use super::{ScopeKind, Walk};
use crate::limits::{NAME_BYTES_MAX, VALUES_MAX};
use crate::signature::signature;

impl<'tree> Walk<'_, 'tree> {
    /// A value of this place, unless a function is around it.
    pub(crate) fn declare(&mut self, node: Node<'tree>, kind: SymbolKind, name: &str) {
        if self.declares_here() {
            let (prefix, owner) = (self.prefix().to_owned(), self.scopes.last().and_then(|scope| scope.owner));
            self.declare_in(node, kind, name, &prefix, owner);
        }
    }

    /// A constant by its name, as people write them where the language does not say it; of a type, a field.
    pub(crate) fn declare_by_name(&mut self, node: Node<'tree>, name: &str) {
        let kind = if self.in_type() { SymbolKind::Field } else { constant_or_variable(name) };
        self.declare(node, kind, name);
    }

    /// A field of the type that this place is in, however deep: `self.store = …`.
    pub(crate) fn declare_own(&mut self, node: Node<'tree>, name: &str) {
        use ScopeKind::{Members, Type};
        let of = self.scopes.iter().rfind(|scope| matches!(scope.kind, Type | Members));
        if let Some(prefix) = of.map(|scope| scope.prefix.clone()) {
            let owner = self.type_named(&prefix);
            self.declare_in(node, SymbolKind::Field, name, &prefix, owner);
        }
    }

    /// Whether the innermost type has a base of such a name.
    pub(crate) fn has_base(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.in_type() && self.found.bases.iter().rev().any(|base| base.owner == self.prefix() && fits(&base.written))
    }

    fn declares_here(&self) -> bool {
        let innermost = self.scopes.last();
        let level = innermost.map_or(0, |scope| scope.level);
        if self.frames.last().is_some_and(|frame| frame.level > level) {
            return false;
        }
        match innermost.map(|scope| scope.kind) {
            Some(ScopeKind::Function) => false,
            Some(ScopeKind::Type | ScopeKind::Members | ScopeKind::Singleton) => true,
            Some(ScopeKind::Namespace) | None => self.frames.is_empty(),
        }
    }

    fn declare_in(&mut self, node: Node<'tree>, kind: SymbolKind, name: &str, prefix: &str, owner: Option<u32>) {
        let is_name = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(char::is_whitespace);
        if !is_name || self.found.values.len() >= VALUES_MAX {
            return;
        }
        let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
        let qualified_name = self.join(prefix, self.grammar.separator, name);
        if !self.found.values.insert(qualified_name.clone()) {
            return;
        }
        let text = self.source.text;
        // The words before a name on its line say what it is: `static const int`.
        let before = text.get(..start as usize).unwrap_or_default();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let words = line.rsplit(['{', '}', ';', '(']).next().unwrap_or(line).trim_start();
        let begins = start - words.len() as u32;
        self.found.symbols.push(Symbol {
            name: name.to_owned(),
            qualified_name,
            kind,
            parent: None,
            start,
            end,
            first_line: 0,
            last_line: 0,
            signature: signature(text, begins, end, None),
        });
        self.found.owners.push(owner);
    }
}

/// `MAX_SIZE` and `PI` are constants wherever people follow custom.
pub(crate) fn constant_or_variable(name: &str) -> SymbolKind {
    let has_letters = name.chars().any(char::is_alphabetic);
    if has_letters && !name.chars().any(char::is_lowercase) { SymbolKind::Constant } else { SymbolKind::Variable }
}
