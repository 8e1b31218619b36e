//! The commands about code: what they show, what they refuse, and how watching sees a change.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::sandbox::Sandbox;

fn with_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop/cart.py", "def total(cart):\n    return sum(cart)\n");
    sandbox.write("shop/pay.py", "from shop.cart import total\n\ndef pay(cart):\n    return total(cart)\n");
    sandbox
}

#[test]
fn index_says_what_it_did_and_what_became_stale() {
    let sandbox = with_project();
    let outcome = sandbox.run(["index", "shop"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.starts_with("shop  2 files indexed, 0 unchanged, 0 gone\n"), "{outcome:?}");
    std::fs::remove_file(sandbox.work().join("shop/pay.py")).expect("the file");
    let outcome = sandbox.run(["index", "shop"]);
    assert!(outcome.stdout.contains("0 files indexed, 1 unchanged, 1 gone"), "{outcome:?}");
    assert!(outcome.stdout.contains("stale: 1 file\n"), "{outcome:?}");
    assert!(outcome.stderr.contains("rootset prune"), "{outcome:?}");
    let outcome = sandbox.run(["prune", "--dry-run"]);
    assert!(outcome.stdout.contains("pay.py"), "{outcome:?}");
}

#[test]
fn index_without_a_folder_is_about_the_working_folder() {
    let sandbox = with_project();
    assert_eq!(sandbox.run(["--json", "index"]).json()["repo"], "work");
}

#[test]
fn symbols_callers_and_callees_are_shown() {
    let sandbox = with_project();
    sandbox.run(["index", "shop"]);
    let outcome = sandbox.run(["code", "search", "total"]);
    assert!(outcome.stdout.starts_with("cart.total  function in shop/cart.py:1\n"), "{outcome:?}");
    let outcome = sandbox.run(["code", "symbol", "pay"]);
    assert!(outcome.stdout.contains("  def pay(cart):\n      return total(cart)\n"), "{outcome:?}");
    let outcome = sandbox.run(["code", "callers", "total"]);
    assert!(outcome.stdout.lines().any(|line| line.contains("pay.pay") && line.contains("shop/pay.py")), "{outcome:?}");
    let outcome = sandbox.run(["code", "callees", "pay.pay"]);
    assert!(outcome.stdout.contains("cart.total"), "{outcome:?}");
    let outcome = sandbox.run(["code", "search", "nothing_like_it"]);
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("", "nothing found; `rootset code repos` lists what is indexed\n")
    );
}

#[test]
fn nonsense_is_refused_with_a_hint() {
    let sandbox = with_project();
    sandbox.write("empty/.keep", "");
    std::fs::remove_file(sandbox.work().join("empty/.keep")).expect("the file");
    for (arguments, expected) in [
        (["index", "nowhere", "--quiet"], "nothing was changed"),
        (["index", "empty", "--quiet"], "is empty"),
        (["index", "shop/cart.py", "--quiet"], "not a folder"),
        (["index", "shop", "--language=pyton"], "did you mean `python`?"),
        (["index", "shop", "--repo=a/b"], "letters, digits"),
        (["index", "shop", "--max-file-size=0"], "at least 1"),
        (["index", "shop", "--rebind"], "--repo"),
        (["code", "callers", "--repo=nothing"], "<NAME>"),
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.status, Some(1), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn name_stands_for_one_folder_until_it_is_rebound() {
    let sandbox = with_project();
    sandbox.write("other/shop/new.py", "def other():\n    pass\n");
    sandbox.run(["index", "shop"]);
    assert_eq!(sandbox.run(["--json", "index", "other/shop"]).json()["repo"], "other-shop");
    let refused = sandbox.run(["--json", "index", "other/shop", "--repo", "shop"]);
    assert_eq!(refused.error_code(), "conflict", "{refused:?}");
    let rebound = sandbox.run(["--json", "index", "other/shop", "--repo", "shop", "--rebind"]).json();
    assert_eq!(rebound["files_indexed"], 1, "{rebound}");
    assert_eq!(rebound["stale_memories"], 0, "more than half is missing: {rebound}");
}

/// A `rootset watch` and the lines it prints.
struct Watching {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootset"));
        command.env_clear().envs(sandbox.variables()).current_dir(sandbox.work());
        let mut child = command.args(["watch", "shop"]).stdout(Stdio::piped()).spawn().expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().expect("another line").expect("UTF-8")
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watching_indexes_what_changes_and_ends_well_on_a_signal() {
    let sandbox = with_project();
    let mut watching = Watching::start(&sandbox);
    assert_eq!(watching.next(), "shop: 2 files indexed, 0 gone");
    // In one step: a file that is seen before it has its text is indexed twice.
    sandbox.write("new.py", "def brand_new():\n    pass\n");
    std::fs::rename(sandbox.work().join("new.py"), sandbox.work().join("shop/new.py")).expect("the file");
    assert_eq!(watching.next(), "shop: 1 file indexed, 0 gone");
    assert_eq!(sandbox.call("get_symbol", r#"{"qualified_name": "brand_new"}"#)["results"][0]["file_path"], "new.py");
    std::fs::remove_file(sandbox.work().join("shop/new.py")).expect("the file");
    assert_eq!(watching.next(), "shop: 0 files indexed, 1 gone");
    let id = watching.child.id().to_string();
    Command::new("kill").args(["-INT", &id]).status().expect("a signal");
    assert_eq!(watching.child.wait().expect("it ends").code(), Some(0));
}

/// The signal comes as soon as there is a database, which is after the program began to listen for it.
#[test]
fn interrupted_index_says_what_was_kept_and_goes_on_from_there() {
    const FILES: usize = 400;
    let sandbox = Sandbox::without_server();
    for number in 0..FILES {
        let functions: String = (0..40).map(|it| format!("def f{number}_{it}(x):\n    return x + {it}\n\n")).collect();
        sandbox.write(format!("large/part{number}.py"), functions);
    }
    let process = Command::new(env!("CARGO_BIN_EXE_rootset"))
        .env_clear()
        .envs(sandbox.variables())
        .current_dir(sandbox.work())
        .args(["index", "large"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while !sandbox.has_database() {
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &process.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = process.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("stopped") && said.contains("continue with `rootset index large`"), "{said}");
    let again = sandbox.run(["index", "large"]);
    assert_eq!(again.status, Some(0), "{again:?}");
    assert_eq!(sandbox.run(["code", "repos", "--json"]).json()["repos"][0]["files"], FILES, "{again:?}");
}
