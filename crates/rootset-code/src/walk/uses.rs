//! Uses of a name that are no calls: a constant that is read, a function that is handed on. Found when somebody asks, for
//! a few names in a few files; an index of all of them would be greater than the rest.

use tree_sitter::Node;

use super::{FoundCall, Walk};
use crate::chain::UNKNOWN;

/// More uses in one file are not looked at: each asks for the node around it.
const USES_MAX: usize = 2_000;

/// Where a member is named by a node of its own: without a receiver it is the key of an object, or a declaration.
const MEMBER_KINDS: [&str; 3] = ["property_identifier", "field_identifier", "shorthand_property_identifier_pattern"];
/// Where a node gives something its name: a declaration, an argument, a key.
const NAMING_FIELDS: [&str; 4] = ["name", "pattern", "declarator", "key"];
const JOINTS: [&str; 6] = ["?.", "?->", "->", "::", ".", "\\"];

impl<'tree> Walk<'_, 'tree> {
    /// A leaf of the tree that may be one of the names that are looked for.
    pub(super) fn use_at(&mut self, node: Node<'tree>) {
        let name = self.text(node);
        if !self.looked_for.contains(name) || self.found.uses.len() >= USES_MAX || self.is_called(node) {
            return;
        }
        let around = node.parent();
        let receiver = around.and_then(|around| self.receiver_of(node, around));
        let is = |field: &str| around.is_some_and(|around| around.child_by_field_name(field) == Some(node));
        // Where variables are not declared, a function's first assignment makes one.
        let is_local = is("left") && !self.grammar.scopes_blocks && !self.frames.is_empty();
        if receiver.is_none() && (is_local || NAMING_FIELDS.iter().any(|field| is(field))) {
            return;
        }
        let from = match receiver {
            Some(receiver) => Some(self.known(receiver).unwrap_or_else(|| UNKNOWN.to_owned())),
            // A variable of the function that has the same name, or the key of an object.
            None if self.variable(name).is_some() || MEMBER_KINDS.contains(&node.kind()) => return,
            None => None,
        };
        let receiver = receiver.map(str::to_owned);
        let from = from.filter(|from| receiver.as_deref() != Some(from));
        let (at, line) = (node.start_byte() as u32, node.start_position().row as u32 + 1);
        self.found.uses.push(FoundCall { at, name: name.to_owned(), receiver, from, line });
    }

    /// `f(`, `f!(`, `f::<T>(`: that is a call, and listed as one.
    fn is_called(&self, node: Node<'_>) -> bool {
        let behind = self.source.text.get(node.end_byte()..).unwrap_or_default().trim_start_matches([' ', '\t']);
        behind.starts_with('(') || behind.starts_with("!(") || behind.starts_with("::<")
    }

    /// What stands before a name in the node around it, without what joins them.
    fn receiver_of(&self, node: Node<'tree>, around: Node<'tree>) -> Option<&str> {
        let before = self.source.text.get(around.start_byte()..node.start_byte())?.trim_end();
        let receiver = JOINTS.iter().find_map(|joint| before.strip_suffix(joint))?.trim_end();
        (around.end_byte() == node.end_byte() && !receiver.is_empty()).then_some(receiver)
    }
}
