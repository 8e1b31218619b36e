//! `rootset install`: the files of other programs, changed by one entry and not by one byte more.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{Outcome, Sandbox};

/// Every client with its file, the key of its servers, and a file that somebody else has filled.
const CLIENTS: [(&str, &str, &str, &str); 4] = [
    (
        "claude-code",
        ".claude.json",
        "mcpServers",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"npx\"\n    }\n  }\n}\n",
    ),
    ("cursor", ".cursor/mcp.json", "mcpServers", "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": {}\n\t}\n}\n"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "servers",
        "{\n    \"inputs\":[],\n    \"servers\": {\n        \"other\": {\"url\": \"http://x\"},\n    },\n}",
    ),
    (
        "codex",
        ".codex/config.toml",
        "mcp_servers",
        "model = \"o3\" # mine\n\n[mcp_servers.other]\nurl = \"http://x\"\n",
    ),
];

/// What an agent gets unless somebody asks for more: its project, and nothing that undo cannot reverse.
const LEAST: [&str; 9] = [
    "mcp",
    "--workspace",
    "auto",
    "--only-workspace",
    "auto",
    "--only-workspace",
    "personal",
    "--scopes",
    "read,write,destroy",
];

fn in_home(sandbox: &Sandbox, path: &str) -> PathBuf {
    sandbox.work().with_file_name("home").join(path)
}

fn written(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(in_home(sandbox, path)).expect("the file of the client")
}

fn prepare(sandbox: &Sandbox, path: &str, text: &str) {
    let path = in_home(sandbox, path);
    fs::create_dir_all(path.parent().expect("a folder above")).expect("the folder of the client");
    fs::write(path, text).expect("the file of the client");
}

#[track_caller]
fn succeeded(outcome: &Outcome, says: &str) {
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains(says), "`{says}` is not in {outcome:?}");
}

#[test]
fn fresh_file_gets_the_entry_and_twice_is_once() {
    for (client, path, servers, _) in CLIENTS {
        let sandbox = Sandbox::new();
        let outcome = sandbox.run(["install", client, "--yes"]);
        succeeded(&outcome, "installed for ");
        assert!(outcome.stderr.contains("+") && outcome.stderr.contains("--workspace"), "no diff in {outcome:?}");
        let says = "the agent sees only the workspace of the project it works in and your personal memory, with the scopes read, \
                    write, destroy";
        assert!(outcome.stderr.contains(says) && outcome.stderr.contains("to widen that"), "{outcome:?}");
        let text = written(&sandbox, path);
        let program = env!("CARGO_BIN_EXE_rootset");
        if path.ends_with(".json") {
            let entry = &serde_json::from_str::<Value>(&text).expect("JSON")[servers]["rootset"];
            assert_eq!(entry["command"], program);
            assert_eq!(entry["args"], json!(LEAST));
        } else {
            let least = LEAST.map(|argument| format!("\"{argument}\"")).join(", ");
            assert_eq!(text, format!("[mcp_servers.rootset]\ncommand = \"{program}\"\nargs = [{least}]\n"));
        }
        succeeded(&sandbox.run(["install", client]), "already installed");
        assert_eq!(written(&sandbox, path), text);
    }
}

#[test]
fn everything_else_in_the_file_stays_and_undo_takes_out_exactly_the_entry() {
    for (client, path, _, before) in CLIENTS {
        let sandbox = Sandbox::new();
        prepare(&sandbox, path, before);
        let mode = fs::Permissions::from_mode(0o640);
        fs::set_permissions(in_home(&sandbox, path), mode.clone()).unwrap();
        succeeded(&sandbox.run(["install", client, "--yes"]), "installed for ");
        let with = written(&sandbox, path);
        assert!(with.contains("rootset") && with.contains("other"), "{with}");
        succeeded(&sandbox.run(["install", client, "--undo", "--yes"]), "removed from ");
        assert_eq!(written(&sandbox, path), before, "{client}");
        assert_eq!(fs::metadata(in_home(&sandbox, path)).unwrap().permissions().mode() & 0o777, mode.mode());
        succeeded(&sandbox.run(["install", client, "--undo"]), "not installed for ");
    }
}

