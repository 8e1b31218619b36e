//! What the engine asks of a language: a parser, a name for the file, and a rule per kind of node.

use std::sync::OnceLock;

use tree_sitter::{Language as Parser, Node};

use crate::reader::Source;
use crate::walk::Walk;

/// What is done at a node. It may look at what is below the node, never above or beside it: that would cost the square
/// of a hostile file's length.
pub(crate) type Visit = for<'tree> fn(&mut Walk<'_, 'tree>, Node<'tree>);

pub(crate) struct Grammar {
    pub(crate) parser: fn() -> Parser,
    pub(crate) module: fn(&Source<'_>) -> ModuleName,
    /// Between the parts of a qualified name.
    pub(crate) separator: &'static str,
    /// By the name of the node's kind; kinds that are not named here are walked through.
    pub(crate) rules: &'static [(&'static str, Rule)],
    /// Whether a variable ends with the block that declares it; else with its function.
    pub(crate) scopes_blocks: bool,
    /// The parser is shown `_` for every byte beyond ASCII: places stay the same, and names are read from the text.
    pub(crate) narrows: bool,
    /// Shows the parser blanks for what it would stumble over: macros that are no syntax. Places stay the same.
    pub(crate) masks: fn(&str) -> Option<String>,
    pub(crate) table: OnceLock<KindTable>,
}

/// What a file is called, told by its path.
pub(crate) struct ModuleName {
    /// Of the module itself.
    pub(crate) qualified: String,
    /// What the qualified names of its symbols begin with; empty in languages whose files are no part of names.
    pub(crate) prefix: String,
}

impl ModuleName {
    /// Of a language in which a file's symbols are members of its module.
    pub(crate) fn of_members(qualified: String) -> Self {
        Self { prefix: qualified.clone(), qualified }
    }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Rule {
    pub(crate) visit: Option<Visit>,
    /// Comments, attributes, decorators: belong to the definition that follows them.
    pub(crate) leads: bool,
    /// The definition in it is all of it: `export …`, a declaration around its one declarator.
    pub(crate) wraps: bool,
    /// Nothing of interest can be below.
    pub(crate) skips: bool,
}

impl Rule {
    const NONE: Self = Self { visit: None, leads: false, wraps: false, skips: false };
    pub(crate) const LEAD: Self = Self { leads: true, ..Self::NONE };
    pub(crate) const WRAPPER: Self = Self { wraps: true, ..Self::NONE };
    pub(crate) const SKIP: Self = Self { skips: true, ..Self::NONE };

    pub(crate) const fn visit(visit: Visit) -> Self {
        Self { visit: Some(visit), ..Self::NONE }
    }

    pub(crate) const fn and(self, visit: Visit) -> Self {
        Self { visit: Some(visit), ..self }
    }
}

/// The rules by the numbers that nodes carry: looked up once per node, so an array.
pub(crate) struct KindTable {
    pub(crate) language: Parser,
    rules: Box<[Option<Rule>]>,
    blocks: Box<[bool]>,
}

impl KindTable {
    pub(crate) fn rule(&self, node: Node<'_>) -> Option<Rule> {
        // The kind of an error is 65535.
        self.rules.get(usize::from(node.kind_id())).copied().flatten()
    }

    /// Whether statements stand in it that are carried out together or not at all.
    pub(crate) fn is_block(&self, node: Node<'_>) -> bool {
        self.blocks.get(usize::from(node.kind_id())).copied().unwrap_or(false)
    }
}

impl Grammar {
    pub(crate) fn table(&self) -> &KindTable {
        self.table.get_or_init(|| {
            let language = (self.parser)();
            let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
            // Several numbers may share a name.
            let rule_of = |kind: u16| {
                let name = language.node_kind_for_id(kind).filter(|_| language.node_kind_is_named(kind))?;
                self.rules.iter().find(|(rule, _)| *rule == name).map(|(_, rule)| *rule)
            };
            let rules = (0..count).map(rule_of).collect();
            let is_block = |kind: u16| {
                let name = language.node_kind_for_id(kind).filter(|_| language.node_kind_is_named(kind));
                name.is_some_and(|it| {
                    matches!(it, "block" | "compound_statement" | "body_statement" | "then" | "else")
                        || it.ends_with("_block")
                        || it.ends_with("_case")
                })
            };
            let blocks = (0..count).map(is_block).collect();
            KindTable { language, rules, blocks }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::language::languages;

    #[test]
    fn every_rule_is_about_a_kind_of_node_that_the_grammar_has_and_is_given_once() {
        for language in languages() {
            let Some(grammar) = language.grammar else { continue };
            let parser = (grammar.parser)();
            for (place, (kind, _)) in grammar.rules.iter().enumerate() {
                assert_ne!(parser.id_for_node_kind(kind, true), 0, "{}: {kind}", language.name());
                assert!(grammar.rules[..place].iter().all(|(other, _)| other != kind), "{}: {kind}", language.name());
            }
        }
    }
}
