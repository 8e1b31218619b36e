//! Whom one call reaches.

use rootset_code::{Naming, Sees, identifier_term};
use rootset_model::code::{Call, SymbolKind};

use super::chains::Context;
use super::facts::{Facts, File, Known, Sym};
use super::{Thing, folder_of, joined, key_of, split_last};

/// Types that a receiver of which nothing is known may be taken for, when only their methods have the name.
const ONLY_TYPES_MAX: usize = 3;
/// Shorter names of receivers resemble too much.
const ALIKE_CHARS_MIN: usize = 3;

/// Methods that the values of every language have: the name alone says nothing.
const COMMON_METHODS: [&str; 96] = [
    "get",
    "set",
    "add",
    "append",
    "push",
    "pop",
    "remove",
    "delete",
    "insert",
    "update",
    "clear",
    "copy",
    "keys",
    "values",
    "items",
    "entries",
    "find",
    "index",
    "join",
    "split",
    "strip",
    "trim",
    "replace",
    "format",
    "encode",
    "decode",
    "read",
    "write",
    "close",
    "open",
    "flush",
    "send",
    "recv",
    "map",
    "filter",
    "reduce",
    "sort",
    "reverse",
    "count",
    "len",
    "length",
    "size",
    "contains",
    "has",
    "next",
    "iter",
    "first",
    "last",
    "start",
    "stop",
    "run",
    "call",
    "apply",
    "bind",
    "then",
    "catch",
    "toString",
    "to_string",
    "equals",
    "hashCode",
    "clone",
    "new",
    "init",
    "test",
    "match",
    "search",
    "exec",
    "lower",
    "upper",
    "startswith",
    "endswith",
    "extend",
    "slice",
    "concat",
    "indexOf",
    "forEach",
    "some",
    "every",
    "is_empty",
    "isEmpty",
    "put",
    "load",
    "save",
    "name",
    "type",
    "id",
    "key",
    "value",
    "print",
    "println",
    "log",
    "error",
    "info",
    "debug",
    "warn",
    "String",
];

/// A symbol that a call reaches, or may reach.
#[derive(Clone, Debug)]
pub struct Target {
    pub symbol: Sym,
    pub is_certain: bool,
    /// A few words.
    pub reason: &'static str,
}

/// Where a call ends.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    pub targets: Vec<Target>,
    /// It leads out of the index.
    pub is_foreign: bool,
}

impl Placed {
    /// Nobody can tell whom it reaches.
    pub fn is_unplaced(&self) -> bool {
        self.targets.is_empty() && !self.is_foreign
    }

    fn foreign() -> Self {
        Self { targets: Vec::new(), is_foreign: true }
    }
}

impl Facts {
    /// Whom a call reaches that stands in `caller`. Final if nothing was missed meanwhile.
    pub fn place(&self, file: &File, caller: &Known, call: &Call) -> Placed {
        self.begin();
        let context = Context { file, scope: &caller.key };
        let placed = match (&call.receiver, &call.from) {
            (None, None) => self.bare(&context, &call.name),
            // A variable is called: it may hold a function.
            (None, Some(held)) => {
                let found = self.chain(&context, held);
                let is_function = |it: &Thing| matches!(it, Thing::Symbol(_));
                if found.iter().all(is_function) {
                    self.reached(&context, found, "the variable holds it")
                } else {
                    self.made(&context, held)
                }
            }
            (Some(receiver), from) => self.on(&context, from.as_deref().unwrap_or(receiver), receiver, &call.name),
        };
        if self.is_exhausted() { Placed::default() } else { placed }
    }

    /// Of a variable that holds what a function returned: the function that was made there, which has no name elsewhere, is a
    /// part of the one that made it.
    fn made(&self, context: &Context<'_>, held: &str) -> Placed {
        let Some(maker) = held.strip_suffix("()") else { return Placed::default() };
        let makers = self.chain(context, maker).into_iter().filter_map(|it| match it {
            Thing::Symbol(of) if !of.is_type() => Some(of),
            _ => None,
        });
        let reason = "the variable holds what the function returned";
        let targets = makers.map(|symbol| Target { symbol, is_certain: false, reason }).collect();
        Placed { targets, is_foreign: false }
    }