#[test]
fn broken_file_is_left_alone_and_the_snippet_is_printed() {
    for (client, path, servers, _) in CLIENTS {
        let sandbox = Sandbox::new();
        let broken = "{ \"mcpServers\": { <<<<<<< HEAD\n";
        prepare(&sandbox, path, broken);
        let outcome = sandbox.run(["install", client, "--yes"]);
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.stdout.contains(servers) && outcome.stdout.contains("--workspace"), "{outcome:?}");
        assert!(outcome.stderr.contains("cannot be changed"), "{outcome:?}");
        assert!(outcome.stderr.contains("hint: nothing was changed"), "{outcome:?}");
        let outcome = sandbox.run(["install", client, "--yes", "--json"]);
        assert_eq!(outcome.error_code(), "invalid_argument");
        assert!(outcome.json()["error"]["details"]["snippet"].is_string());
        assert_eq!(sandbox.run(["install", client, "--undo", "--yes"]).status, Some(1));
        assert_eq!(written(&sandbox, path), broken);
    }
}

#[test]
fn nothing_is_written_without_an_answer() {
    for (client, path, _, before) in CLIENTS {
        let sandbox = Sandbox::new();
        prepare(&sandbox, path, before);
        let outcome = sandbox.run_with_input(["install", client], "y\n");
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains("a confirmation is needed to change"), "{outcome:?}");
        assert_eq!(written(&sandbox, path), before);
        let printed = sandbox.run(["install", client, "--print"]);
        assert!(printed.stdout.contains("--workspace"), "{printed:?}");
        assert_eq!(written(&sandbox, path), before);
    }
}

#[test]
fn project_file_is_at_the_root_of_the_repository() {
    let files = [
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
    ];
    for (client, path) in files {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.work().join(".git")).unwrap();
        fs::create_dir_all(sandbox.work().join("src/deep")).unwrap();
        let mut command = sandbox.command();
        command.current_dir(sandbox.work().join("src/deep"));
        let outcome = crate::sandbox::outcome(command.args(["install", client, "--project", "--yes"]));
        succeeded(&outcome, path);
        let text = fs::read_to_string(sandbox.work().join(path)).expect("the file of the project");
        let folder = sandbox.work();
        let folder = folder.parent().and_then(Path::to_str).expect("a path in UTF-8");
        let program =
            Path::new(env!("CARGO_BIN_EXE_rootset")).parent().and_then(Path::to_str).expect("a path in UTF-8");
        assert!(text.contains("\"rootset\"") && !text.contains(folder) && !text.contains(program), "{text}");
        assert!(outcome.stderr.contains(&format!("rootset install {client} --project --undo")), "{outcome:?}");
        for option in ["--db", "--config"] {
            sandbox.write("elsewhere.toml", "");
            let file = sandbox.work().join("elsewhere.toml");
            let file = file.to_str().expect("a path in UTF-8");
            let outcome = sandbox.run(["install", client, "--project", "--yes", option, file]);
            assert_eq!(outcome.status, Some(1), "{outcome:?}");
            assert!(outcome.stderr.contains(&format!("drop `{option}`")), "{outcome:?}");
        }
    }
}

