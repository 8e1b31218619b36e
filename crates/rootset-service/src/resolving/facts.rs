//! What is known of the index at the moment, and what a question missed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use rootset_code::{Language, language_named};
use rootset_model::MemoryId;
use rootset_model::code::{Base, Import, Mapping, MappingKind, References, SymbolKind, Typed};
use rootset_store::{FileReferences, SymbolRow};

use super::{Thing, key_of, split_last};

pub type Sym = Rc<Known>;

/// A symbol with its name in a form that all languages share.
#[derive(Debug)]
pub struct Known {
    pub row: SymbolRow,
    pub key: String,
    /// Of its file; `None` for a language that this build does not have.
    pub language: Option<&'static Language>,
    container_bytes: usize,
}

impl Known {
    pub fn new(row: SymbolRow) -> Self {
        let key = key_of(&row.qualified_name);
        let container_bytes = split_last(&key).0.len();
        Self { language: names_language(&row.language, &row.path), key, container_bytes, row }
    }

    /// What it stands in.
    pub fn container(&self) -> &str {
        &self.key[..self.container_bytes]
    }

    pub fn is(&self, other: &Self) -> bool {
        (self.row.memory, self.row.ordinal) == (other.row.memory, other.row.ordinal)
    }

    pub fn is_type(&self) -> bool {
        self.row.kind.is_type()
    }

    /// Whether it is named through a type, or through a value of one.
    pub fn is_member(&self) -> bool {
        self.row.kind == SymbolKind::Method || self.row.kind.is_value_of_type()
    }

    pub fn is_module(&self) -> bool {
        self.row.kind == SymbolKind::Module
    }

    pub fn family(&self) -> &str {
        self.language.map_or(self.row.language.as_str(), |language| language.family())
    }
}

/// What a file says of others, with its names at hand.
#[derive(Debug)]
pub struct File {
    pub memory: MemoryId,
    pub repo: String,
    pub path: String,
    pub language: Option<&'static Language>,
    pub references: References,
    /// Imports by the name that they have in the file; whole ones under the empty name.
    imports: HashMap<String, Vec<usize>>,
    typed: HashMap<(u32, String), Vec<usize>>,
}

impl File {
    pub fn new(file: FileReferences) -> Self {
        let FileReferences { memory, repo, path, language, references } = file;
        let mut imports: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, import) in references.imports.iter().enumerate() {
            let local = import.local.as_deref().unwrap_or_default();
            imports.entry(local.to_owned()).or_default().push(place);
            // `import a.b` also brings in `a`.
            if let Some((first, _)) = local.split_once('.') {
                imports.entry(format!("{first}.")).or_default().push(place);
            }
        }
        let mut typed: HashMap<(u32, String), Vec<usize>> = HashMap::new();
        for (place, it) in references.typed.iter().enumerate() {
            typed.entry((it.symbol, it.name.clone())).or_default().push(place);
        }
        let language = names_language(&language, &path);
        Self { memory, repo, path, language, references, imports, typed }
    }

    pub fn imports_named(&self, local: &str) -> impl Iterator<Item = &Import> {
        self.imports.get(local).into_iter().flatten().map(|&place| &self.references.imports[place])
    }

    pub fn whole_imports(&self) -> impl Iterator<Item = &Import> {
        self.imports_named("")
    }

    /// Whether `import first.…` stands in the file.
    pub fn imports_below(&self, first: &str) -> bool {
        self.imports.contains_key(&format!("{first}."))
    }

    pub fn typed(&self, symbol: i64, name: &str) -> impl Iterator<Item = &Typed> {
        let places = u32::try_from(symbol).ok().and_then(|symbol| self.typed.get(&(symbol, name.to_owned())));
        places.into_iter().flatten().map(|&place| &self.references.typed[place])
    }

    pub fn bases_of(&self, symbol: i64) -> impl Iterator<Item = &Base> {
        self.references.bases.iter().filter(move |base| i64::from(base.symbol) == symbol)
    }

    pub fn family(&self) -> &str {
        self.language.map_or("", |language| language.family())
    }
}

fn names_language(name: &str, path: &str) -> Option<&'static Language> {
    language_named(name).map(|language| language.of_names_in(path))
}

/// What a question would have needed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub names: BTreeSet<String>,
    pub files: BTreeSet<MemoryId>,
}

impl Wanted {
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.files.is_empty()
    }
}

/// Manifests that one extends: more are in no project.
const EXTENDED_MAX: usize = 10;

/// Repository, folder and target, and whether values count.
type PathKey = (String, String, String, bool);

#[derive(Debug, Default)]
pub struct Facts {
    symbols: HashMap<String, Rc<[Sym]>>,
    files: HashMap<MemoryId, Rc<File>>,
    /// By repository.
    mappings: HashMap<String, Vec<Mapping>>,
    wanted: RefCell<Wanted>,
    missed: Cell<u64>,
    steps: Cell<u32>,
    depth: Cell<u32>,
    was_too_deep: Cell<bool>,
    /// Whether the last name of what is placed may be a constant, a variable or a field; the names before it never are:
    /// what those hold is told by their types.
    is_about_values: bool,
    sees_values: Cell<bool>,
    /// With values, where they are asked for.
    with_values: HashMap<String, Rc<[Sym]>>,
    /// Where paths lead, once nothing was missed on the way.
    pub(super) paths: RefCell<HashMap<PathKey, Vec<Thing>>>,
}

