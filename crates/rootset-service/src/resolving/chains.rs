//! What a chain of names stands for: `self.store.open()`, `{Store}.cache`.

use rootset_code::{Language, Naming};

use super::facts::{Facts, File, Sym};
use super::paths::dedup;
use super::{Thing, joined, key_of, split_last};

/// Where a chain stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub file: &'a File,
    /// The symbol that it stands in; names are looked up from here on outwards.
    pub scope: &'a str,
}

impl<'a> Context<'a> {
    pub fn of_module(file: &'a File, key: &'a str) -> Self {
        Self { file, scope: key }
    }
}

enum Link<'a> {
    Member(&'a str),
    Call,
    Element,
}

/// More links are in no chain that is stored.
const LINKS_MAX: usize = 40;

impl Facts {
    pub(super) fn chain(&self, context: &Context<'_>, chain: &str) -> Vec<Thing> {
        if !self.step() {
            return vec![Thing::Unknown];
        }
        self.deeper(|| {
            let (mut found, rest) = self.beginning(context, chain);
            for link in links(rest) {
                let Some(link) = link else { return vec![Thing::Unknown] };
                found = match link {
                    Link::Member(name) => self.members(context.file, &found, name),
                    Link::Call => self.called(context.file, found),
                    Link::Element => vec![Thing::Unknown],
                };
            }
            found
        })
    }

    /// What the first name stands for, and what follows it.
    fn beginning<'c>(&self, context: &Context<'_>, chain: &'c str) -> (Vec<Thing>, &'c str) {
        let unknown = || vec![Thing::Unknown];
        let Some(language) = context.file.language else { return (unknown(), "") };
        if let Some(of) = chain.strip_prefix('{') {
            let Some((name, rest)) = of.split_once('}') else { return (unknown(), "") };
            return (if name.is_empty() { vec![Thing::Foreign] } else { self.value_of(context, name) }, rest);
        }
        if chain.starts_with('?') {
            return (unknown(), "");
        }
        if let Some(path) = chain.strip_prefix("::") {
            // Only names and `::`: all of it is a path.
            let end = path.find(|c: char| !is_name(c) && c != ':').unwrap_or(path.len());
            return (self.path(context.file, &path[..end]), &path[end..]);
        }
        if language.default_member().is_some()
            && let Some(rest) = own_exports(chain)
        {
            let module = key_of(&language.module_at(&context.file.repo, &context.file.path));
            return (vec![Thing::Module(module)], rest);
        }
        let (head, rest) = chain.split_at(chain.find(|c: char| !is_name(c)).unwrap_or(chain.len()));
        // `super().save()`
        if let Some(behind) = chain.strip_prefix("super()")
            && language.is_base_receiver("super()")
        {
            return (self.bases_around(context), behind);
        }
        if language.is_base_receiver(head) {
            return (self.bases_around(context), rest);
        }
        if language.is_own_receiver(head) {
            return (self.own(context), rest);
        }
        let found = self.name(context, head);
        let is_nowhere = !found.is_empty() && found.iter().all(|it| matches!(it, Thing::Foreign));
        if !is_nowhere || !may_be_variable(context.file, head) {
            return (found, rest);
        }
        let is_script = language.default_member().is_some();
        (if is_script { vec![Thing::Object(places_around(context.scope, head))] } else { unknown() }, rest)
    }

    /// A value of a type as written.
    fn value_of(&self, context: &Context<'_>, written: &str) -> Vec<Thing> {
        let of = self.type_named(context, written);
        of.into_iter()
            .map(|it| {
                if let Thing::Symbol(of) = it
                    && of.is_type()
                {
                    Thing::Value(of)
                } else {
                    Thing::Foreign
                }
            })
            .collect()
    }

    /// A type as written; `Self` and its like are the type around.
    pub(super) fn type_named(&self, context: &Context<'_>, written: &str) -> Vec<Thing> {
        if let Some(path) = written.strip_prefix("::") {
            return self.path(context.file, path);
        }
        let is_in_namespaces = context.file.language.is_some_and(|language| language.naming() == Naming::Namespaces);
        if is_in_namespaces && written.contains(['.', ':', '\\']) {
            let found = self.qualified(context, &key_of(written));
            if found.iter().any(Thing::is_known) {
                return found;
            }
        }
        let mut parts = written.split(['.', ':', '\\']).filter(|part| !part.is_empty());
        let Some(head) = parts.next() else { return vec![Thing::Unknown] };
        let is_own =
            context.file.language.is_some_and(|language: &Language| language.is_own_receiver(head)) || head == "Self";
        let mut found = if is_own { self.own(context) } else { self.name(context, head) };
        for part in parts {
            found = self.members(context.file, &found, part);
        }
        found.into_iter().map(|it| if let Thing::Value(of) = it { Thing::Symbol(of) } else { it }).collect()
    }

    /// What calling gives: a value of a type, or what a function says that it returns.
    pub(super) fn called(&self, file: &File, of: Vec<Thing>) -> Vec<Thing> {
        let mut found = Vec::new();
        for thing in of {
            match thing {
                Thing::Symbol(of) if of.is_type() => found.push(Thing::Value(of)),
                Thing::Symbol(of) => found.extend(self.returned(&of)),
                Thing::Module(ref key) => match file.language.and_then(Language::default_member) {
                    Some(default) => {
                        let whole = self.members(file, &[Thing::Module(key.clone())], default);
                        found.extend(if whole.iter().any(Thing::is_known) {
                            self.called(file, whole)
                        } else {
                            vec![Thing::Unknown]
                        });
                    }
                    None => found.push(Thing::Unknown),
                },
                // What passes its value on was taken for the value already.
                Thing::Value(of) => found.push(Thing::Value(of)),
                Thing::Folder(_) | Thing::Object(_) | Thing::Unknown => found.push(Thing::Unknown),
                Thing::Foreign => found.push(Thing::Foreign),
            }
        }
        dedup(found)
    }

    fn returned(&self, function: &Sym) -> Vec<Thing> {
        let Some(file) = self.file(function.row.memory) else { return vec![Thing::Unknown] };
        let context = Context { file: &file, scope: &function.key };
        let told: Vec<Thing> =
            file.typed(function.row.ordinal, "").flat_map(|it| self.chain(&context, &it.from)).collect();
        if told.is_empty() { vec![Thing::Unknown] } else { told }
    }

    /// The type that a place stands in.
    pub(super) fn own(&self, context: &Context<'_>) -> Vec<Thing> {
        match self.type_around(context) {
            Some(of) => vec![Thing::Value(of)],
            None => vec![Thing::Unknown],
        }
    }

    fn bases_around(&self, context: &Context<'_>) -> Vec<Thing> {
        let Some(of) = self.type_around(context) else { return vec![Thing::Unknown] };
        let bases = self.bases(&of);
        if bases.is_empty() { vec![Thing::Foreign] } else { bases }
    }

    pub(super) fn type_around(&self, context: &Context<'_>) -> Option<Sym> {
        let mut scope = context.scope;
        loop {
            let (container, name) = split_last(scope);
            if name.is_empty() {
                return None;
            }
            let types: Vec<Sym> =
                self.named_in(context.file, name, container).into_iter().filter(|it| it.is_type()).collect();
            let here = types.iter().find(|it| it.row.memory == context.file.memory);
            if let Some(of) = here.or(types.first()) {
                return Some(of.clone());
            }
            // An `impl` block of a type that is defined elsewhere.
            if let Some(of) = self.imported_type(context, name) {
                return Some(of);
            }
            scope = container;
        }
    }

    fn imported_type(&self, context: &Context<'_>, name: &str) -> Option<Sym> {
        let targets = context.file.imports_named(name).flat_map(|import| self.path(context.file, &import.target));
        targets.into_iter().find_map(|it| match it {
            Thing::Symbol(of) if of.is_type() && of.row.name == name => Some(of),
            _ => None,
        })
    }
}

