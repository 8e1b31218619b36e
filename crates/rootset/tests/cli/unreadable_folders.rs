//! What cannot be read is unknown, and unknown is not gone. Permissions do not stop root, so the program runs as
//! somebody else where the tests run as root.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// `nobody` on most systems; any number without privileges does.
const ORDINARY_USER: u32 = 65_534;

struct Ground {
    folder: TempDir,
    is_root: bool,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let is_root = std::fs::metadata(folder.path()).expect("it is there").uid() == 0;
        let ground = Self { folder, is_root };
        for path in ["home", "tree/open", "tree/closed"] {
            std::fs::create_dir_all(ground.path(path)).expect("a folder inside");
        }
        if is_root {
            // Where the program was built, the other user may not look.
            std::fs::copy(env!("CARGO_BIN_EXE_rootset"), ground.program()).expect("a copy of the program");
        }
        ground
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn program(&self) -> PathBuf {
        if self.is_root { self.path("rootset") } else { PathBuf::from(env!("CARGO_BIN_EXE_rootset")) }
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.path(path), text).expect("a file for the test");
    }

    fn allow(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.path(path), PermissionsExt::from_mode(mode)).expect("it is ours");
    }

    #[track_caller]
    fn call(&self, operation: &str, request: Value) -> Value {
        let mut command = Command::new(self.program());
        command.env_clear().env("HOME", self.path("home")).current_dir(self.path("home"));
        command.args(["call", operation, &request.to_string()]);
        if self.is_root {
            give_away(self.folder.path());
            command.uid(ORDINARY_USER).gid(ORDINARY_USER);
        }
        let output = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&said).expect("JSON")
    }

    #[track_caller]
    fn index(&self) -> Value {
        self.call("index_codebase", json!({"path": self.path("tree").to_str(), "accept_missing": true}))
    }
}

/// Everything below belongs to the other user.
fn give_away(path: &Path) {
    chown(path, Some(ORDINARY_USER), Some(ORDINARY_USER)).expect("root may");
    let metadata = std::fs::symlink_metadata(path).expect("it is there");
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).expect("root may") {
            give_away(&entry.expect("root may").path());
        }
    }
}

#[test]
fn files_below_a_folder_that_cannot_be_read_are_not_called_stale() {
    let ground = Ground::new();
    for path in ["open/a", "open/b", "closed/c", "closed/d"] {
        let name = path.replace('/', "_");
        ground.write(&format!("tree/{path}.py"), &format!("def function_{name}():\n    pass\n"));
    }
    assert_eq!(ground.index()["files_indexed"], 4);
    ground.allow("tree/closed", 0o000);
    std::fs::remove_file(ground.path("tree/open/b.py")).expect("it is ours");
    let answer = ground.index();
    ground.allow("tree/closed", 0o755);
    assert_eq!(answer["stale_memories"], 1, "open/b.py alone: {answer}");
    assert!(answer["warnings"].to_string().contains("closed"), "{answer}");
    let found = ground.call("search_code", json!({"query": "function_closed_c"}));
    assert_eq!(found["results"][0]["file_path"], "closed/c.py", "{found}");
    let answer = ground.index();
    assert_eq!((&answer["files_unchanged"], &answer["stale_memories"]), (&json!(3), &json!(1)), "{answer}");
}

#[test]
fn a_file_that_cannot_be_read_stays_as_it_was() {
    let ground = Ground::new();
    for path in ["open/a", "open/b"] {
        let name = path.replace('/', "_");
        ground.write(&format!("tree/{path}.py"), &format!("def function_{name}():\n    pass\n"));
    }
    ground.index();
    ground.write("tree/open/a.py", "def pineapple():\n    pass\n");
    ground.allow("tree/open/a.py", 0o000);
    let answer = ground.index();
    assert_eq!((&answer["stale_memories"], &answer["files_indexed"]), (&json!(0), &json!(0)), "{answer}");
    let found = ground.call("search_code", json!({"query": "function_open_a"}));
    assert_eq!(found["results"][0]["file_path"], "open/a.py", "{found}");
    ground.allow("tree/open/a.py", 0o644);
    assert_eq!(ground.index()["files_indexed"], 1);
}
