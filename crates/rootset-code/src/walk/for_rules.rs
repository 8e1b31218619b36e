//! What the rules of a language ask a walk, and what they report to it: definitions, scopes, calls, imports, bases.

use rootset_model::code::{Import, Symbol, SymbolKind};
use tree_sitter::Node;

use super::{FoundBase, FoundCall, Scope, ScopeKind, Walk};
use crate::chain::UNKNOWN;
use crate::grammar::ModuleName;
use crate::limits::{NAME_BYTES_MAX, RECEIVER_CHARS_MAX, REFERENCES_MAX, SCOPE_DEPTH_MAX, SYMBOLS_MAX};
use crate::parse::GaveUp;
use crate::signature::signature;
use crate::text::collapse;

/// A definition as a language describes it.
pub(crate) struct Definition<'tree, 'n> {
    pub(crate) node: Node<'tree>,
    pub(crate) name: &'n str,
    pub(crate) kind: SymbolKind,
    /// Where the signature ends.
    pub(crate) body: Option<Node<'tree>>,
    /// Between the scope's name and this one, where it is not the language's usual separator.
    pub(crate) joint: Option<&'static str>,
}

impl<'tree, 'n> Definition<'tree, 'n> {
    /// With the node's field `body`, if it has one.
    pub(crate) fn new(node: Node<'tree>, kind: SymbolKind, name: &'n str) -> Self {
        Self { node, name, kind, body: node.child_by_field_name("body"), joint: None }
    }
}