/// The names that something called `name` would have in a place and in what is around it, nearest first.
fn places_around(scope: &str, name: &str) -> Vec<String> {
    let around = std::iter::successors(Some(scope), |scope| scope.rsplit_once('.').map(|(outer, _)| outer));
    around.map(|scope| joined(scope, name)).collect()
}

/// Whether a name that is defined nowhere may be a variable that was not noticed. Imported names and those of the language
/// lead out of the index; types begin with a capital.
fn may_be_variable(file: &File, name: &str) -> bool {
    let is_imported = file.imports_named(name).next().is_some() || file.imports_below(name);
    !is_imported && !LANGUAGE_OBJECTS.contains(&name) && name.starts_with(|c: char| c.is_lowercase() || c == '_')
}

/// What every program finds without an import.
const LANGUAGE_OBJECTS: [&str; 12] = [
    "console",
    "window",
    "document",
    "process",
    "global",
    "globalThis",
    "module",
    "navigator",
    "std",
    "core",
    "alloc",
    "str",
];

/// What follows `exports` and `module.exports`, which are the module itself.
fn own_exports(chain: &str) -> Option<&str> {
    let rest = ["module.exports", "exports"].iter().find_map(|own| chain.strip_prefix(own))?;
    (rest.is_empty() || rest.starts_with('.')).then_some(rest)
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '@')
}

/// `None` for what is no link: the text of a receiver from before chains were stored.
fn links(rest: &str) -> impl Iterator<Item = Option<Link<'_>>> {
    let mut rest = rest;
    let next = move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(behind) = rest.strip_prefix("()") {
            rest = behind;
            return Some(Some(Link::Call));
        }
        if let Some(behind) = rest.strip_prefix("[]") {
            rest = behind;
            return Some(Some(Link::Element));
        }
        let name = rest.trim_start_matches(['.', ':', '\\']);
        let end = name.find(|c: char| !is_name(c)).unwrap_or(name.len());
        if end == 0 || name.len() == rest.len() {
            rest = "";
            return Some(None);
        }
        rest = &name[end..];
        Some(Some(Link::Member(&name[..end])))
    };
    std::iter::from_fn(next).take(LINKS_MAX)
}
