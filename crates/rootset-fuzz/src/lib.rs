//! For tests: everything that reads what strangers send, as functions over any bytes ([`TARGETS`]).
//!
//! A target panics when something is wrong: a reader that panics itself, an answer that blames the program (`internal`), an
//! invariant of its subject that does not hold. Whatever else a reader says about an input is right.
//!
//! Two programs try the same functions: the tests, on every change, over the files in `corpus/` and for a moment over
//! damaged copies of them; and `guided`, which `scripts/fuzz` builds with instrumentation and runs as long as one likes.
//! An input that once failed becomes a file of `corpus/`.
//!
//! A target depends on its input alone: what needs a database gets one in the same state each time ([`world`]).

mod bundles;
mod http_requests;
mod import_files;
mod mcp_lines;
mod message_lists;
mod panics;
mod receipts;
mod requests;
mod rootset_toml;
mod source_files;
mod texts;
mod world;

/// A reader of strangers' bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Also the name of its folder in `corpus/`.
    pub name: &'static str,
    run: fn(&[u8]),
}

/// All of them. Events of hooks get a target when there are hooks.
pub static TARGETS: &[Target] = &[
    Target { name: "bundles", run: bundles::run },
    Target { name: "http_requests", run: http_requests::run },
    Target { name: "import_files", run: import_files::run },
    Target { name: "mcp_lines", run: mcp_lines::run },
    Target { name: "message_lists", run: message_lists::run },
    Target { name: "receipts", run: receipts::run },
    Target { name: "requests", run: requests::run },
    Target { name: "rootset_toml", run: rootset_toml::run },
    Target { name: "source_files", run: source_files::run },
    Target { name: "texts", run: texts::run },
];

pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// # Panics
    /// If the input shows a mistake, on this thread or on another.
    pub fn run(&self, input: &[u8]) {
        let before = panics::count();
        (self.run)(input);
        assert_eq!(panics::count(), before, "a thread panicked");
    }
}
