//! The workspace that a project's own file names. The file comes with the project, so its word counts only where a person
//! has allowed it.

use std::fs;
use std::path::Path;

use rootset_model::names::{check_workspace_id, meant_workspace};

const FILE: &str = "rootset.toml";
/// A configuration is a page; what is longer is not read.
const BYTES_MAX: u64 = 64 * 1024;

/// The name in `workspace = "…"` before the first section; `None` for anything else. The whole file is checked by whoever
/// reads it as configuration.
pub fn declared_workspace(root: &Path) -> Option<String> {
    let path = root.join(FILE);
    let is_plain = fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= BYTES_MAX);
    let text = is_plain.then(|| fs::read_to_string(&path).ok())??;
    let before_sections = text.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let value =
        before_sections.filter_map(|line| line.strip_prefix("workspace")?.trim_start().strip_prefix('=')).next()?;
    let value = value.trim();
    let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let name = value[1..].split(quote).next()?;
    check_workspace_id(name).is_ok().then(|| meant_workspace(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_from_where_toml_has_it_and_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |text: &str| {
            fs::write(folder.path().join(FILE), text).expect("a file");
            declared_workspace(folder.path())
        };
        assert_eq!(read("# the team's\nworkspace = \"team\" # all\n").as_deref(), Some("team"));
        assert_eq!(read("workspace='default'\n[code]\n").as_deref(), Some("home"));
        for nothing in
            ["", "[gc]\nworkspace = \"team\"\n", "workspace = team\n", "workspaces = \"x\"\n", "workspace = \"../x\"\n"]
        {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }
}