    fn bare(&self, context: &Context<'_>, name: &str) -> Placed {
        let found = self.seeing_values(|| self.name(context, name));
        let placed = self.reached(context, found, "the name is defined or imported there");
        if !placed.is_foreign {
            return placed;
        }
        // A script without imports may share its names with others.
        let is_script =
            context.file.language.is_some_and(|it| it.default_member().is_some() && it.sees() == Sees::File);
        if is_script && context.file.references.imports.is_empty() {
            let free = |it: &Sym| it.row.repo == context.file.repo && it.row.kind == SymbolKind::Function;
            let targets: Vec<Target> = self
                .related(context.file, name)
                .into_iter()
                .filter(free)
                .filter(|it| !it.container().is_empty())
                .map(|symbol| Target { symbol, is_certain: false, reason: "scripts may share this name" })
                .take(ONLY_TYPES_MAX)
                .collect();
            return Placed { is_foreign: targets.is_empty(), targets };
        }
        placed
    }

    fn on(&self, context: &Context<'_>, chain: &str, written: &str, name: &str) -> Placed {
        let is_in_namespaces = context.file.language.is_some_and(|language| language.naming() == Naming::Namespaces);
        let is_path = chain.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '\\'));
        let holder = self.chain(context, chain);
        if is_in_namespaces && is_path && !holder.iter().any(Thing::is_known) {
            let found = self.seeing_values(|| self.qualified(context, &joined(&key_of(chain), name)));
            if found.iter().any(Thing::is_known) {
                return self.reached(context, found, "the name is written out");
            }
        }
        if holder.iter().any(|it| matches!(it, Thing::Unknown)) {
            return self.guessed(context, written, name);
        }
        let is_typed = holder.iter().any(|it| matches!(it, Thing::Value(_)));
        let found = self.seeing_values(|| self.members(context.file, &holder, name));
        if found.iter().any(|it| matches!(it, Thing::Object(_))) {
            return self.guessed(context, written, name);
        }
        if found.iter().all(|it| matches!(it, Thing::Unknown)) && holder.iter().all(Thing::is_known) {
            // The type is known and has no such method: a field that is called, or what is added while running.
            return Placed::default();
        }
        self.reached(
            context,
            found,
            if is_typed { "the type of the receiver is written" } else { "the name is written out" },
        )
    }

    /// Of several symbols with different names one is meant, nobody knows which.
    fn reached(&self, context: &Context<'_>, found: Vec<Thing>, reason: &'static str) -> Placed {
        let mut symbols: Vec<Sym> = Vec::new();
        let mut is_foreign = !found.is_empty();
        for thing in found {
            match thing {
                Thing::Symbol(of) => symbols.push(of),
                Thing::Module(key) => {
                    // A module that is called is what it exports.
                    let default = context.file.language.and_then(|language| language.default_member());
                    let whole = default.map(|default| self.members(context.file, &[Thing::Module(key)], default));
                    symbols.extend(whole.into_iter().flatten().filter_map(|it| match it {
                        Thing::Symbol(of) => Some(of),
                        _ => None,
                    }));
                }
                Thing::Foreign => {}
                Thing::Value(_) | Thing::Folder(_) | Thing::Object(_) | Thing::Unknown => is_foreign = false,
            }
        }
        let Some(first) = symbols.first() else { return Placed { targets: Vec::new(), is_foreign } };
        let is_certain = symbols.iter().all(|it| it.key == first.key && it.row.repo == first.row.repo);
        let is_one = is_certain && !self.is_scattered(context.file, &symbols);
        let reason = if is_one { reason } else { "one of several definitions" };
        let targets =
            symbols.iter().map(|symbol| Target { symbol: symbol.clone(), is_certain: is_one, reason }).collect();
        Placed { targets, is_foreign: false }
    }

    /// Definitions of one name in several files of a language whose files are linked in ways that sources do not tell.
    fn is_scattered(&self, file: &File, symbols: &[Sym]) -> bool {
        let is_global = file.language.is_some_and(|language| language.naming() == Naming::Global);
        let mut folders: Vec<&str> = symbols.iter().map(|it| folder_of(&it.row.path)).collect();
        folders.dedup();
        is_global && symbols.len() > 1 && (folders.len() > 1 || folder_of(&file.path) != folders[0])
    }

    /// Only the name speaks: for types that the receiver is called after, or when few types have such a method.
    fn guessed(&self, context: &Context<'_>, written: &str, name: &str) -> Placed {
        let is_method = |it: &Sym| it.is_member() && it.row.repo == context.file.repo;
        let methods = self.seeing_values(|| self.related(context.file, name));
        let methods: Vec<Sym> = methods.into_iter().filter(is_method).collect();
        if methods.is_empty() {
            // No type of the index has it.
            return Placed::foreign();
        }
        let called = last_name(written);
        let alike: Vec<Sym> =
            methods.iter().filter(|it| resembles(&called, split_last(it.container()).1)).cloned().collect();
        let (chosen, reason) = if alike.is_empty() {
            let mut types: Vec<&str> = methods.iter().map(|it| it.container()).collect();
            types.sort_unstable();
            types.dedup();
            if types.len() > ONLY_TYPES_MAX || COMMON_METHODS.contains(&name) {
                return Placed::default();
            }
            (methods, "few types have a method of this name")
        } else {
            (alike, "the receiver is called like the type")
        };
        let targets = chosen.into_iter().map(|symbol| Target { symbol, is_certain: false, reason }).collect();
        Placed { targets, is_foreign: false }
    }

    /// Whether a call that reaches a method reaches its override in another type when it runs: that type is below.
    pub fn is_above(&self, method: &Sym, other: &Sym) -> bool {
        self.begin();
        if method.row.name != other.row.name || method.is(other) {
            return false;
        }
        self.types_of(other).iter().any(|of| {
            let (lineage, _) = self.lineage(of);
            lineage.iter().skip(1).any(|above| above.key == method.container() && above.row.repo == method.row.repo)
        })
    }

    /// The methods of types above that a method stands in for.
    pub fn overridden_by(&self, method: &Sym) -> Vec<Sym> {
        self.begin();
        let mut found: Vec<Sym> = Vec::new();
        for of in self.types_of(method) {
            for above in self.lineage(&of).0.iter().skip(1) {
                found.extend(self.own_members(above, &method.row.name));
            }
        }
        found
    }

    /// The type that a method is a member of.
    fn types_of(&self, method: &Sym) -> Vec<Sym> {
        let (container, name) = split_last(method.container());
        let own = |it: &&Sym| {
            it.is_type()
                && it.container() == container
                && it.row.repo == method.row.repo
                && it.family() == method.family()
        };
        self.named(name).iter().filter(own).cloned().collect()
    }

    /// The type that a method is a member of, for who looks at its other members.
    pub fn types_with(&self, method: &Sym) -> Vec<Sym> {
        self.begin();
        self.types_of(method)
    }

    /// Members of a type under a name, inherited ones too.
    pub fn members_named(&self, of: &Sym, name: &str) -> Vec<Sym> {
        self.begin();
        self.type_members(of, name).0
    }

    /// What others find under a name in a module, brought in from elsewhere or not.
    pub fn offered(&self, file: &File, module: &Sym, name: &str) -> Vec<Sym> {
        self.begin();
        let of_module = Thing::Module(module.key.clone());
        self.symbols_of(file, self.members(file, &[of_module], name))
    }

    /// What an import brings in.
    pub fn imported(&self, file: &File, target: &str) -> Vec<Sym> {
        self.begin();
        self.symbols_of(file, self.path(file, target))
    }

    /// Types of the index that a type extends directly.
    pub fn bases_named(&self, of: &Sym) -> Vec<Sym> {
        self.begin();
        let value = |it| if let Thing::Value(of) = it { Some(of) } else { None };
        self.bases(of).into_iter().filter_map(value).collect()
    }

    /// The type that a member of a symbol is said to have.
    pub fn declared(&self, file: &File, of: &Known, from: &str) -> Vec<Sym> {
        self.begin();
        let context = Context { file, scope: &of.key };
        let value = |it| if let Thing::Value(of) = it { Some(of) } else { None };
        self.chain(&context, from).into_iter().filter_map(value).collect()
    }

    /// Symbols among things; modules by their own symbols.
    fn symbols_of(&self, file: &File, things: Vec<Thing>) -> Vec<Sym> {
        let mut found = Vec::new();
        for thing in things {
            match thing {
                Thing::Symbol(of) => found.push(of),
                Thing::Module(key) => {
                    let (container, name) = split_last(&key);
                    found.extend(self.named_in(file, name, container).into_iter().filter(|it| it.is_module()));
                }
                _ => {}
            }
        }
        found
    }
}

/// The last name in a receiver: `store` in `self.store`, `stores()[0]`.
fn last_name(written: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = written.rfind(is_part).map_or(0, |at| at + written[at..].chars().next().map_or(0, char::len_utf8));
    let start = written[..end]
        .rfind(|c: char| !is_part(c))
        .map_or(0, |at| at + written[at..].chars().next().map_or(1, char::len_utf8));
    written[start..end].to_owned()
}

/// `store`, `disk_store` and `_store` are called like `Store` and `DiskStore`.
fn resembles(receiver: &str, of: &str) -> bool {
    let fold = |name: &str| identifier_term(name).replace('_', "");
    let (receiver, of) = (fold(receiver), fold(of));
    if receiver.len() < ALIKE_CHARS_MIN || of.len() < ALIKE_CHARS_MIN {
        return false;
    }
    of == receiver || of.ends_with(&receiver) || receiver.ends_with(&of)
}
