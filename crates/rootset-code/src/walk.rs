//! One pass over a syntax tree: the language's rules say what nodes are, this collects what they say.
//!
//! The walk is a loop over a cursor, never a recursion: the author of the file decides how deep the tree is. What needs
//! all of the file (parents, callers, the full names of bases) is left to `outline`.

mod for_rules;
mod locals;
mod uses;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use rootset_model::code::{Import, Symbol, SymbolKind};
use tree_sitter::{Node, Tree};

use crate::grammar::{Grammar, KindTable, ModuleName};
use crate::limits::TREE_DEPTH_MAX;
use crate::parse::GaveUp;
use crate::reader::Source;
use crate::text::begins_line;

pub(crate) use for_rules::Definition;
pub(crate) use locals::FoundTyped;
use locals::{Frame, Pending};

pub(crate) struct Walk<'a, 'tree> {
    pub(crate) source: &'a Source<'a>,
    grammar: &'static Grammar,
    table: &'static KindTable,
    pub(crate) module: ModuleName,
    scopes: Vec<Scope>,
    frames: Vec<Frame>,
    pending: Vec<Pending>,
    /// One per level of the tree above and at the current node.
    levels: Vec<Level>,
    /// The blocks around the current node, by number.
    blocks: Vec<u32>,
    blocks_seen: u32,
    /// The node that is being visited turned out to be a wrapper.
    wraps: bool,
    found: Found,
    given_up: Option<GaveUp>,
    /// Names whose uses as values are wanted; empty when a file is indexed.
    looked_for: &'a BTreeSet<String>,
    tree: std::marker::PhantomData<&'tree Tree>,
}

/// What a walk brings home.
pub(crate) struct Found {
    pub(crate) module: String,
    pub(crate) separator: &'static str,
    /// Without the module; parents are not set yet.
    pub(crate) symbols: Vec<Symbol>,
    /// The type whose member a symbol is although it is written elsewhere, by place in `symbols`.
    pub(crate) owners: Vec<Option<u32>>,
    pub(crate) calls: Vec<FoundCall>,
    /// Uses of the names that are looked for.
    pub(crate) uses: Vec<FoundCall>,
    pub(crate) imports: Vec<Import>,
    pub(crate) bases: Vec<FoundBase>,
    pub(crate) typed: Vec<FoundTyped>,
    types: BTreeMap<String, u32>,
    namespaces: BTreeSet<String>,
    /// Qualified names of values: a variable that is assigned twice is one.
    values: BTreeSet<String>,
}

pub(crate) struct FoundCall {
    /// Where the whole call begins.
    pub(crate) at: u32,
    pub(crate) name: String,
    pub(crate) receiver: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) line: u32,
}

pub(crate) struct FoundBase {
    /// The qualified name of the type that has the base.
    pub(crate) owner: String,
    /// Where names are looked up from.
    pub(crate) scope: String,
    pub(crate) written: String,
    pub(crate) kind: SymbolKind,
}

/// What names are given in: a symbol, a namespace, an `impl` block.
struct Scope {
    level: usize,
    prefix: String,
    kind: ScopeKind,
    /// Members belong to this symbol, which is written elsewhere.
    owner: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    Function,
    Type,
    /// Members of a type that is defined elsewhere.
    Members,
    /// Members of a type itself, not of its values.
    Singleton,
    Namespace,
}

#[derive(Clone, Copy)]
struct Level {
    /// Comments and attributes in front of the next node; none when `lead_end` is 0.
    lead_start: u32,
    lead_end: u32,
    /// The node that is being left is one of them.
    leads: bool,
    /// The wrapper that a definition at this level is all of.
    wrapper: Option<Extent>,
    /// The variables of the function where a block begins.
    block: Option<usize>,
}

#[derive(Clone, Copy)]
struct Extent {
    start: u32,
    end: u32,
    /// `start` without what leads.
    signature_start: u32,
}

pub(crate) fn walk<'a>(
    grammar: &'static Grammar,
    source: &'a Source<'a>,
    tree: &Tree,
    looked_for: &'a BTreeSet<String>,
) -> Result<Found, GaveUp> {
    let module = (grammar.module)(source);
    let mut walk = Walk {
        source,
        grammar,
        table: grammar.table(),
        scopes: Vec::new(),
        frames: Vec::new(),
        pending: Vec::new(),
        levels: vec![Level { lead_start: 0, lead_end: 0, leads: false, wrapper: None, block: None }],
        blocks: Vec::new(),
        blocks_seen: 0,
        found: Found {
            module: String::new(),
            separator: grammar.separator,
            symbols: Vec::new(),
            owners: Vec::new(),
            calls: Vec::new(),
            uses: Vec::new(),
            imports: Vec::new(),
            bases: Vec::new(),
            typed: Vec::new(),
            types: BTreeMap::new(),
            namespaces: BTreeSet::new(),
            values: BTreeSet::new(),
        },
        module,
        wraps: false,
        given_up: None,
        looked_for,
        tree: std::marker::PhantomData,
    };
    walk.run(tree)?;
    walk.found.module = walk.module.qualified;
    Ok(walk.found)
}

