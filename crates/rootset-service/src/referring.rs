//! References answered from the index: loads what the resolver wants, a few round trips for all calls of a question.
//!
//! Not here: what a name means (`resolving`), and requests (`operations/references.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rootset_code::{Language, Naming, identifier_term, manifest_names, name_parts};
use rootset_model::MemoryId;
use rootset_model::code::{Call, Mapping, SymbolKind};
use rootset_store::{FileReferences, SymbolRow, Workspace};

use crate::error::ServiceError;
use crate::resolving::{Facts, File, Known, Placed, Sym, key_of};
use crate::service::Service;

/// Files that hold a name and are looked at; what is beyond is counted.
const FILES_MAX: usize = 20_000;
/// Other names under which a symbol can be imported.
const ALIASES_MAX: usize = 8;
/// Loads for one question: each follows one more re-export, import or base.
const ROUNDS_MAX: usize = 24;
/// Methods that make a value of their type: who calls the type calls them.
const CONSTRUCTORS: [&str; 4] = ["__init__", "constructor", "initialize", "__construct"];

pub struct Referring<'a> {
    service: &'a Service,
    workspace: &'a Workspace,
    facts: Facts,
}

/// A call where it stands.
pub struct Site {
    pub file: Rc<File>,
    pub caller: Sym,
    pub call: Call,
}

/// A call that reaches one of the symbols that were asked for, or that such a symbol makes.
pub struct Reached {
    pub site: usize,
    pub target: Sym,
    pub is_certain: bool,
    pub reason: &'static str,
}

#[derive(Default)]
pub struct Calls {
    pub sites: Vec<Site>,
    pub reached: Vec<Reached>,
    /// Calls that could not be placed, and files that were too many to look at.
    pub unresolved: usize,
    /// Calls that lead to other symbols, or out of the index: with what was reached and what is unresolved, all there are.
    pub elsewhere: usize,
}

impl<'a> Referring<'a> {
    pub fn new(service: &'a Service, workspace: &'a Workspace) -> Result<Self, ServiceError> {
        Self::with(service, workspace, Facts::default())
    }

    /// One that also knows constants, variables and fields.
    pub fn of_values(service: &'a Service, workspace: &'a Workspace) -> Result<Self, ServiceError> {
        Self::with(service, workspace, Facts::about_values())
    }

    fn with(service: &'a Service, workspace: &'a Workspace, facts: Facts) -> Result<Self, ServiceError> {
        let mut it = Self { service, workspace, facts };
        let mut names: Vec<String> = manifest_names().map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        let manifests = service.store.symbols_named(workspace, &names, None, service.now())?;
        let memories: Vec<MemoryId> = manifests.iter().map(|manifest| manifest.memory).collect();
        let mut by_repo: BTreeMap<String, BTreeMap<String, Vec<Mapping>>> = BTreeMap::new();
        for file in it.references(&memories)? {
            by_repo.entry(file.repo).or_default().insert(file.path, file.references.mappings);
        }
        for (repo, manifests) in &by_repo {
            it.facts.add_manifests(repo, manifests);
        }
        Ok(it)
    }

