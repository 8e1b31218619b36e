//! What a walk means for the index: which files are as they were, which must be read, which are missing.
//!
//! Pure. A file is taken for unchanged without a look inside only when everything that the file system notes about it
//! is as it was, and was so for long enough: a file written in the same instant in which it was last read looks the
//! same as before ("racy"), and is read again.

use rootset_code::is_read_alike;
use rootset_store::{FileStamp, FileState};

use super::scope::IndexScope;
use super::tree::{SeenFile, Tree};

/// The coarsest timestamps of file systems in use: whatever was written within this time before the last look may have
/// changed since without a trace.
const GRANULARITY_NS: i64 = 2_000_000_000;

/// A file that has to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubtful {
    /// By its place in the tree's files.
    pub seen: usize,
    /// What the index holds of it, by its place in the states.
    pub state: Option<usize>,
}

/// Places point into the states and into the tree's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub unchanged: Vec<usize>,
    /// Unchanged, but called stale by an earlier run.
    pub returned: Vec<usize>,
    pub doubtful: Vec<Doubtful>,
    /// In the scope of the run, and certainly not there any more.
    pub missing: Vec<usize>,
    /// Neither seen nor known to be gone, or outside the scope: left as they are.
    pub left_alone: Vec<usize>,
}

/// Files whose language can only be told by a look inside are doubtful, too.
pub fn compare(
    states: &[FileState],
    tree: &Tree,
    scope: &IndexScope,
    extractor: i64,
    trusted_at: i64,
    mut may_be_read: impl FnMut(&SeenFile) -> bool,
) -> Comparison {
    let mut found = Comparison::default();
    let mut files = tree.files.iter().enumerate().peekable();
    for (place, state) in states.iter().enumerate() {
        while let Some((seen, _)) = files.next_if(|(_, file)| file.path < state.path) {
            found.look_at_new(seen, &tree.files[seen], &mut may_be_read);
        }
        let is_in_scope = scope.contains(&state.path, &state.language, state.is_test, state.stamp.size.unsigned_abs());
        match files.next_if(|(_, file)| file.path == state.path) {
            Some((seen, file)) => {
                let is_as_it_was = state.extractor == extractor
                    && is_read_alike(&state.path, &state.language)
                    && is_trusted(&state.stamp, &file.stamp, trusted_at);
                if is_as_it_was && !is_in_scope {
                    found.left_alone.push(place);
                } else if is_as_it_was {
                    found.unchanged.push(place);
                    if state.is_stale {
                        found.returned.push(place);
                    }
                } else {
                    found.doubtful.push(Doubtful { seen, state: Some(place) });
                }
            }
            None if is_in_scope && !tree.is_unknown(&state.path, state.is_mounted) => found.missing.push(place),
            None => found.left_alone.push(place),
        }
    }
    for (seen, file) in files {
        found.look_at_new(seen, file, &mut may_be_read);
    }
    found
}

impl Comparison {
    fn look_at_new(&mut self, seen: usize, file: &SeenFile, may_be_read: &mut impl FnMut(&SeenFile) -> bool) {
        if may_be_read(file) {
            self.doubtful.push(Doubtful { seen, state: None });
        }
    }
}

/// The time up to which stamps can be trusted after a run that began at `began_at`. It moves on unless a file that the run
/// did not look at could have changed unnoticed since the last look at it.
pub fn trusted_after<'a>(left_alone: impl IntoIterator<Item = &'a FileState>, trusted_at: i64, began_at: i64) -> i64 {
    let all_old = left_alone.into_iter().all(|state| is_trusted(&state.stamp, &state.stamp, trusted_at));
    if all_old { began_at } else { trusted_at }
}

fn is_trusted(known: &FileStamp, seen: &FileStamp, trusted_at: i64) -> bool {
    let last_written = seen.modified_ns.max(seen.changed_ns);
    known == seen && last_written.saturating_add(GRANULARITY_NS) < trusted_at
}

#[cfg(test)]
mod tests {
    use rootset_model::MemoryId;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn stamp(written_at: i64) -> FileStamp {
        FileStamp { size: 10, modified_ns: written_at, changed_ns: written_at, inode: 1 }
    }