impl<'a, 'tree> Walk<'a, 'tree> {
    fn run(&mut self, tree: &'tree Tree) -> Result<(), GaveUp> {
        let mut cursor = tree.walk();
        loop {
            let descends = self.enter(cursor.node());
            if let Some(reason) = self.given_up {
                return Err(reason);
            }
            if descends && cursor.goto_first_child() {
                if self.levels.len() >= TREE_DEPTH_MAX {
                    return Err(GaveUp::TooDeep);
                }
                continue;
            }
            if descends {
                self.ascend();
            }
            loop {
                self.leave();
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return Ok(());
                }
                self.ascend();
            }
        }
    }

    /// Whether the walk goes on below the node; a level for what is there is then in place.
    fn enter(&mut self, node: Node<'tree>) -> bool {
        if !self.looked_for.is_empty() && node.is_named() && node.child_count() == 0 {
            self.use_at(node);
        }
        let Some(rule) = self.table.rule(node) else {
            self.descend(node, None);
            return true;
        };
        if rule.leads {
            self.lead(node);
        }
        if let Some(visit) = rule.visit {
            visit(self, node);
        }
        if rule.skips {
            return false;
        }
        let wraps = std::mem::take(&mut self.wraps) || rule.wraps;
        let wrapper = wraps.then(|| self.extent(node));
        self.descend(node, wrapper);
        true
    }

    /// What leads a node leads the first definition in it, too: some grammars put the comment before a body outside.
    fn descend(&mut self, node: Node<'tree>, wrapper: Option<Extent>) {
        let above = *self.level();
        let block = self.table.is_block(node).then(|| self.open_block());
        let mut level = Level { lead_start: 0, lead_end: 0, leads: false, wrapper, block };
        if above.lead_end != 0 && !above.leads && self.lead_before(node.start_byte() as u32).is_some() {
            (level.lead_start, level.lead_end) = (above.lead_start, above.lead_end);
        }
        self.levels.push(level);
    }

    /// Behind the last node below another.
    fn ascend(&mut self) {
        if let Some(variables) = self.levels.pop().and_then(|level| level.block) {
            self.close_block(variables);
        }
    }

    /// After a node and all that is below it: the next one at this level is its sibling.
    fn leave(&mut self) {
        let level = self.levels.len();
        self.settle(level);
        while self.scopes.last().is_some_and(|scope| scope.level >= level) {
            self.scopes.pop();
        }
        let level = self.level();
        if !level.leads {
            level.lead_end = 0;
        }
        level.leads = false;
    }

    /// The node belongs to the definition that follows it.
    pub(crate) fn lead(&mut self, node: Node<'tree>) {
        let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
        let text = self.source.text;
        let adjoins = self.lead_before(start).is_some();
        let level = self.level();
        if !adjoins && !begins_line(text, start as usize) {
            return;
        }
        if !adjoins {
            level.lead_start = start;
        }
        level.lead_end = end;
        level.leads = true;
    }

    /// Where the comments and attributes begin that end right before `at`: no blank line between.
    fn lead_before(&self, at: u32) -> Option<u32> {
        let level = self.levels.last().expect("the root's level is never popped");
        let end = level.lead_end;
        if end == 0 {
            return None;
        }
        // Some comments include their line end.
        let gap = self.source.text.get(end as usize..at as usize)?;
        let comment_ends_line = self.source.text.as_bytes().get(end as usize - 1) == Some(&b'\n');
        let line_ends = gap.bytes().filter(|byte| *byte == b'\n').count() + usize::from(comment_ends_line);
        (line_ends <= 1).then_some(level.lead_start)
    }

    /// All that belongs to a definition at this node.
    fn extent(&self, node: Node<'tree>) -> Extent {
        if let Some(wrapper) = self.levels.last().and_then(|level| level.wrapper) {
            return wrapper;
        }
        let start = node.start_byte() as u32;
        Extent {
            start: self.lead_before(start).unwrap_or(start),
            end: node.end_byte() as u32,
            signature_start: self.after_leads(node),
        }
    }

    /// Where a node begins without the attributes and decorators inside it.
    fn after_leads(&self, node: Node<'tree>) -> u32 {
        let mut cursor = node.walk();
        let mut children = node.children(&mut cursor);
        children
            .find(|child| self.table.rule(*child).is_none_or(|rule| !rule.leads))
            .map_or(node.start_byte(), |child| child.start_byte()) as u32
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the root's level is never popped")
    }
}
