//! Every target over its corpus and, for a moment, over damaged copies of it: no target rots, and what once failed is tried
//! on every change. `scripts/fuzz` looks for more.

mod damage;

use std::path::Path;

use rootset_fuzz::{TARGETS, Target};
use rootset_properties::Budget;

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                tried(rootset_fuzz::find(stringify!($name)).expect("a target of this name"));
            }
        )*

        #[test]
        fn every_target_is_tried_here() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets! {
    bundles
    http_requests
    import_files
    mcp_lines
    message_lists
    receipts
    requests
    rootset_toml
    source_files
    texts
}

fn tried(target: &Target) {
    let corpus = corpus_of(target);
    for (name, input) in &corpus {
        // Shown when it fails.
        println!("corpus/{}/{name}", target.name);
        target.run(input);
    }
    let inputs: Vec<Vec<u8>> = corpus.into_iter().map(|(_, input)| input).collect();
    for seed in Budget::weighted(1).seeds() {
        let input = damage::damaged(&inputs, seed);
        let _found = Found { seed, input: &input };
        target.run(&input);
    }
}

fn corpus_of(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut corpus: Vec<_> = entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            (
                entry.file_name().into_string().expect("a name in Unicode"),
                std::fs::read(entry.path()).expect("its bytes"),
            )
        })
        .collect();
    assert!(!corpus.is_empty(), "{} is empty", folder.display());
    if target.name == "requests" {
        corpus.extend(examples());
    }
    corpus.sort();
    corpus
}

/// A request of every operation: a new one is tried without a line in the corpus.
fn examples() -> impl Iterator<Item = (String, Vec<u8>)> {
    rootset_api::catalogue().iter().map(|operation| {
        let line = format!("{} {}", operation.name, (operation.example)());
        (format!("the example of {}", operation.name), line.into_bytes())
    })
}

/// Tells what the input was, when it failed.
struct Found<'a> {
    seed: u64,
    input: &'a [u8],
}

impl Drop for Found<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the input, for a file in corpus/:\n{}", self.input.escape_ascii());
            println!("hint: ROOTSET_TEST_SEED={} ROOTSET_TEST_CASES=1 repeats this", self.seed);
        }
    }
}