    fn state(path: &str, language: &str, written_at: i64) -> FileState {
        FileState {
            memory: MemoryId([0; 16]),
            path: path.into(),
            stamp: stamp(written_at),
            content_hash: [0; 16],
            extractor: 1,
            language: language.into(),
            is_test: false,
            is_mounted: false,
            lines: 1,
            functions: 0,
            classes: 0,
            is_stale: false,
        }
    }

    fn seen(path: &str, written_at: i64) -> SeenFile {
        SeenFile { path: path.into(), stamp: stamp(written_at), is_mounted: false }
    }

    fn compared(states: &[FileState], files: Vec<SeenFile>, unknown: &[&str], scope: &IndexScope) -> Comparison {
        let mut tree = Tree { files, ..Tree::default() };
        tree.unknown.extend(unknown.iter().map(|it| (*it).to_owned()));
        compare(states, &tree, scope, 1, 100 * SECOND, |_| true)
    }

    fn everything() -> IndexScope {
        IndexScope { languages: None, include_tests: true, max_file_size: 1_000 }
    }

    #[test]
    fn file_is_unchanged_only_when_its_stamp_is_the_same_and_old() {
        let states =
            [state("a", "python", 10 * SECOND), state("b", "python", 10 * SECOND), state("c", "python", 99 * SECOND)];
        let files = vec![seen("a", 10 * SECOND), seen("b", 11 * SECOND), seen("c", 99 * SECOND)];
        let found = compared(&states, files, &[], &everything());
        assert_eq!(found.unchanged, [0]);
        assert_eq!(found.doubtful, [1, 2].map(|place| Doubtful { seen: place, state: Some(place) }));
    }

    #[test]
    fn new_and_missing_files_are_told_apart_wherever_they_stand() {
        let states = [state("b", "python", 1), state("d", "python", 1)];
        let found = compared(&states, vec![seen("a", 1), seen("c", 1), seen("d", 1), seen("e", 1)], &[], &everything());
        assert_eq!(found.missing, [0]);
        assert_eq!(found.unchanged, [1]);
        assert_eq!(found.doubtful, [0, 1, 3].map(|place| Doubtful { seen: place, state: None }));
    }

    #[test]
    fn what_is_unknown_or_out_of_scope_is_never_missing() {
        let states = [state("a/x", "python", 1), state("ab", "python", 1), state("b", "rust", 1)];
        let scope = IndexScope { languages: Some(["python".to_owned()].into()), ..everything() };
        let found = compared(&states, vec![], &["a"], &scope);
        assert_eq!(found.missing, [1]);
        assert_eq!(found.left_alone, [0, 2]);
        assert_eq!(compared(&states, vec![], &[""], &everything()).missing, [] as [usize; 0]);
    }

    #[test]
    fn stale_file_that_is_seen_again_returns() {
        let states = [FileState { is_stale: true, ..state("a", "python", 1) }];
        assert_eq!(compared(&states, vec![seen("a", 1)], &[], &everything()).returned, [0]);
    }

    #[test]
    fn another_extractor_makes_every_file_doubtful() {
        let states = [FileState { extractor: 0, ..state("a", "python", 1) }];
        assert_eq!(compared(&states, vec![seen("a", 1)], &[], &everything()).doubtful.len(), 1);
    }

    #[test]
    fn a_file_that_was_read_as_text_is_doubtful_once_its_language_has_a_grammar() {
        let states = [state("a.rs", "other", 1), state("b.swift", "other", 1)];
        let comparison = compared(&states, vec![seen("a.rs", 1), seen("b.swift", 1)], &[], &everything());
        assert_eq!((comparison.doubtful, comparison.unchanged), (vec![Doubtful { seen: 0, state: Some(0) }], vec![1]));
    }

    #[test]
    fn trust_moves_on_unless_a_file_that_was_left_alone_is_too_young() {
        let (old, young) = (state("a", "python", 10 * SECOND), state("b", "python", 99 * SECOND));
        assert_eq!(trusted_after([&old], 100 * SECOND, 200 * SECOND), 200 * SECOND);
        assert_eq!(trusted_after([&old, &young], 100 * SECOND, 200 * SECOND), 100 * SECOND);
    }
}