#[test]
fn profiles_database_and_workspace_reach_the_entry() {
    let sandbox = Sandbox::new();
    let outcome =
        sandbox.run(["install", "cursor", "--print", "--profile", "core,context", "--db", "team.db", "-w", "team"]);
    let entry = &outcome.json()["mcpServers"]["rootset"];
    let database = sandbox.work().canonicalize().unwrap().join("team.db");
    let scopes = "read,write,destroy";
    let expected = json!([
        "mcp",
        "--workspace",
        "team",
        "--only-workspace",
        "team",
        "--only-workspace",
        "personal",
        "--scopes",
        scopes,
        "--profile",
        "core,context",
        "--db",
        database
    ]);
    assert_eq!(entry["args"], expected);
    let outcome = sandbox.run(["install", "cursor", "--profile", "everything"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("core, context, code, admin, full"), "{outcome:?}");
    assert_eq!(sandbox.run(["install", "emacs"]).status, Some(1));
}

#[test]
fn folders_that_variables_name_are_used() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("elsewhere");
    let named = folder.to_str().expect("a path in UTF-8");
    sandbox.run_with_variables(&[("CODEX_HOME", named)], ["install", "codex", "--yes"]);
    sandbox.run_with_variables(&[("CLAUDE_CONFIG_DIR", named)], ["install", "claude-code", "--yes"]);
    sandbox.run_with_variables(&[("XDG_CONFIG_HOME", named)], ["install", "vscode", "--yes"]);
    for path in ["config.toml", ".claude.json", "Code/User/mcp.json"] {
        assert!(folder.join(path).is_file(), "{path}");
    }
}

#[test]
fn linked_file_stays_a_link() {
    let sandbox = Sandbox::new();
    sandbox.write("dotfiles/claude.json", "{}\n");
    let link = in_home(&sandbox, ".claude.json");
    std::os::unix::fs::symlink(sandbox.work().join("dotfiles/claude.json"), &link).unwrap();
    succeeded(&sandbox.run(["install", "claude-code", "--yes"]), "installed for ");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(sandbox.work().join("dotfiles/claude.json")).unwrap().contains("rootset"));
}

#[test]
fn answer_in_json_says_where_and_whether() {
    let sandbox = Sandbox::new();
    prepare(&sandbox, ".cursor/mcp.json", "{}");
    let answer = sandbox.run(["install", "cursor", "--yes", "--json"]).json();
    assert_eq!((&answer["changed"], &answer["installed"]), (&json!(true), &json!(true)));
    assert_eq!(answer["entry_only"], false);
    assert_eq!(sandbox.run(["install", "cursor", "--json"]).json()["changed"], false);
}

/// Its tools are about the database as a whole, so they would not work in one workspace or without their scopes.
#[test]
fn a_profile_for_administrators_gets_the_rights_that_its_tools_need() {
    let sandbox = Sandbox::new();
    let printed = sandbox.run(["install", "cursor", "--print", "--json", "--profile", "admin"]);
    let printed: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let scopes = "read,write,destroy,purge,admin";
    let expected = json!(["mcp", "--workspace", "auto", "--scopes", scopes, "--profile", "admin"]);
    assert_eq!(printed["entry"]["args"], expected, "{printed}");
}

type Tree = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

/// Every file and folder below, with its mode.
fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("a file or folder");
            let content = metadata.is_file().then(|| fs::read(&path).expect("a file"));
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (metadata.permissions().mode(), content));
        }
    }
    found
}

