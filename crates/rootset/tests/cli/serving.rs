//! The server as a process: where it listens, its first token, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rootset_testing::TestEngine;
use serde_json::Value;

use crate::sandbox::Sandbox;

struct Serving {
    process: Child,
    address: String,
}

impl Serving {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_on(sandbox, sandbox.db("memory.db"), arguments)
    }

    fn start_on(sandbox: &Sandbox, db: &str, arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_rootset"))
            .env_clear()
            .envs(sandbox.variables())
            .current_dir(sandbox.work())
            .args(["--db", db, "serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its stdout")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { process, address }
    }

    fn post(&self, operation: &str, body: &str, token: Option<&str>) -> (u16, Value) {
        let authorization = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let request = format!(
            "POST /v1/{operation} HTTP/1.1\r\nHost: {}\r\n{authorization}Content-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("the server listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        (status, serde_json::from_str(body).expect("JSON"))
    }

    /// Its status and what it said.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let killed = Command::new("kill").args([signal, &self.process.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
        let mut talk = String::new();
        self.process.stderr.take().expect("its stderr").read_to_string(&mut talk).expect("its words");
        (self.process.wait().expect("it ends").code(), talk)
    }
}

/// A test that fails leaves no server behind.
impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Beside the file, or for a server in the folder of data.
fn token_file(sandbox: &Sandbox) -> PathBuf {
    match TestEngine::chosen() {
        TestEngine::Sqlite => sandbox.work().join("memory.db.token"),
        TestEngine::Postgres => {
            let folder = sandbox.sqlite_file().with_file_name("");
            let entries = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
            let mut tokens = entries.filter(|path| path.extension().is_some_and(|it| it == "token"));
            tokens.next().unwrap_or_else(|| folder.join("none.token"))
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the token").trim().to_owned()
}

#[test]
fn first_start_leaves_a_token_that_only_its_owner_can_read() {
    let sandbox = Sandbox::new();
    let serving = Serving::start(&sandbox, &[]);
    let path = token_file(&sandbox);
    let token = read(&path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.metadata().expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    }
    assert_eq!(serving.post("list_memories", "{}", None).0, 401);
    assert_eq!(serving.post("list_memories", "{}", Some("rst_wrong")).0, 401);
    let (status, answer) = serving.post("add_memory", r#"{"context": "falcons fly"}"#, Some(&token));
    assert_eq!(status, 200, "{answer}");
    let (status, talk) = serving.end("-TERM");
    assert_eq!(status, Some(0), "{talk}");
    assert!(talk.contains(&*path.file_name().expect("a name").to_string_lossy()) && !talk.contains(&token), "{talk}");
    // The second start finds it and says nothing about it.
    let serving = Serving::start(&sandbox, &[]);
    assert_eq!(read(&path), token);
    let (status, answer) = serving.post("list_memories", "{}", Some(&token));
    assert_eq!((status, &answer["total"]), (200, &Value::from(1)), "{answer}");
    let (_, talk) = serving.end("-INT");
    assert!(!talk.contains(&*path.file_name().expect("a name").to_string_lossy()), "{talk}");
}

#[test]
fn a_start_renews_the_first_token_that_would_soon_end_and_rewrites_its_file() {
    let sandbox = Sandbox::new();
    Serving::start(&sandbox, &[]).end("-TERM");
    let path = token_file(&sandbox);
    let db = sandbox.db("memory.db").to_owned();
    let rotated = |days: &str| {
        let outcome = sandbox.run(["--db", &db, "token", "rotate", "first", "--expires", days]);
        let secret = outcome.stdout.trim().to_owned();
        std::fs::write(&path, format!("{secret}\n")).expect("the file");
        secret
    };
    let early = rotated("31d");
    Serving::start(&sandbox, &[]).end("-TERM");
    assert_eq!(read(&path), early, "not yet");
    let late = rotated("29d");
    let serving = Serving::start(&sandbox, &[]);
    let renewed = read(&path);
    assert_ne!(renewed, late);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(path.metadata().expect("the file").permissions().mode() & 0o777, 0o600);
    }
    for secret in [&renewed, &late] {
        assert_eq!(serving.post("list_memories", "{}", Some(secret)).0, 200, "the old one is still accepted");
    }
    let (_, listed) = serving.post("list_tokens", "{}", Some(&renewed));
    assert_eq!(listed["tokens"][0]["expires_soon"], false, "{listed}");
    let (_, talk) = serving.end("-TERM");
    assert!(!talk.contains(&renewed), "{talk}");
}

#[test]
fn signals_end_the_server_well() {
    for signal in ["-INT", "-TERM"] {
        let sandbox = Sandbox::new();
        let (status, talk) = Serving::start(&sandbox, &[]).end(signal);
        assert_eq!(status, Some(0), "{talk}");
        assert!(talk.contains("the server has stopped"), "{talk}");
    }
}

#[test]
fn a_start_says_what_the_database_server_promises_about_acknowledged_writes() {
    let sandbox = Sandbox::new();
    let (_, talk) = Serving::start(&sandbox, &[]).end("-TERM");
    let said = "durability: fsync = on, full_page_writes = on, synchronous_commit = on";
    assert_eq!(talk.contains(said), TestEngine::chosen() == TestEngine::Postgres, "{talk}");
}

#[test]
fn no_token_is_asked_for_on_the_loopback_only_and_said_loudly() {
    let sandbox = Sandbox::new();
    let serving = Serving::start(&sandbox, &["--no-auth"]);
    assert_eq!(serving.post("list_memories", "{}", None).0, 200);
    assert!(!token_file(&sandbox).exists());
    let (_, talk) = serving.end("-TERM");
    assert!(talk.contains("WARNING: no token is required"), "{talk}");
    for address in ["0.0.0.0:0", "[::]:0"] {
        let sandbox = Sandbox::new();
        let outcome = sandbox.run(["serve", "--no-auth", "--listen", address]);
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains("`--no-auth` works only on a loopback address"), "{outcome:?}");
        assert!(!sandbox.has_database());
    }
}

#[test]
fn port_that_is_taken_is_an_error_that_leaves_no_database() {
    let sandbox = Sandbox::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("its address").to_string();
    let outcome = sandbox.run(["serve", "--listen", &address]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains(&format!("cannot listen on `{address}`")), "{outcome:?}");
    assert!(!sandbox.has_database());
}

#[test]
fn log_of_a_server_holds_no_content_and_no_token() {
    let sandbox = Sandbox::new();
    let serving = Serving::start(&sandbox, &["-vvv"]);
    let token = read(&token_file(&sandbox));
    serving.post("add_memory", r#"{"context": "a very private sentence", "name": "private-name"}"#, Some(&token));
    serving.post("search_memory", r#"{"query": "private sentence"}"#, Some(&token));
    serving.post("get_memory", r#"{"memory_id": "private-name-of-nobody"}"#, Some(&token));
    let (_, talk) = serving.end("-TERM");
    assert!(talk.contains("add_memory") && talk.contains("search_memory"), "requests are logged: {talk}");
    assert!(!talk.contains("private") && !talk.contains(&token), "{talk}");
}

#[test]
fn settings_of_the_server_are_checked() {
    let sandbox = Sandbox::new();
    for (variable, value) in [
        ("ROOTSET_SERVER__LISTEN", "localhost"),
        ("ROOTSET_SERVER__HOSTS", "https://memory.example.org"),
        ("ROOTSET_SERVER__MAX_BODY", "0"),
        ("ROOTSET_SERVER__REQUEST_TIMEOUT", "soon"),
    ] {
        let outcome = sandbox.run_with_variables(&[(variable, value)], ["config", "show"]);
        assert_eq!(outcome.status, Some(1), "{variable}: {outcome:?}");
        assert!(outcome.stderr.contains("; allowed: "), "{outcome:?}");
    }
}

/// A process that closes any descriptor of a file loses its locks on it. Another program that leaves would then take itself
/// for the last one, and delete the log that the server still writes: what it acknowledges from then on would be lost.
#[test]
fn server_keeps_its_locks_on_the_sqlite_files_whatever_it_reads() {
    let sandbox = Sandbox::new();
    let sources = sandbox.work().join("src");
    std::fs::create_dir(&sources).expect("a folder");
    std::fs::write(sources.join("main.py"), "def main():\n    pass\n").expect("a source");
    sandbox.write(sandbox.own_configuration(), format!("[code]\nroots = [\"{}\"]\n", sources.display()));
    // A name without an ending: whoever indexes the folder has to look into the files to learn what they are.
    let serving = Serving::start_on(&sandbox, "memory", &["--no-auth"]);
    let ok = |operation: &str, body: &str| {
        let (status, answer) = serving.post(operation, body, None);
        assert_eq!(status, 200, "{operation}: {answer}");
        for file in ["memory", "memory-shm"] {
            let holder = holder_of_a_lock(&sandbox.work().join(file));
            assert_eq!(holder, Some(serving.process.id()), "{operation} leaves a lock on {file}");
        }
    };
    ok("add_memory", r#"{"content": "The staging server is called Titan.", "name": "titan"}"#);
    ok("delete_memory", r#"{"memory_id": "titan"}"#);
    ok("gc_purge", r#"{"older_than": 0, "confirm": true}"#);
    let index = |folder: &Path| format!(r#"{{"path": "{}"}}"#, folder.display());
    assert_eq!(serving.post("index_codebase", &index(&sandbox.work()), None).0, 403, "its own folder");
    for file in ["memory", "memory-shm"] {
        std::fs::hard_link(sandbox.work().join(file), sources.join(file)).expect("another name for the same file");
    }
    ok("index_codebase", &index(&sources));
    serving.end("-TERM");
}

/// The process that would keep this one from locking the file.
fn holder_of_a_lock(path: &Path) -> Option<u32> {
    use nix::fcntl::{FcntlArg, fcntl};
    let file = std::fs::File::options().read(true).write(true).open(path).expect("the file");
    let mut lock = nix::libc::flock { l_type: nix::libc::F_WRLCK as i16, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
    fcntl(&file, FcntlArg::F_GETLK(&mut lock)).expect("an answer");
    (lock.l_type != nix::libc::F_UNLCK as i16).then_some(lock.l_pid as u32)
}
