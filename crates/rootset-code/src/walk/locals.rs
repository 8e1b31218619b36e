//! What a function says of its own variables: parameters, declarations, assignments. A name counts from its binding on,
//! in the order of the text; one that is bound to what nobody can name hides what it was before.

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use super::{ScopeKind, Walk};
use crate::chain::{self, FOREIGN, UNKNOWN};
use crate::limits::NAME_BYTES_MAX;

/// Variables of one function that are remembered; more are in functions that no person wrote.
const VARIABLES_MAX: usize = 400;

/// A function, or a part of one, that has variables of its own.
pub(super) struct Frame {
    pub(super) level: usize,
    pub(super) variables: Vec<(String, Option<String>)>,
}

/// A binding that holds as soon as its node is left: the old value is on its right side.
pub(super) struct Pending {
    pub(super) level: usize,
    name: String,
    from: Option<String>,
}

pub(crate) struct FoundTyped {
    /// The qualified name of the type; `None`: the module.
    pub(crate) owner: Option<String>,
    /// By place among the symbols that were found; of what a function returns.
    pub(crate) function: Option<u32>,
    pub(crate) name: String,
    pub(crate) from: String,
}

impl<'tree> Walk<'_, 'tree> {
    /// Variables that are bound below the node that is being visited are not seen behind it.
    pub(crate) fn open_frame(&mut self) {
        let level = self.levels.len();
        self.frames.push(Frame { level, variables: Vec::new() });
    }

    /// A variable or a member, from the end of this node on, by its type or its value; neither: nothing is known of it.
    pub(crate) fn bind(&mut self, name: &str, of_type: Option<Node<'tree>>, value: Option<Node<'tree>>) {
        let from = self.told(of_type, value);
        self.bind_to(name, from);
    }

    /// What an expression or, before it, a type gives.
    pub(crate) fn told(&self, of_type: Option<Node<'tree>>, value: Option<Node<'tree>>) -> Option<String> {
        match of_type {
            Some(of_type) => chain::value_of_type(self.text(of_type)),
            None => self.known(self.text(value?)),
        }
    }

    pub(crate) fn bind_to(&mut self, name: &str, from: Option<String>) {
        if self.in_type() {
            return self.member(name, from);
        }
        if self.frames.is_empty() {
            return self.typed(None, None, name, from);
        }
        let level = self.levels.len();
        self.pending.push(Pending { level, name: name.to_owned(), from });
    }

    /// A parameter: it counts at once, also in a default value beside it.
    pub(crate) fn parameter(&mut self, name: &str, of_type: Option<Node<'tree>>) {
        let from = self.told(of_type, None);
        self.variable_now(name, from);
    }

    /// A variable that counts at once.
    pub(crate) fn variable_now(&mut self, name: &str, from: Option<String>) {
        self.bind_now(name.to_owned(), from);
    }

    /// A variable of the innermost function, or of the part of it that has its own.
    fn bind_now(&mut self, name: String, from: Option<String>) {
        let Some(frame) = self.frames.last_mut() else { return };
        if name.is_empty() || name.len() > NAME_BYTES_MAX || frame.variables.len() >= VARIABLES_MAX {
            return;
        }
        frame.variables.push((name, from));
    }

    /// All bindings whose nodes end with this level.
    pub(super) fn settle(&mut self, level: usize) {
        while self.pending.last().is_some_and(|it| it.level >= level) {
            let Some(Pending { name, from, .. }) = self.pending.pop() else { return };
            self.bind_now(name, from);
        }
        while self.frames.last().is_some_and(|frame| frame.level >= level) {
            self.frames.pop();
        }
    }

    /// A member of the type that this place is in, however deep: `self.store = …`.
    pub(crate) fn own_member(&mut self, name: &str, from: Option<String>) {
        use ScopeKind::{Members, Type};
        let of = self.scopes.iter().rfind(|scope| matches!(scope.kind, Type | Members));
        if let Some(owner) = of.map(|scope| scope.prefix.clone()) {
            self.typed(Some(owner), None, name, from);
        }
    }

    /// A member of the type that was opened last.
    pub(crate) fn member(&mut self, name: &str, from: Option<String>) {
        let owner = self.prefix().to_owned();
        self.typed(Some(owner), None, name, from);
    }

    /// What the function returns that was defined last.
    pub(crate) fn returns(&mut self, of_type: Option<Node<'tree>>) {
        let Some(from) = of_type.and_then(|of| chain::value_of_type(self.text(of))) else { return };
        self.returns_from(from);
    }

    pub(crate) fn returns_from(&mut self, from: String) {
        let last = self.found.symbols.len().checked_sub(1);
        let is_function =
            |place: &usize| matches!(self.found.symbols[*place].kind, SymbolKind::Function | SymbolKind::Method);
        if let Some(place) = last.filter(is_function) {
            self.typed(None, Some(place as u32), "", Some(from));
        }
    }

    fn typed(&mut self, owner: Option<String>, function: Option<u32>, name: &str, from: Option<String>) {
        let Some(from) = from.filter(|from| from != FOREIGN && !from.starts_with(UNKNOWN)) else { return };
        if name.len() <= NAME_BYTES_MAX && self.count_reference() {
            self.found.typed.push(FoundTyped { owner, function, name: name.to_owned(), from });
        }
    }

    /// A chain with the function's own variables replaced. `None` for what is no chain.
    pub(crate) fn known(&self, written: &str) -> Option<String> {
        let chain = chain::chain(written)?;
        let (head, rest) = chain::head(&chain);
        let variable = self.variable(head);
        Some(match variable {
            Some(Some(from)) if from.len() + rest.len() <= 2 * NAME_BYTES_MAX => [from, rest].concat(),
            // The name may still tell something: `?store`.
            Some(_) => [UNKNOWN, head, rest].concat(),
            None => chain,
        })
    }

    /// What is known of a variable of this function: `None` for names that are none.
    pub(crate) fn variable(&self, name: &str) -> Option<Option<&str>> {
        let mut all = self.frames.iter().rev().flat_map(|frame| frame.variables.iter().rev());
        all.find(|(variable, _)| variable == name).map(|(_, from)| from.as_deref())
    }
}
