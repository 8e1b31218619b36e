//! The first commit of a history, asked of git once per place.
//!
//! Git runs in an empty repository of our own that borrows the objects: the configuration of the one in question, its
//! hooks, replacements and remotes are never seen. The commit that it names is hashed again, so that an index that lies
//! about its objects proves nothing: whoever has no such commit cannot pretend to have it.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::git::commit;

/// For all that is asked. The largest histories take longer; their folders are told apart by their place, or linked.
const PATIENCE: Duration = Duration::from_secs(3);
/// More than the list of roots, or a commit, ever has.
const OUTPUT_BYTES_MAX: u64 = 256 * 1024;

/// `None` without git, and for whatever is not found in time.
pub fn find(objects: &Path, head: &str) -> Option<String> {
    let until = Instant::now() + PATIENCE;
    let empty = tempfile::tempdir().ok()?;
    for folder in ["objects", "refs"] {
        fs::create_dir(empty.path().join(folder)).ok()?;
    }
    fs::write(empty.path().join("HEAD"), "ref: refs/heads/none\n").ok()?;
    fs::write(empty.path().join("config"), configuration(head)).ok()?;
    let git = Git { folder: empty.path(), objects, until };
    let roots = git.run(&["rev-list", "--max-parents=0", head], b"")?;
    // The oldest, where histories were merged.
    let root = commit(std::str::from_utf8(&roots).ok()?.lines().last()?)?;
    let text = git.run(&["cat-file", "commit", &root], b"")?;
    let hashed = git.run(&["hash-object", "-t", "commit", "--stdin"], &text)?;
    (hashed.trim_ascii() == root.as_bytes()).then_some(root)
}

fn configuration(head: &str) -> &'static str {
    const SHA256_CHARS: usize = 64;
    match head.len() {
        SHA256_CHARS => "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
        _ => "[core]\n\trepositoryformatversion = 0\n",
    }
}

struct Git<'a> {
    folder: &'a Path,
    objects: &'a Path,
    until: Instant,
}

impl Git<'_> {
    /// What a command prints; `None` if it fails, or does not end in time.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let nowhere = OsStr::new(if cfg!(windows) { "NUL" } else { "/dev/null" });
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(self.folder)
            .env_clear()
            .envs(["PATH", "SystemRoot"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .env("HOME", self.folder)
            .env("GIT_DIR", self.folder)
            .env("GIT_OBJECT_DIRECTORY", self.objects)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", nowhere)
            .env("GIT_CONFIG_GLOBAL", nowhere)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let output = self.output(&mut child, input);
        if output.is_none() {
            // It may have ended already.
            let _ = child.kill();
        }
        let is_success = child.wait().is_ok_and(|status| status.success());
        output.filter(|_| is_success)
    }

    fn output(&self, child: &mut Child, input: &[u8]) -> Option<Vec<u8>> {
        let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, printed) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
            // Nobody waits any more: then nobody cares.
            let _ = sender.send(read.is_ok().then_some(bytes));
        });
        stdin.write_all(input).ok()?;
        drop(stdin);
        printed.recv_timeout(self.until.saturating_duration_since(Instant::now())).ok()?
    }
}