/// What a manifest has from those that it extends, directly or through others.
fn inherited(manifests: &BTreeMap<String, Vec<Mapping>>, extends: &Mapping) -> Vec<Mapping> {
    let (mut open, mut seen, mut found) = (vec![extends.to.as_str()], BTreeSet::new(), Vec::new());
    while let Some(path) = open.pop().filter(|_| seen.len() < EXTENDED_MAX) {
        // A cycle ends where it began.
        if !seen.insert(path) {
            continue;
        }
        for mapping in manifests.get(&[path, ".json"].concat()).into_iter().flatten() {
            match mapping.kind {
                MappingKind::Extends => open.push(&mapping.to),
                _ => found.push(Mapping { within: extends.within.clone(), ..mapping.clone() }),
            }
        }
    }
    found
}

impl Facts {
    /// Steps that the placing of one call may take: chains of re-exports and bases end, cycles do not.
    pub const STEPS_MAX: u32 = 4_000;

    /// For questions about uses of names.
    pub fn about_values() -> Self {
        Self { is_about_values: true, ..Self::default() }
    }

    /// Looks a name up that may be a value's, if the question is about values.
    pub(super) fn seeing_values<T>(&self, look: impl FnOnce() -> T) -> T {
        self.sees_values.set(self.is_about_values);
        let found = look();
        self.sees_values.set(false);
        found
    }

    pub(super) fn sees_values(&self) -> bool {
        self.sees_values.get()
    }

    /// Names that stand for names that stand for names: what is nested deeper goes in a circle, and would take the stack.
    const DEPTH_MAX: u32 = 40;

    /// Looks further, unless that is too deep by now.
    pub(super) fn deeper(&self, look: impl FnOnce() -> Vec<Thing>) -> Vec<Thing> {
        if self.depth.get() >= Self::DEPTH_MAX {
            self.was_too_deep.set(true);
            return vec![Thing::Unknown];
        }
        self.depth.set(self.depth.get() + 1);
        let found = look();
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// Whether what was found since [`Self::begin`] holds wherever it is asked for.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_exhausted() && !self.was_too_deep.get()
    }

    /// All symbols with these names; names without any are known to have none.
    pub fn add_symbols(&mut self, names: impl IntoIterator<Item = String>, rows: Vec<SymbolRow>) {
        let mut by_name: HashMap<String, Vec<Sym>> = names.into_iter().map(|name| (name, Vec::new())).collect();
        for row in rows.into_iter().filter(|row| self.is_about_values || !row.kind.is_value()) {
            by_name.entry(row.name.clone()).or_default().push(Rc::new(Known::new(row)));
        }
        for (name, all) in by_name {
            if self.is_about_values {
                self.with_values.insert(name.clone(), all.as_slice().into());
            }
            let callable: Vec<Sym> = all.into_iter().filter(|it| !it.row.kind.is_value()).collect();
            self.symbols.insert(name, callable.into());
        }
    }

    pub fn add_file(&mut self, file: FileReferences) -> Rc<File> {
        let known = self.files.entry(file.memory).or_insert_with(|| Rc::new(File::new(file)));
        Rc::clone(known)
    }

    /// What the manifests of a repository say, by their paths.
    pub fn add_manifests(&mut self, repo: &str, manifests: &BTreeMap<String, Vec<Mapping>>) {
        let said = self.mappings.entry(repo.to_owned()).or_default();
        for mappings in manifests.values() {
            for mapping in mappings {
                if mapping.kind == MappingKind::Extends {
                    said.extend(inherited(manifests, mapping));
                } else {
                    said.push(mapping.clone());
                }
            }
        }
    }

    pub fn mappings(&self, repo: &str) -> &[Mapping] {
        self.mappings.get(repo).map_or(&[], Vec::as_slice)
    }

    /// Symbols with this name in the language's family; those of the same repository if it has any.
    pub fn named(&self, name: &str) -> Rc<[Sym]> {
        let known = if self.sees_values.get() { &self.with_values } else { &self.symbols };
        match known.get(name) {
            Some(symbols) => Rc::clone(symbols),
            None => {
                self.miss().names.insert(name.to_owned());
                Rc::new([])
            }
        }
    }

    pub fn file(&self, memory: MemoryId) -> Option<Rc<File>> {
        let known = self.files.get(&memory).map(Rc::clone);
        if known.is_none() {
            self.miss().files.insert(memory);
        }
        known
    }

    fn miss(&self) -> std::cell::RefMut<'_, Wanted> {
        self.missed.set(self.missed.get() + 1);
        self.wanted.borrow_mut()
    }

    /// How often something was missed: the same before and after a question whose answer is final.
    pub fn missed(&self) -> u64 {
        self.missed.get()
    }

    pub fn take_wanted(&self) -> Wanted {
        self.wanted.take()
    }

    pub(super) fn begin(&self) {
        self.steps.set(0);
        self.was_too_deep.set(false);
    }

    /// Whether another step may be taken.
    pub(super) fn step(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.steps.get() <= Self::STEPS_MAX
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() > Self::STEPS_MAX
    }
}
