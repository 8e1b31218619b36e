//! What a function says of its own variables: parameters, declarations, assignments. A name counts from its binding on,
//! in the order of the text, to the end of its block where the language says so; one that is bound to what nobody can name
//! hides what it was before.

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
    /// Blocks around the function.
    blocks: usize,
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    /// `None`: nothing is known of it.
    from: Option<String>,
    /// The block that it was bound in, by number.
    block: u32,
}

/// What is bound to one of these says nothing of its type.
const NOTHING: [&str; 5] = ["None", "null", "undefined", "nil", FOREIGN];

/// A binding that holds as soon as its node is left: the old value is on its right side.
pub(super) struct Pending {
    pub(super) level: usize,
    name: String,
    from: Option<String>,
    is_declared: bool,
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
        self.frames.push(Frame { level, blocks: self.blocks.len(), variables: Vec::new() });
    }

    /// The number of variables that there are already.
    pub(super) fn open_block(&mut self) -> usize {
        self.blocks_seen += 1;
        self.blocks.push(self.blocks_seen);
        self.frames.last().map_or(0, |frame| frame.variables.len())
    }

    pub(super) fn close_block(&mut self, variables: usize) {
        self.blocks.pop();
        if self.grammar.scopes_blocks
            && let Some(frame) = self.frames.last_mut()
        {
            frame.variables.truncate(variables);
        }
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
        let is_declared = self.grammar.scopes_blocks;
        self.bind_as(name, from, is_declared);
    }

    /// A variable that may be there already gets another value.
    pub(crate) fn assign(&mut self, name: &str, value: Option<Node<'tree>>) {
        let from = self.told(None, value);
        self.bind_as(name, from, false);
    }

    fn bind_as(&mut self, name: &str, from: Option<String>, is_declared: bool) {
        if self.in_type() {
            return self.member(name, from);
        }
        if self.frames.is_empty() {
            return self.typed(None, None, name, from);
        }
        let level = self.levels.len();
        self.pending.push(Pending { level, name: name.to_owned(), from, is_declared });
    }

    /// A parameter: it counts at once, also in a default value beside it.
    pub(crate) fn parameter(&mut self, name: &str, of_type: Option<Node<'tree>>) {
        let from = self.told(of_type, None);
        self.variable_now(name, from);
    }

    /// A variable that counts at once.
    pub(crate) fn variable_now(&mut self, name: &str, from: Option<String>) {
        self.bind_now(name.to_owned(), from, true);
    }

    /// A variable of the innermost function, or of the part of it that has its own. One that gets another value in a block
    /// that may not be carried out has either: nothing is known of it then.
    fn bind_now(&mut self, name: String, from: Option<String>, is_declared: bool) {
        let block = self.blocks.last().copied().unwrap_or_default();
        let Some(frame) = self.frames.last_mut() else { return };
        if name.is_empty() || name.len() > NAME_BYTES_MAX || frame.variables.len() >= VARIABLES_MAX {
            return;
        }
        let is_always = self.blocks.len() <= frame.blocks + 1;
        let known = frame.variables.iter_mut().rev().find(|it| !is_declared && it.name == name);
        let Some(known) = known else {
            return frame.variables.push(Variable { name, from, block });
        };
        let said_nothing = known.from.as_deref().is_some_and(|it| NOTHING.contains(&it));
        let says_nothing = from.as_deref().is_some_and(|it| NOTHING.contains(&it));
        if is_always || known.block == block || said_nothing {
            (known.from, known.block) = (from, block);
        } else if !says_nothing && known.from != from {
            known.from = None;
        }
    }

    /// All bindings whose nodes end with this level.
    pub(super) fn settle(&mut self, level: usize) {
        while self.pending.last().is_some_and(|it| it.level >= level) {
            let Some(Pending { name, from, is_declared, .. }) = self.pending.pop() else { return };
            self.bind_now(name, from, is_declared);
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
        all.find(|variable| variable.name == name).map(|variable| variable.from.as_deref())
    }
}