/// What a client's file may hold before: nothing, a shell, one line, other keys, other servers, line ends of Windows.
fn texts_before(client: &str, filled: &'static str) -> Vec<Option<&'static str>> {
    let mut texts = vec![None, Some(""), Some(filled)];
    if client == "codex" {
        texts.extend([Some("# mine"), Some("[mcp_servers]\r\n"), Some("mcp_servers = { other = { url = \"x\" } }")]);
    } else {
        texts.extend([Some("{}"), Some("{ \"n\": 1e2 }"), Some("{\"mcpServers\":{},\"servers\":{}}\r\n")]);
    }
    texts
}

#[track_caller]
fn undo_leaves_nothing_behind(number: usize) {
    let (client, path, _, filled) = CLIENTS[number];
    let (second, ..) = CLIENTS[(number + 1) % CLIENTS.len()];
    for before in texts_before(client, filled) {
        let sandbox = Sandbox::without_server();
        if let Some(text) = before {
            prepare(&sandbox, path, text);
        }
        let was = tree(&in_home(&sandbox, ""));
        succeeded(&sandbox.run(["install", client, "--yes"]), "installed for ");
        succeeded(&sandbox.run(["install", second, "--yes"]), "installed for ");
        succeeded(&sandbox.run(["install", client, "--profile", "core,code", "--yes"]), "installed for ");
        assert_ne!(tree(&in_home(&sandbox, "")), was);
        succeeded(&sandbox.run(["install", client, "--undo", "--yes"]), "removed from ");
        assert_eq!(fs::read_to_string(in_home(&sandbox, path)).ok().as_deref(), before, "{client}, {before:?}");
        succeeded(&sandbox.run(["install", second, "--undo", "--yes"]), "removed from ");
        assert_eq!(tree(&in_home(&sandbox, "")), was, "{client}, {before:?}");
    }
}

#[test]
fn undo_leaves_nothing_of_claude_code_behind() {
    undo_leaves_nothing_behind(0);
}

#[test]
fn undo_leaves_nothing_of_cursor_behind() {
    undo_leaves_nothing_behind(1);
}

#[test]
fn undo_leaves_nothing_of_vscode_behind() {
    undo_leaves_nothing_behind(2);
}

#[test]
fn undo_leaves_nothing_of_codex_behind() {
    undo_leaves_nothing_behind(3);
}

#[test]
fn undo_takes_out_only_the_entry_when_somebody_has_written_since_and_says_so() {
    for (client, path, servers, filled) in CLIENTS {
        for before in texts_before(client, filled) {
            let sandbox = Sandbox::without_server();
            if let Some(text) = before {
                prepare(&sandbox, path, text);
            }
            succeeded(&sandbox.run(["install", client, "--yes"]), "installed for ");
            let with = written(&sandbox, path);
            let (text, theirs) = if client == "codex" {
                (format!("{with}\n[theirs]\nkey = 1\n"), "[theirs]")
            } else {
                (with.replacen('{', "{\"theirs\": 1, ", 1), "theirs")
            };
            prepare(&sandbox, path, &text);
            let outcome = sandbox.run(["install", client, "--undo", "--yes"]);
            succeeded(&outcome, "removed from ");
            assert!(outcome.stderr.contains("only our entry was taken out"), "{outcome:?}");
            let left = written(&sandbox, path);
            assert!(left.contains(theirs) && !left.contains("rootset"), "{left}");
            let had_list = before.is_some_and(|text| text.contains(servers));
            assert_eq!(left.contains(servers), had_list, "no shell stays: {left}");
            assert!(!in_home(&sandbox, ".local").exists(), "nor the record");
        }
    }
}

#[test]
fn file_that_install_made_goes_even_if_it_was_written_anew_meanwhile() {
    let sandbox = Sandbox::without_server();
    succeeded(&sandbox.run(["install", "cursor", "--yes"]), "installed for ");
    let compact = written(&sandbox, ".cursor/mcp.json").split_whitespace().collect::<String>();
    prepare(&sandbox, ".cursor/mcp.json", &compact);
    succeeded(&sandbox.run(["install", "cursor", "--undo", "--yes"]), "removed from ");
    assert_eq!(tree(&in_home(&sandbox, "")), Tree::new());
}

#[test]
fn all_agents_that_are_found_are_connected_and_no_others() {
    let sandbox = Sandbox::without_server();
    let none = sandbox.run(["install", "--all", "--yes"]);
    assert_eq!(none.status, Some(1), "{none:?}");
    assert!(none.stderr.contains("no agent was found") && none.stderr.contains("hint: name the agent"), "{none:?}");
    fs::create_dir_all(in_home(&sandbox, ".claude")).unwrap();
    fs::create_dir_all(in_home(&sandbox, ".codex")).unwrap();
    let was = tree(&in_home(&sandbox, ""));
    let outcome = sandbox.run(["install", "--all", "--yes"]);
    succeeded(&outcome, "installed for Claude Code");
    succeeded(&outcome, "installed for Codex");
    assert!(!in_home(&sandbox, ".cursor").exists());
    succeeded(&sandbox.run(["install", "--all", "--undo", "--yes"]), "removed from Codex");
    assert_eq!(tree(&in_home(&sandbox, "")), was);
    assert_eq!(sandbox.run(["install"]).status, Some(1), "neither an agent nor all");
}
