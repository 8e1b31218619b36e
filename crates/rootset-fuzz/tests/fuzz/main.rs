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
    requests
    rootset_toml
    source_files
    texts
}

#[test]
fn every_operation_is_asked_for_in_the_corpus() {
    let corpus = corpus_of(rootset_fuzz::find("requests").unwrap());
    let asked = |operation: &str| {
        let lines = corpus.iter().flat_map(|(_, input)| std::str::from_utf8(input).unwrap().lines());
        lines.filter_map(|line| line.split_once(' ')).any(|(name, _)| name == operation)
    };
    for operation in rootset_api::catalogue() {
        assert!(asked(operation.name), "add a line `{} {{…}}` to a file in corpus/requests", operation.name);
    }
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
    corpus.sort();
    assert!(!corpus.is_empty(), "{} is empty", folder.display());
    corpus
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