    fn references(&self, memories: &[MemoryId]) -> Result<Vec<FileReferences>, ServiceError> {
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.service.store.references_of(self.workspace, memories, self.service.now())?)
    }

    /// Whether anything new is known: what was wanted last.
    fn load(&mut self) -> Result<bool, ServiceError> {
        let wanted = self.facts.take_wanted();
        if wanted.is_empty() {
            return Ok(false);
        }
        if !wanted.names.is_empty() {
            let names: Vec<String> = wanted.names.into_iter().collect();
            let rows = self.service.store.symbols_named(self.workspace, &names, None, self.service.now())?;
            self.facts.add_symbols(names, rows);
        }
        let memories: Vec<MemoryId> = wanted.files.into_iter().collect();
        let mut left: BTreeSet<MemoryId> = memories.iter().copied().collect();
        for file in self.references(&memories)? {
            left.remove(&file.memory);
            self.facts.add_file(file);
        }
        for gone in left {
            self.facts.add_file(FileReferences { memory: gone, ..nothing() });
        }
        Ok(true)
    }

    /// Asks until nothing is missing.
    pub fn settled<T>(&mut self, ask: impl Fn(&Facts) -> T) -> Result<T, ServiceError> {
        let mut rounds = 0;
        loop {
            let missed = self.facts.missed();
            let answer = ask(&self.facts);
            rounds += 1;
            if self.facts.missed() == missed || rounds > ROUNDS_MAX || !self.load()? {
                return Ok(answer);
            }
        }
    }

    /// Where each call ends. A call that took too many rounds is unplaced.
    pub(crate) fn placed(&mut self, sites: &[Site]) -> Result<Vec<Placed>, ServiceError> {
        let mut placed: Vec<Option<Placed>> = sites.iter().map(|_| None).collect();
        for _ in 0..ROUNDS_MAX {
            let mut is_done = true;
            for (site, slot) in sites.iter().zip(&mut placed).filter(|(_, slot)| slot.is_none()) {
                let missed = self.facts.missed();
                let found = self.facts.place(&site.file, &site.caller, &site.call);
                if self.facts.missed() == missed {
                    *slot = Some(found);
                } else {
                    is_done = false;
                }
            }
            if is_done || !self.load()? {
                break;
            }
        }
        Ok(placed.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// The calls that reach one of these symbols, which share their last name.
    pub fn callers(&mut self, targets: &[Sym], repo: Option<&str>) -> Result<Calls, ServiceError> {
        let mut found = Calls::default();
        let (names, files, left) = self.files_with_names_of(targets, repo)?;
        found.unresolved += left;
        // Most files that hold a word call nothing of that name: their symbols are not loaded.
        let mut calling: Vec<(Rc<File>, Vec<usize>)> = Vec::new();
        for file in files {
            let file = self.facts.add_file(file);
            let calls = file.references.calls.iter().enumerate();
            let places: Vec<usize> =
                calls.filter(|(_, call)| names.are_called(&file, call)).map(|(place, _)| place).collect();
            if !places.is_empty() {
                calling.push((file, places));
            }
        }
        let memories: Vec<MemoryId> = calling.iter().map(|(file, _)| file.memory).collect();
        let callers = self.symbols_of(&memories)?;
        for (file, places) in calling {
            for call in places.into_iter().map(|place| &file.references.calls[place]) {
                match callers.get(&(file.memory, i64::from(call.caller))) {
                    Some(caller) => {
                        found.sites.push(Site { file: Rc::clone(&file), caller: caller.clone(), call: call.clone() })
                    }
                    // The file was read again meanwhile.
                    None => found.unresolved += 1,
                }
            }
        }
        let placed = self.placed(&found.sites)?;
        let mut above: BTreeMap<(MemoryId, i64), Vec<Sym>> = BTreeMap::new();
        for (site, placed) in placed.into_iter().enumerate() {
            let is_unplaced = placed.is_unplaced();
            let mut best: Option<Reached> = None;
            for target in placed.targets {
                let is_meant = targets.iter().find(|asked| stands_for(&target.symbol, asked));
                let reached = match is_meant {
                    Some(asked) => {
                        Reached { site, target: asked.clone(), is_certain: target.is_certain, reason: target.reason }
                    }
                    None if target.symbol.row.kind == SymbolKind::Method => {
                        let place = (target.symbol.row.memory, target.symbol.row.ordinal);
                        let below = match above.get(&place) {
                            Some(known) => known.clone(),
                            None => {
                                let mut below = Vec::new();
                                for asked in targets {
                                    if self.settled(|facts| facts.is_above(&target.symbol, asked))? {
                                        below.push(asked.clone());
                                    }
                                }
                                above.insert(place, below.clone());
                                below
                            }
                        };
                        let Some(asked) = below.first() else { continue };
                        let reason = "it overrides the method that is called";
                        Reached { site, target: asked.clone(), is_certain: false, reason }
                    }
                    None => continue,
                };
                if best.as_ref().is_none_or(|best| !best.is_certain && reached.is_certain) {
                    best = Some(reached);
                }
            }
            found.unresolved += usize::from(is_unplaced);
            found.elsewhere += usize::from(!is_unplaced && best.is_none());
            found.reached.extend(best);
        }
        Ok(found)
    }

    /// The calls that stand in one of these symbols, or in what is written in it.
    pub fn callees(&mut self, targets: &[Sym]) -> Result<Calls, ServiceError> {
        let memories: BTreeSet<MemoryId> = targets.iter().map(|target| target.row.memory).collect();
        let memories: Vec<MemoryId> = memories.into_iter().collect();
        let files = self.references(&memories)?;
        let symbols = self.symbols_by_place(&files)?;
        let is_asked_for = |caller: &Known| {
            targets.iter().any(|target| {
                target.row.memory == caller.row.memory
                    && target.row.start <= caller.row.start
                    && caller.row.start + caller.row.length <= target.row.start + target.row.length
            })
        };
        let mut found = Calls::default();
        for file in files {
            let file = self.facts.add_file(file);
            for call in &file.references.calls {
                let Some(caller) = symbols.get(&(file.memory, i64::from(call.caller))) else { continue };
                if is_asked_for(caller) {
                    found.sites.push(Site { file: Rc::clone(&file), caller: caller.clone(), call: call.clone() });
                }
            }
        }
        for (site, placed) in self.placed(&found.sites)?.into_iter().enumerate() {
            found.unresolved += usize::from(placed.is_unplaced());
            found.elsewhere += usize::from(placed.is_foreign);
            for target in placed.targets {
                let (is_certain, reason) = (target.is_certain, target.reason);
                found.reached.push(Reached { site, target: target.symbol, is_certain, reason });
            }
        }
        Ok(found)
    }

    /// The symbols that a module offers under another name than their own: `http.Request` of `http/request.py`.
    pub fn offered(&mut self, modules: &[Sym], name: &str) -> Result<Vec<Sym>, ServiceError> {
        let memories: Vec<MemoryId> = modules.iter().map(|module| module.row.memory).collect();
        let files: BTreeMap<MemoryId, Rc<File>> =
            self.references(&memories)?.into_iter().map(|file| (file.memory, self.facts.add_file(file))).collect();
        let mut found: Vec<Sym> = Vec::new();
        for (module, file) in modules.iter().filter_map(|it| Some((it, files.get(&it.row.memory)?))) {
            for it in self.settled(|facts| facts.offered(file, module, name))? {
                if !found.iter().any(|known| known.is(&it)) {
                    found.push(it);
                }
            }
        }
        Ok(found)
    }

    /// Files in which the symbols may be named, under their own names and those under which others can import them.
    pub fn files_with_names_of(
        &mut self,
        targets: &[Sym],
        repo: Option<&str>,
    ) -> Result<(Names, Vec<FileReferences>, usize), ServiceError> {
        let mut names = Names::default();
        for target in targets {
            names.add(&target.row.name);
            names.default = names.default.or(target.language.and_then(Language::default_member));
            let container = target.container().rsplit('.').next().unwrap_or_default();
            if CONSTRUCTORS.contains(&target.row.name.as_str()) {
                names.add(container);
            }
            if let Some(default) = target.language.and_then(Language::default_member)
                && target.row.name == default
            {
                // Whoever imports it names it after the module, if not at will.
                names.whole_modules.insert(container.to_owned());
            }
        }
        let (mut files, mut left): (BTreeMap<MemoryId, FileReferences>, usize) = (BTreeMap::new(), 0);
        let mut asked: BTreeSet<String> = BTreeSet::new();
        for _ in 0..ALIASES_MAX {
            let terms: BTreeSet<String> = names.all().map(identifier_term).filter(|it| !it.is_empty()).collect();
            let new: Vec<String> = terms.into_iter().filter(|term| !asked.contains(term)).collect();
            if new.is_empty() {
                break;
            }
            for term in new {
                let (workspace, now) = (self.workspace, self.service.now());
                let found = self.service.store.references_holding(workspace, &term, repo, FILES_MAX + 1, now)?;
                left += usize::from(found.len() > FILES_MAX);
                for file in found.into_iter().take(FILES_MAX) {
                    names.note_exports(&file, targets);
                    files.insert(file.memory, file);
                }
                asked.insert(term);
            }
        }
        let mut files: Vec<FileReferences> = files.into_values().collect();
        files.sort_by(|a, b| (&a.repo, &a.path).cmp(&(&b.repo, &b.path)));
        Ok((names, files, left))
    }

    /// The symbols of some files, by file and number.
    pub fn symbols_by_place(&self, files: &[FileReferences]) -> Result<BTreeMap<(MemoryId, i64), Sym>, ServiceError> {
        let memories: Vec<MemoryId> = files.iter().map(|file| file.memory).collect();
        self.symbols_of(&memories)
    }

    pub fn symbols_of(&self, memories: &[MemoryId]) -> Result<BTreeMap<(MemoryId, i64), Sym>, ServiceError> {
        if memories.is_empty() {
            return Ok(BTreeMap::new());
        }
        let symbols = self.service.store.symbols_of_files(self.workspace, memories, self.service.now())?;
        let by_place = |row: SymbolRow| ((row.memory, row.ordinal), Rc::new(Known::new(row)));
        Ok(symbols.into_iter().map(by_place).collect())
    }

    pub fn add_file(&mut self, file: FileReferences) -> Rc<File> {
        self.facts.add_file(file)
    }
}

/// A file that is gone says nothing.
fn nothing() -> FileReferences {
    FileReferences {
        memory: MemoryId([0; 16]),
        repo: String::new(),
        path: String::new(),
        language: String::new(),
        references: rootset_model::code::References::default(),
    }
}

/// Whether reaching the one is reaching the other: the same, or a type and what makes its values.
fn stands_for(reached: &Known, asked: &Known) -> bool {
    let makes = |method: &Known, of: &Known| {
        let own = method.row.kind == SymbolKind::Method && method.container() == of.key && of.is_type();
        own && (CONSTRUCTORS.contains(&method.row.name.as_str()) || method.row.name == of.row.name)
    };
    reached.is(asked)
        || reached.row.repo == asked.row.repo
            && reached.family() == asked.family()
            && (makes(asked, reached) || makes(reached, asked))
}

/// What a symbol may be called where it is used.
#[derive(Debug, Default)]
pub struct Names {
    own: BTreeSet<String>,
    /// Modules whose one export the symbol is.
    whole_modules: BTreeSet<String>,
    /// How the language calls a module's one export.
    default: Option<&'static str>,
}

impl Names {
    fn add(&mut self, name: &str) {
        if !name.is_empty() && self.own.len() < ALIASES_MAX {
            self.own.insert(name.to_owned());
        }
    }

    /// Without the word that stands for a module's one export: it is in every second file and names nothing.
    fn all(&self) -> impl Iterator<Item = &str> {
        self.own
            .iter()
            .filter(|name| self.default != Some(name.as_str()))
            .chain(&self.whole_modules)
            .map(String::as_str)
    }

    /// Names under which a file offers the symbols to others.
    fn note_exports(&mut self, file: &FileReferences, targets: &[Sym]) {
        let language = rootset_code::language_named(&file.language);
        let default = language.and_then(Language::default_member);
        // In Python whatever a module imports can be imported from it.
        let offers_all = language.is_some_and(|it| it.naming() == Naming::Modules) && default.is_none();
        for import in file.references.imports.iter().filter(|import| import.is_exported || offers_all) {
            let Some(local) = import.local.as_deref() else { continue };
            let parts = name_parts(&import.target);
            let Some(last) = parts.last().filter(|last| self.own.contains(**last)) else { continue };
            if default == Some(local) {
                let is_own = targets.iter().any(|target| key_of(&import.target) == target.key);
                let module = name_parts(&file.path).iter().rev().nth(1).copied().unwrap_or_default();
                if is_own || *last == local {
                    self.add(local);
                    let folder = file.path.rsplit('/').nth(1).unwrap_or_default();
                    self.whole_modules.insert(if module == "index" { folder } else { module }.to_owned());
                }
            } else if local != *last {
                self.add(local);
            }
        }
    }

    /// What the symbols may be called in a file, imported names included.
    pub fn in_file(&self, file: &File) -> BTreeSet<String> {
        let imported = file.references.imports.iter().filter_map(|import| import.local.as_deref());
        let imported = imported.filter(|local| self.reach(file, local)).map(str::to_owned);
        self.own.iter().cloned().chain(imported).collect()
    }

    /// Whether a call may be one of them, through a variable that holds it, too.
    fn are_called(&self, file: &File, call: &Call) -> bool {
        let held = call.from.as_deref().filter(|_| call.receiver.is_none());
        self.reach(file, &call.name)
            || held.is_some_and(|held| self.end(held) || self.makes(file, held))
            || call.receiver.is_none() && file.typed(0, &call.name).any(|it| self.end(&it.from))
    }

    /// Whether a variable that holds what a function returned may have got it from one of them.
    fn makes(&self, file: &File, held: &str) -> bool {
        held.strip_suffix("()").is_some_and(|maker| {
            let is_held = |name: &str| file.typed(0, name).any(|it| self.end(&it.from));
            self.end(maker) || self.reach(file, maker) || is_held(maker)
        })
    }

    /// Whether one of the names is the last of a chain.
    fn end(&self, chain: &str) -> bool {
        self.own.contains(chain.rsplit(['.', ':', '}']).next().unwrap_or(chain))
    }

    /// Whether a call by this name in this file may be one of them.
    pub fn reach(&self, file: &File, name: &str) -> bool {
        self.own.contains(name)
            || file.imports_named(name).any(|import| {
                let last = name_parts(&import.target).last().copied().unwrap_or_default().to_owned();
                self.own.contains(&last) || self.whole_modules.contains(&last)
            })
    }
}
