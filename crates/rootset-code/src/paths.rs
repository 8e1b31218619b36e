//! What a path says: whether the file is a test, and what its module is called.

use crate::grammar::ModuleName;
use crate::language::by_extension;
use crate::reader::Source;

/// Directories that hold nothing but tests and what they read.
const TEST_DIRECTORIES: [&str; 9] =
    ["test", "tests", "__tests__", "spec", "specs", "testdata", "test-data", "e2e", "__mocks__"];

/// By its folders, or by the conventions of its language: `tests/`, `test_x.py`, `x_test.go`, `x.spec.ts`, `XTest.java`.
pub fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    if directories.split('/').any(|part| TEST_DIRECTORIES.contains(&part.to_ascii_lowercase().as_str())) {
        return true;
    }
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    by_extension(extension).is_some_and(|language| (language.is_test)(stem, extension))
}

/// A convention of several languages: `test_x`, `x_test`, `x_tests`, `x_unittest`.
pub(crate) fn is_snake_case_test(stem: &str) -> bool {
    ["_test", "_tests", "_unittest"].into_iter().any(|end| stem.ends_with(end))
        || stem.starts_with("test_")
        || matches!(stem, "test" | "tests")
}

/// A convention of several languages: `XTest`, `XTests`, `XTestCase`, `XIT`, `TestX`.
pub(crate) fn is_camel_case_test(stem: &str) -> bool {
    let ends_with = |word: &str| stem.strip_suffix(word).is_some_and(|rest| !rest.is_empty());
    ["Test", "Tests", "IT", "TestCase"].into_iter().any(ends_with)
        || stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The path without its extension: `a/b.c` gives `a/b`.
pub(crate) fn without_extension(path: &str) -> &str {
    let file = path.rfind('/').map_or(0, |at| at + 1);
    match path[file..].rfind('.') {
        Some(at) if at > 0 => &path[..file + at],
        _ => path,
    }
}

/// For languages in which a file has no name: the path stands for it and is not part of the names of symbols.
pub(crate) fn file_module(source: &Source<'_>) -> ModuleName {
    let qualified = without_extension(source.path).to_owned();
    ModuleName { qualified: or_repo(qualified, source.repo), prefix: String::new() }
}

/// A module's name must say something: the file at the top of a repository is called as the repository.
pub(crate) fn or_repo(name: String, repo: &str) -> String {
    match (name.is_empty(), repo.is_empty()) {
        (false, _) => name,
        (true, false) => repo.to_owned(),
        (true, true) => "root".to_owned(),
    }
}

/// Joins a path written in a file to the file's own directory: `./x` and `../x`. `None` when it leaves the repository.
pub(crate) fn resolve_relative(directory: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

pub(crate) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_paths() {
        for path in [
            "tests/a.py",
            "pkg/tests/deep/util.rs",
            "test_models.py",
            "app/conftest.py",
            "server_test.go",
            "src/a.spec.ts",
            "src/__tests__/a.jsx",
            "src/test/java/x/Util.java",
            "x/FooTest.java",
            "spec/models/user_spec.rb",
            "UserTest.php",
            "lib/parser_unittest.cc",
            "run.bats",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in
            ["src/contest.py", "attest.py", "src/latest.ts", "test_models.md", "Latest.java", "testing/pytest.py", ""]
        {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn a_path_in_a_file_is_read_from_where_the_file_is() {
        assert_eq!(resolve_relative("src/a", "../b/./c").as_deref(), Some("src/b/c"));
        assert_eq!(resolve_relative("src", "../../c"), None);
    }
}
