//! A database of its own, a fixed clock, and a language so small that its parser fits on a page: a line `def NAME` begins
//! a symbol, which ends before the next; `call NAME`, `import NAME` and `base NAME` refer to others.

use rootset_model::code::{Base, Call, CodeChunk, Import, Outline, Symbol, SymbolKind};
use rootset_model::{MemoryId, Timestamp};
use rootset_store::{
    ChunkOrigin, CompletedScan, FileOutcome, FileStamp, FileState, Lease, NewFile, NewWorkspace, Stamp, Store, Work,
    Workspace,
};
use rootset_testing::{Sql, TestDatabase};

pub const REPO: &str = "app";
pub const ROOT: &str = "/src/app";
const LEASE_MS: i64 = 60_000;

pub struct World {
    pub database: TestDatabase,
    pub store: Store,
    pub workspace: Workspace,
    pub now: std::cell::Cell<i64>,
    next: std::cell::Cell<u8>,
}

/// A file that was read.
#[derive(Clone)]
pub struct Source {
    pub path: String,
    pub text: String,
    pub replaces: Option<MemoryId>,
}

pub fn source(path: &str, text: &str) -> Source {
    Source { path: path.into(), text: text.into(), replaces: None }
}

impl Source {
    pub fn replacing(mut self, memory: MemoryId) -> Self {
        self.replaces = Some(memory);
        self
    }
}

impl World {
    pub fn new() -> Self {
        let database = TestDatabase::new();
        let store = database.open();
        let stamp = Stamp::new(Timestamp(1), "test");
        let new = NewWorkspace { id: "home".into(), ..NewWorkspace::default() };
        let workspace = store.create_workspace(&new, stamp).expect("a workspace");
        let world = Self { database, store, workspace, now: 1_000.into(), next: 0.into() };
        world.store.bind_repo(&world.workspace, REPO, ROOT, false, world.stamp()).expect("a repository");
        world
    }

    pub fn stamp(&self) -> Stamp<'static> {
        Stamp::new(Timestamp(self.now.get()), "test")
    }

    pub fn id(&self) -> [u8; 16] {
        self.next.set(self.next.get() + 1);
        [self.next.get(); 16]
    }

    pub fn sql(&self) -> Sql {
        self.database.sql()
    }

    pub fn count(&self, table: &str) -> i64 {
        self.sql().scalar(&format!("SELECT COUNT(*) FROM {table}"), &[]).expect("a count")
    }

    pub fn lease(&self) -> Lease {
        let work = Work { workspace: self.workspace.key, kind: "index", subject: [7; 16] };
        let lease = self.store.acquire_lease(work, Timestamp(self.now.get()), LEASE_MS).expect("a lease");
        lease.expect("nobody holds it")
    }

    /// A run that writes these files and ends, with those gone.
    pub fn scan(&self, sources: &[Source], gone: &[MemoryId]) -> Vec<FileOutcome> {
        let lease = self.lease();
        let outcomes = self.write(&lease, sources);
        self.complete(Some(&lease), gone, &[]);
        outcomes
    }

    pub fn write(&self, lease: &Lease, sources: &[Source]) -> Vec<FileOutcome> {
        let outlines: Vec<Outline> = sources.iter().map(|it| outline(&it.path, &it.text)).collect();
        let terms: Vec<Vec<(String, String)>> =
            sources.iter().zip(&outlines).map(|(source, outline)| terms(source, outline)).collect();
        let files: Vec<NewFile<'_>> = sources
            .iter()
            .zip(outlines.iter().zip(&terms))
            .map(|(source, (outline, terms))| NewFile {
                memory: MemoryId(self.id()),
                replaces: source.replaces,
                path: &source.path,
                stamp: FileStamp { size: source.text.len() as i64, modified_ns: 5, changed_ns: 6, inode: 7 },
                content_hash: [source.text.len() as u8; 16],
                extractor: 1,
                language: if source.path.ends_with(".py") { "python" } else { "toy" },
                is_test: false,
                is_mounted: false,
                is_generated: false,
                lines: source.text.lines().count() as i64,
                text: &source.text,
                outline,
                terms,
            })
            .collect();
        let run = self.run() + 1;
        let (store, workspace) = (&self.store, &self.workspace);
        store.write_files(workspace, lease, LEASE_MS, REPO, run, &files, self.stamp()).expect("files are written")
    }

    pub fn run(&self) -> i64 {
        self.store.repo(&self.workspace, REPO).expect("a read").expect("a repository").run
    }

    pub fn completed<'a>(&self, lease: Option<&'a Lease>, gone: &'a [MemoryId]) -> CompletedScan<'a> {
        CompletedScan {
            repo: REPO,
            expected_run: self.run(),
            run_id: [9; 16],
            scope: "{}",
            trusted_at: 77,
            lease,
            refreshed: &[],
            returned: &[],
            gone,
        }
    }

    pub fn complete(&self, lease: Option<&Lease>, gone: &[MemoryId], returned: &[MemoryId]) -> i64 {
        let scan = CompletedScan { returned, ..self.completed(lease, gone) };
        let (stale, warnings) =
            self.store.complete_scan(&self.workspace, &scan, &chunk_terms, self.stamp()).expect("a run ends");
        assert_eq!(warnings, Vec::<String>::new());
        stale
    }

    pub fn states(&self) -> Vec<FileState> {
        self.store.file_states(&self.workspace, REPO).expect("a read").expect("a repository").1
    }

    /// The stored text, whether it is served or not.
    pub fn text_of(&self, memory: MemoryId) -> String {
        self.store.full_memory(&self.workspace, &memory.to_string(), None).expect("a memory").content.context
    }

    /// Chunk numbers of a file in the order of its text.
    pub fn chunks(&self, memory: MemoryId) -> Vec<i64> {
        let sql = "SELECT chunk FROM chunks WHERE memory = ?1 ORDER BY ordinal";
        self.sql().rows(sql, &[(&memory).into()], |row| row.get(0)).expect("numbers")
    }

    /// Whether the blocks of SQLite's full-text index hold these bytes, be they served or not.
    pub fn sqlite_index_holds(&self, needle: &str) -> bool {
        let blocks = self.sql().rows("SELECT block FROM search_code_1_data", &[], |row| row.get::<Vec<u8>>(0));
        let holds = |block: &Vec<u8>| block.windows(needle.len()).any(|window| window == needle.as_bytes());
        blocks.expect("blocks").iter().any(holds)
    }

    /// Names of invariants that do not hold.
    pub fn broken(&self) -> Vec<&'static str> {
        let checks = self.store.check().expect("checks");
        checks.into_iter().filter(|check| !check.is_ok()).map(|check| check.id).collect()
    }
}