impl<'a, 'tree> Walk<'a, 'tree> {
    pub(crate) fn text(&self, node: Node<'_>) -> &'a str {
        self.source.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of the child in a field; empty when there is none.
    pub(crate) fn field(&self, node: Node<'_>, field: &str) -> &'a str {
        node.child_by_field_name(field).map_or("", |child| self.text(child))
    }

    /// Whether a definition here is a type's member.
    pub(crate) fn in_type(&self) -> bool {
        use ScopeKind::{Members, Singleton, Type};
        self.scopes.last().is_some_and(|scope| matches!(scope.kind, Type | Members | Singleton))
    }

    pub(crate) fn in_singleton(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.kind == ScopeKind::Singleton)
    }

    /// What the names of the innermost namespace begin with, from inside functions and types too.
    pub(crate) fn namespace(&self) -> &str {
        let innermost = self.scopes.iter().rfind(|scope| scope.kind == ScopeKind::Namespace);
        innermost.map_or(&self.module.prefix, |scope| &scope.prefix)
    }

    /// Function or method, by where it stands.
    pub(crate) fn function_kind(&self) -> SymbolKind {
        if self.in_type() { SymbolKind::Method } else { SymbolKind::Function }
    }

    /// What the names of this place begin with.
    pub(crate) fn prefix(&self) -> &str {
        self.scopes.last().map_or(&self.module.prefix, |scope| &scope.prefix)
    }

    /// The symbol's name in this place, in full.
    pub(crate) fn qualify(&self, name: &str) -> String {
        self.join(self.prefix(), self.grammar.separator, name)
    }

    pub(super) fn join(&self, prefix: &str, joint: &str, name: &str) -> String {
        if prefix.is_empty() { name.to_owned() } else { [prefix, joint, name].concat() }
    }

    /// A symbol, and the scope of what is written in it.
    pub(crate) fn define(&mut self, definition: Definition<'tree, '_>) {
        let prefix = self.prefix().to_owned();
        let owner = self.scopes.last().and_then(|scope| scope.owner);
        self.define_member(definition, &prefix, owner);
    }

    /// A symbol whose name begins with another prefix than that of this place: `func (s *Server) Close()`.
    pub(crate) fn define_in(&mut self, definition: Definition<'tree, '_>, prefix: &str) {
        let owner = self.type_named(prefix);
        self.define_member(definition, prefix, owner);
    }

    /// The type that was defined under this name further up.
    pub(super) fn type_named(&self, qualified_name: &str) -> Option<u32> {
        self.found.types.get(qualified_name).copied()
    }

    fn define_member(&mut self, definition: Definition<'tree, '_>, prefix: &str, owner: Option<u32>) {
        let Definition { node, name, kind, body, joint } = definition;
        if name.is_empty() || name.len() > NAME_BYTES_MAX || self.scopes.len() >= SCOPE_DEPTH_MAX {
            return;
        }
        if self.found.symbols.len() - self.found.values.len() >= SYMBOLS_MAX {
            self.given_up = Some(GaveUp::TooManySymbols);
            return;
        }
        let extent = self.extent(node);
        let qualified_name = self.join(prefix, joint.unwrap_or(self.grammar.separator), name);
        let place = self.found.symbols.len() as u32;
        if kind.is_type() {
            self.found.types.entry(qualified_name.clone()).or_insert(place);
        }
        self.scopes.push(Scope {
            level: self.levels.len(),
            prefix: qualified_name.clone(),
            kind: if kind.is_type() { ScopeKind::Type } else { ScopeKind::Function },
            owner: None,
        });
        self.found.symbols.push(Symbol {
            name: name.to_owned(),
            qualified_name,
            kind,
            parent: None,
            start: extent.start,
            end: extent.end,
            first_line: 0,
            last_line: 0,
            signature: signature(
                self.source.text,
                extent.signature_start,
                extent.end,
                body.map(|body| body.start_byte()),
            ),
        });
        self.found.owners.push(owner);
        if !kind.is_type() {
            self.open_frame();
        }
    }

    /// Names below this node begin with `name` too, but it is not a symbol: a namespace, an inline module.
    pub(crate) fn open_namespace(&mut self, name: &str) {
        self.open_scope(name, ScopeKind::Namespace, None);
        let prefix = self.prefix().to_owned();
        self.found.namespaces.insert(prefix);
    }

    /// Whether a namespace of this name was opened further up.
    pub(crate) fn is_namespace(&self, qualified_name: &str) -> bool {
        self.found.namespaces.contains(qualified_name)
    }

    /// Members of a type that is defined elsewhere: an `impl` block.
    pub(crate) fn open_members_of(&mut self, type_name: &str) {
        let owner = self.type_named(&self.qualify(type_name));
        self.open_scope(type_name, ScopeKind::Members, owner);
    }

    pub(crate) fn open_singleton(&mut self) {
        self.open_scope("", ScopeKind::Singleton, None);
    }

    fn open_scope(&mut self, name: &str, kind: ScopeKind, owner: Option<u32>) {
        if name.len() > NAME_BYTES_MAX || self.scopes.len() >= SCOPE_DEPTH_MAX {
            return;
        }
        let prefix = if name.is_empty() { self.prefix().to_owned() } else { self.qualify(name) };
        self.scopes.push(Scope { level: self.levels.len(), prefix, kind, owner });
    }

    /// The file says itself what it belongs to: a package clause.
    pub(crate) fn name_module(&mut self, package: &str) {
        if package.len() <= NAME_BYTES_MAX {
            self.module = ModuleName::of_members(package.to_owned());
        }
    }

    /// Whether a definition at this node would be all of its wrapper.
    pub(crate) fn is_wrapped(&self) -> bool {
        self.levels.last().is_some_and(|level| level.wrapper.is_some())
    }

    /// The definition right below the node that is being visited is all of it.
    pub(crate) fn wrap(&mut self) {
        self.wraps = true;
    }

    /// `at` is the whole call.
    pub(crate) fn call(&mut self, at: Node<'tree>, name: Node<'tree>, receiver: Option<Node<'tree>>) {
        let receiver = receiver.map_or("", |receiver| self.text(receiver));
        self.call_named(at, self.text(name), receiver, name);
    }

    pub(crate) fn call_named(&mut self, at: Node<'tree>, name: &str, receiver: &str, name_node: Node<'tree>) {
        let from = match receiver {
            // What the variable holds.
            "" => self.variable(name).map(|from| from.unwrap_or(UNKNOWN).to_owned()),
            _ => Some(self.known(receiver).unwrap_or_else(|| UNKNOWN.to_owned())),
        };
        self.call_from(at, name, receiver, from, name_node);
    }

    /// A call whose receiver the language knows better than its text tells.
    pub(crate) fn call_from(
        &mut self,
        at: Node<'tree>,
        name: &str,
        receiver: &str,
        from: Option<String>,
        name_node: Node<'tree>,
    ) {
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains(char::is_whitespace) {
            return;
        }
        self.count_reference();
        let receiver = Some(collapse(receiver, RECEIVER_CHARS_MAX)).filter(|receiver| !receiver.is_empty());
        let from = from.filter(|from| receiver.as_deref() != Some(from));
        let line = name_node.start_position().row as u32 + 1;
        let (at, name) = (at.start_byte() as u32, name.to_owned());
        self.found.calls.push(FoundCall { at, name, receiver, from, line });
    }

    pub(crate) fn import(&mut self, node: Node<'tree>, target: String, local: Option<&str>) {
        self.import_for(node, target, local, false);
    }

    /// What is brought in can be imported from this file in turn.
    pub(crate) fn re_export(&mut self, node: Node<'tree>, target: String, local: Option<&str>) {
        self.import_for(node, target, local, true);
    }

    fn import_for(&mut self, node: Node<'tree>, target: String, local: Option<&str>, is_exported: bool) {
        if target.is_empty() || target.len() > 4 * NAME_BYTES_MAX || local.is_some_and(|it| it.len() > NAME_BYTES_MAX) {
            return;
        }
        self.count_reference();
        let line = node.start_position().row as u32 + 1;
        self.found.imports.push(Import { target, local: local.map(str::to_owned), is_exported, line });
    }

    /// A base of the type that was defined last.
    pub(crate) fn base(&mut self, written: &str, kind: SymbolKind) {
        let Some(symbol) = self.found.symbols.last().filter(|symbol| symbol.kind.is_type()) else { return };
        let end = symbol.qualified_name.len() - symbol.name.len();
        let scope = symbol.qualified_name[..end].trim_end_matches(self.grammar.separator).to_owned();
        let owner = symbol.qualified_name.clone();
        self.base_of(owner, scope, written, kind);
    }

    /// A base of the type that this node stands in.
    pub(crate) fn base_around(&mut self, written: &str, kind: SymbolKind) {
        if self.in_type() {
            let owner = self.prefix().to_owned();
            self.base_of(owner.clone(), owner, written, kind);
        }
    }

    pub(crate) fn base_of(&mut self, owner: String, scope: String, written: &str, kind: SymbolKind) {
        if written.is_empty() || written.len() > NAME_BYTES_MAX || written.contains(char::is_whitespace) {
            return;
        }
        self.count_reference();
        self.found.bases.push(FoundBase { owner, scope, written: written.to_owned(), kind });
    }

    /// Whether there is room for it.
    pub(super) fn count_reference(&mut self) -> bool {
        let found = &self.found;
        let has_room = found.calls.len() + found.imports.len() + found.bases.len() + found.typed.len() < REFERENCES_MAX;
        if !has_room {
            self.given_up = Some(GaveUp::TooManyReferences);
        }
        has_room
    }
}
