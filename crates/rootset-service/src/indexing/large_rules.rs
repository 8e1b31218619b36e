//! Ignore files with thousands of patterns: compiled as one set, they take a gigabyte or exceed its limit, and none of them counts.
//!
//! A pattern is compiled only once a path comes by that it could match. Each has a piece of plain text that every match
//! contains, and one automaton finds the pieces in a path. What a pattern means is left to the `ignore` crate. Trees without such
//! a file are walked with that crate's own rules alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use parking_lot::Mutex;

use super::tree::IGNORE_FILE;

/// Ignore files that people write are smaller. A set of the patterns in a file of this size still fits its limit.
pub const LARGE_BYTES: u64 = 16 << 10;
/// Longer ones are no ignore files.
const BYTES_MAX: u64 = 64 << 20;
const GIT_FILE: &str = ".gitignore";

/// Whether a file of this name holds rules.
pub fn is_rules_file(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some(GIT_FILE | IGNORE_FILE))
}

/// Whether a folder has rules of its own that are large.
pub fn has_large_rules(folder: &Path) -> bool {
    let is_large = |name| std::fs::metadata(folder.join(name)).is_ok_and(|it| it.is_file() && it.len() > LARGE_BYTES);
    is_large(GIT_FILE) || is_large(IGNORE_FILE)
}

/// The rules of a tree, read folder by folder as the walk comes to them.
#[derive(Debug)]
pub struct TreeRules {
    /// Rules of folders above this one do not count.
    top: PathBuf,
    folders: Mutex<HashMap<PathBuf, Arc<FolderRules>>>,
}

#[derive(Debug)]
struct FolderRules {
    /// Of ours, of git's, and of the repository's own list, which only its top folder has.
    own: Option<Patterns>,
    git: Option<Patterns>,
    repository: Option<Patterns>,
    /// Rules of git above it do not count.
    is_repository: bool,
    above: Option<Arc<FolderRules>>,
}

impl TreeRules {
    pub fn new(top: PathBuf) -> Self {
        Self { top, folders: Mutex::default() }
    }

    /// Whether the walk leaves a file or folder out.
    pub fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let Some(folder) = path.parent() else { return false };
        let rules = self.of(folder);
        let levels = || std::iter::successors(Some(&rules), |level| level.above.as_ref());
        let told = |patterns: &Option<Patterns>| patterns.as_ref().and_then(|it| it.tell(path, is_folder));
        if let Some(ignored) = levels().find_map(|level| told(&level.own)) {
            return ignored;
        }
        let mut in_git = Vec::new();
        for level in levels() {
            in_git.push(level);
            if level.is_repository {
                break;
            }
        }
        let ignored = in_git.iter().find_map(|level| told(&level.git));
        ignored.or_else(|| in_git.iter().find_map(|level| told(&level.repository))).unwrap_or(false)
    }

    fn of(&self, folder: &Path) -> Arc<FolderRules> {
        let (mut new, mut above) = (Vec::new(), None);
        {
            let known = self.folders.lock();
            for folder in folder.ancestors() {
                above = known.get(folder).cloned();
                if above.is_some() {
                    break;
                }
                new.push(folder);
                if folder == self.top {
                    break;
                }
            }
        }
        for folder in new.into_iter().rev() {
            let rules = Arc::new(FolderRules::read(folder, above));
            // Another thread may have been quicker: then its rules are the same.
            above = Some(self.folders.lock().entry(folder.to_owned()).or_insert(rules).clone());
        }
        above.expect("there is at least the folder itself")
    }
}

impl FolderRules {
    fn read(folder: &Path, above: Option<Arc<Self>>) -> Self {
        let git = folder.join(".git");
        Self {
            own: Patterns::read(folder, &folder.join(IGNORE_FILE)),
            git: Patterns::read(folder, &folder.join(GIT_FILE)),
            repository: Patterns::read(folder, &git.join("info/exclude")),
            is_repository: git.exists(),
            above,
        }
    }
}

/// The patterns of one file, the last of which counts.
#[derive(Debug)]
struct Patterns {
    folder: PathBuf,
    lines: Vec<(String, OnceLock<Box<Gitignore>>)>,
    finder: AhoCorasick,
    /// The lines of each piece of text that `finder` finds.
    of_piece: Vec<Vec<u32>>,
    /// Lines without such a piece.
    always: Vec<u32>,
}

impl Patterns {
    /// `None` where there is nothing to read.
    fn read(folder: &Path, file: &Path) -> Option<Self> {
        let size = std::fs::metadata(file).ok().filter(|it| it.is_file())?.len();
        let text = (size <= BYTES_MAX).then(|| std::fs::read(file).ok())??;
        Self::of(folder, &String::from_utf8_lossy(&text))
    }