pub fn outline(path: &str, text: &str) -> Outline {
    let module = path.rsplit_once('.').map_or(path, |(stem, _)| stem).replace('/', ".");
    let mut outline = Outline::default();
    outline.symbols.push(Symbol {
        name: module.rsplit('.').next().unwrap_or_default().to_owned(),
        qualified_name: module.clone(),
        kind: SymbolKind::Module,
        parent: None,
        start: 0,
        end: text.len() as u32,
        first_line: 1,
        last_line: text.lines().count() as u32,
        signature: String::new(),
    });
    let mut start = 0u32;
    for (number, line) in (1u32..).zip(text.split_inclusive('\n')) {
        let caller = outline.symbols.len() as u32 - 1;
        let (word, rest) = line.trim_end().split_once(' ').unwrap_or_default();
        match word {
            "def" => {
                outline.symbols.push(Symbol {
                    name: rest.to_owned(),
                    qualified_name: format!("{module}.{rest}"),
                    kind: SymbolKind::Function,
                    parent: Some(0),
                    start,
                    end: start,
                    first_line: number,
                    last_line: number,
                    signature: line.trim_end().to_owned(),
                });
            }
            "call" => {
                let call = Call { caller, name: rest.to_owned(), receiver: None, from: None, line: number };
                outline.references.calls.push(call);
            }
            "import" => {
                let import = Import { target: rest.to_owned(), local: None, is_exported: false, line: number };
                outline.references.imports.push(import);
            }
            "base" => {
                let base = Base { symbol: caller, target: rest.to_owned(), kind: SymbolKind::Class };
                outline.references.bases.push(base);
            }
            _ => {}
        }
        start += line.len() as u32;
        let place = outline.symbols.len() - 1;
        let symbol = &mut outline.symbols[place];
        (symbol.end, symbol.last_line) = (start, number);
        match outline.chunks.last_mut() {
            Some(chunk) if chunk.symbol == Some(place as u32) => chunk.end = start,
            _ => {
                let begin = start - line.len() as u32;
                outline.chunks.push(CodeChunk { symbol: Some(place as u32), start: begin, end: start });
            }
        }
    }
    outline.symbols[0].end = text.len() as u32;
    outline
}

fn terms(source: &Source, outline: &Outline) -> Vec<(String, String)> {
    let chunks = outline.chunks.iter();
    chunks
        .map(|chunk| {
            let symbol = chunk.symbol.map(|symbol| &outline.symbols[symbol as usize]);
            let symbol = symbol.map(|it| (it.name.as_str(), it.qualified_name.as_str()));
            let text = &source.text[chunk.start as usize..chunk.end as usize];
            chunk_terms(&ChunkOrigin { path: &source.path, text, symbol })
        })
        .collect()
}

pub fn chunk_terms(chunk: &ChunkOrigin<'_>) -> (String, String) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let name = chunk.symbol.map_or("", |(name, _)| name);
    (words(&format!("{} {name}", chunk.path.replace(['/', '.'], " "))), words(chunk.text))
}