    fn of(folder: &Path, text: &str) -> Option<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
        let pieces: Vec<Vec<&str>> = lines.iter().map(|line| pieces(line)).collect();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        pieces.iter().flatten().for_each(|piece| *uses.entry(*piece).or_default() += 1);
        let mut places: HashMap<&str, usize> = HashMap::new();
        let (mut texts, mut of_piece, mut always): (Vec<&str>, Vec<Vec<u32>>, Vec<u32>) = Default::default();
        for (line, pieces) in (0..).zip(&pieces) {
            // The piece that the fewest paths should have.
            let Some(rarest) = pieces.iter().min_by_key(|it| (uses[**it], usize::MAX - it.len())) else {
                always.push(line);
                continue;
            };
            let place = *places.entry(*rarest).or_insert_with(|| {
                texts.push(*rarest);
                of_piece.push(Vec::new());
                texts.len() - 1
            });
            of_piece[place].push(line);
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts).ok()?;
        let lines: Vec<_> = lines.into_iter().map(|line| (line.to_owned(), OnceLock::new())).collect();
        (!lines.is_empty()).then(|| Self { folder: folder.to_owned(), lines, finder, of_piece, always })
    }

    /// Whether the last pattern that matches ignores it; `None` if none does.
    fn tell(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let relative = path.strip_prefix(&self.folder).ok()?.as_os_str().as_encoded_bytes();
        let mut lines = self.always.clone();
        for found in self.finder.find_overlapping_iter(relative) {
            lines.extend(&self.of_piece[found.pattern().as_usize()]);
        }
        lines.sort_unstable();
        lines.dedup();
        lines.into_iter().rev().find_map(|line| match self.compiled(line).matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        })
    }

    fn compiled(&self, line: u32) -> &Gitignore {
        let (line, compiled) = &self.lines[line as usize];
        compiled.get_or_init(|| {
            let mut builder = GitignoreBuilder::new(&self.folder);
            // A line that is no pattern matches nothing, as in git.
            let _ = builder.add_line(None, line);
            Box::new(builder.build().unwrap_or_else(|_| Gitignore::empty()))
        })
    }

    #[cfg(test)]
    fn compiled_lines(&self) -> usize {
        self.lines.iter().filter(|(_, compiled)| compiled.get().is_some()).count()
    }
}

/// The texts between the wildcards of a pattern: whatever it matches has all of them. None where that is not plain to see.
fn pieces(line: &str) -> Vec<&str> {
    let body = line.strip_prefix('!').unwrap_or(line).trim_end();
    if body.contains(['\\', '{', '[', ']']) {
        return Vec::new();
    }
    // `a/**/b` matches `a/b`, and `a/` matches `a`: slashes at the ends of a piece may not be there.
    body.split(['*', '?']).map(|piece| piece.trim_matches('/')).filter(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use rootset_properties::for_a_while;

    use super::*;

    const TOP: &str = "/top";

    fn patterns(text: &str) -> Patterns {
        Patterns::of(Path::new(TOP), text).unwrap()
    }

    #[test]
    fn only_patterns_that_a_path_could_match_are_compiled() {
        let text: String =
            (0..50_000).map(|it| format!("dir_{it}/*.tmp\n/out/x_{it}/b*c{it}/\n*_{it}.gen\n")).collect();
        let patterns = patterns(&text);
        for (path, is_folder, expected) in [
            ("dir_777/a.tmp", false, Some(true)),
            ("dir_777/a.txt", false, None),
            ("out/x_12345/bbc12345", true, Some(true)),
            ("out/x_12345/bbc12345", false, None),
            ("deep/in/a_49999.gen", false, Some(true)),
            ("src/main.rs", false, None),
        ] {
            assert_eq!(patterns.tell(&Path::new(TOP).join(path), is_folder), expected, "{path}");
        }
        // Pieces such as `dir_7` are in `dir_777`, too.
        assert!(patterns.compiled_lines() < 100, "{}", patterns.compiled_lines());
    }

    #[test]
    fn the_last_pattern_counts_and_inner_rules_come_before_outer_ones() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".gitignore", "*.log\n!kept.log\nbuild/\n");
        write(".rootsetignore", "fixtures\n!seen.bak\n");
        write(".git/info/exclude", "*.bak\nmine.log\n");
        write("sub/.gitignore", "!*.log\nlocal\n");
        write("sub/other/.git/HEAD", "ref: x\n");
        let rules = TreeRules::new(top.clone());
        for (path, is_folder, expected) in [
            ("a.log", false, true),
            ("kept.log", false, false),
            ("sub/a.log", false, false),
            ("sub/local", false, true),
            ("local", false, false),
            ("build", true, true),
            ("build", false, false),
            ("sub/deep/fixtures", true, true),
            ("a.bak", false, true),
            ("seen.bak", false, false),
            // Another repository: rules of git end at its top, ours do not.
            ("sub/other/a.bak", false, false),
            ("sub/other/fixtures", true, true),
        ] {
            assert_eq!(rules.leave_out(&top.join(path), is_folder), expected, "{path}");
        }
    }

    #[test]
    fn patterns_mean_what_they_mean_to_git() {
        use proptest::prelude::*;
        let name =
            prop::sample::select(vec!["a", "b", "ab", "a.b", "*", "**", "?", "a*", "*b", "a?b", "[ab]", "a*b.a"]);
        let line = (any::<bool>(), any::<bool>(), prop::collection::vec(name, 1..4), any::<bool>()).prop_map(
            |(is_negated, is_anchored, names, is_folder)| {
                let sign = |it: bool, sign: &'static str| if it { sign } else { "" };
                [sign(is_negated, "!"), sign(is_anchored, "/"), &names.join("/"), sign(is_folder, "/")].concat()
            },
        );
        let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "a.b", "aab", "c"]), 1..4);
        let given = (prop::collection::vec(line, 1..6), path, any::<bool>());
        for_a_while(|config| {
            proptest!(config, |((lines, path, is_folder) in &given)| {
                let path = Path::new(TOP).join(path.join("/"));
                let mut builder = GitignoreBuilder::new(TOP);
                for line in &lines {
                    builder.add_line(None, line).unwrap();
                }
                let expected = match builder.build().unwrap().matched(&path, is_folder) {
                    Match::None => None,
                    Match::Ignore(_) => Some(true),
                    Match::Whitelist(_) => Some(false),
                };
                prop_assert_eq!(patterns(&lines.join("\n")).tell(&path, is_folder), expected);
            })
        });
    }
}
