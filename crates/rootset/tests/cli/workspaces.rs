//! Which workspace a person works in, what they are told of it, and the commands that change it.

use serde_json::json;

use crate::sandbox::Sandbox;

/// Two projects, of which the first has a memory, and one memory outside of both.
fn two_projects() -> Sandbox {
    let sandbox = Sandbox::new();
    for project in ["falcon", "eagle"] {
        sandbox.write(format!("{project}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    for (folder, text) in [("falcon", "Falcon deploys on Fridays."), ("", "Tea at four.")] {
        assert_eq!(sandbox.run_in(folder, ["add", text]).status, Some(0));
    }
    sandbox
}

#[test]
fn a_command_works_in_the_project_around_its_folder_and_outside_of_one_in_home() {
    let sandbox = two_projects();
    let in_falcon = sandbox.run_in("falcon", ["list", "--json"]).json();
    assert_eq!(in_falcon["total"], 1, "{in_falcon}");
    assert_eq!(sandbox.call("get_stats", "{}")["workspace_id"], "home");
    let named = sandbox.run_in("falcon", ["list", "--json", "--workspace", "default"]).json();
    assert!(named["memories"][0].to_string().contains("ea"), "the old name means the same: {named}");
    assert_eq!(sandbox.run_in("falcon", ["list", "--json", "--workspace", "auto"]).json()["total"], 1);
}

#[test]
fn a_new_workspace_is_said_and_an_empty_one_says_where_memories_are() {
    let sandbox = two_projects();
    let empty = sandbox.run_in("eagle", ["list"]);
    assert!(empty.stderr.contains("0 memories in eagle; 1 in falcon, 1 in home"), "{empty:?}");
    assert!(empty.stderr.contains("new workspace eagle (git)"), "{empty:?}");
    let again = sandbox.run_in("eagle", ["search", "fridays"]);
    assert!(again.stderr.contains("nothing found") && again.stderr.contains("--all"), "{again:?}");
    assert!(!again.stderr.contains("new workspace"), "{again:?}");
    let quiet = sandbox.run_in("eagle", ["list", "--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn a_search_of_everything_names_the_workspace_of_each_result() {
    let sandbox = two_projects();
    let found = sandbox.run_in("eagle", ["search", "--all", "fridays"]);
    assert!(found.stdout.contains("workspace falcon") && found.stdout.contains("Fridays"), "{found:?}");
    let answer = sandbox.run_in("eagle", ["search", "--all", "fridays", "--json"]).json();
    assert_eq!(answer["workspaces"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(answer["workspaces"][0]["workspace_id"], "falcon");
    let nothing = sandbox.run(["search", "--all", "zyxwaardvark"]);
    assert!(nothing.stderr.contains("nothing found in any workspace"), "{nothing:?}");
}

#[test]
fn what_needs_no_workspace_makes_none() {
    let sandbox = two_projects();
    for command in [["workspace", "list"], ["config", "show"], ["token", "list"], ["backup", "list"]] {
        assert_eq!(sandbox.run_in("eagle", command).status, Some(0), "{command:?}");
    }
    let ids = sandbox.run(["workspace", "list"]).stdout;
    assert!(ids.contains("falcon") && !ids.contains("eagle"), "{ids}");
}

#[test]
fn a_person_sees_why_links_and_dismisses() {
    let sandbox = two_projects();
    let which = sandbox.run_in("falcon", ["workspace", "which"]);
    assert!(which.stdout.starts_with("falcon (git)\n") && which.stdout.contains("falcon"), "{which:?}");
    let which = sandbox.run_in("eagle", ["workspace", "which", "--workspace", "home", "--json"]).json();
    assert_eq!((&which["workspace_id"], &which["why"]), (&json!("home"), &json!("named")));
    let linked = sandbox.run_in("eagle", ["workspace", "link", "falcon", "--json"]).json();
    assert_eq!(linked["workspace_id"], "falcon");
    assert_eq!(sandbox.run_in("eagle", ["list", "--json"]).json()["total"], 1);
    let which = sandbox.run_in("eagle", ["workspace", "which"]);
    assert!(which.stdout.starts_with("falcon (linked)\n"), "{which:?}");
    let nothing = sandbox.run_in("eagle", ["workspace", "dismiss"]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (Some(0), "there is nothing to dismiss\n"));
    let outside = sandbox.run(["workspace", "link", "falcon"]);
    assert!(outside.status == Some(1) && outside.stderr.contains("no project around"), "{outside:?}");
    let missing = sandbox.run_in("eagle", ["workspace", "link", "flcon"]);
    assert!(missing.status != Some(0) && missing.stderr.contains("did you mean `falcon`"), "{missing:?}");
}

#[test]
fn a_name_in_a_checked_in_file_is_said_and_then_trusted() {
    let sandbox = two_projects();
    sandbox.write("eagle/rootset.toml", "workspace = \"falcon\"\n");
    let asked = sandbox.run_in("eagle", ["list"]);
    assert!(asked.stderr.contains("rootset workspace trust"), "{asked:?}");
    assert!(asked.stderr.contains("0 memories in eagle"), "{asked:?}");
    assert_eq!(sandbox.run_in("eagle", ["workspace", "trust"]).status, Some(0));
    let trusted = sandbox.run_in("eagle", ["list"]);
    assert!(trusted.stderr.contains("1 memory") && !trusted.stderr.contains("trust"), "{trusted:?}");
    let nothing = sandbox.run_in("falcon", ["workspace", "trust"]);
    assert!(nothing.status == Some(1) && nothing.stderr.contains("names no workspace"), "{nothing:?}");
}

#[test]
fn the_persons_own_configuration_comes_before_the_folder_for_them_and_for_their_agents() {
    let sandbox = two_projects();
    sandbox.write(sandbox.own_configuration(), "workspace = \"home\"\n");
    for arguments in [["list", "--json"].as_slice(), &["list", "--json", "--workspace", "auto"]] {
        let mut command = sandbox.command();
        let output = command.current_dir(sandbox.work().join("falcon")).args(arguments).output().expect("it runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(answer["memories"][0].to_string().contains("ea"), "{answer}");
    }
}

/// A database of an earlier version: its workspaces were made by the names of folders and belong to nobody.
#[test]
fn workspaces_of_an_earlier_sqlite_file_are_not_lost_and_nobody_elses() {
    let sandbox = Sandbox::without_server();
    let old = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../rootset-store/tests/fixtures/schema-0014.db");
    std::fs::create_dir_all(sandbox.sqlite_file().parent().expect("a folder")).expect("the data folder");
    std::fs::copy(old, sandbox.sqlite_file()).expect("a copy");
    assert_eq!(sandbox.run(["add", "--workspace", "other", "Falcon deploys on Fridays."]).status, Some(0));
    sandbox.write("src/other/.git/HEAD", "ref: refs/heads/main\n");
    for _ in 0..2 {
        let told = sandbox.run_in("src/other", ["list"]);
        assert!(told.stderr.contains("1 memory in other from before"), "{told:?}");
        assert!(told.stderr.contains("0 memories in other-2"), "{told:?}");
    }
    let dismissed = sandbox.run_in("src/other", ["workspace", "dismiss"]);
    assert_eq!(dismissed.status, Some(0), "{dismissed:?}");
    let told = sandbox.run_in("src/other", ["list"]);
    assert!(!told.stderr.contains("from before") && told.stderr.contains("0 memories in other-2"), "{told:?}");
    assert_eq!(sandbox.run(["list", "--workspace", "other", "--json"]).json()["total"], 1, "it stays as it was");

    // What was in `default` is where people work outside of projects, under the old name too.
    let old = sandbox.run(["list", "--json"]).json();
    assert_eq!(old["total"], 3, "{old}");
    assert_eq!(sandbox.run(["list", "--workspace", "default", "--json"]).json(), old);
    assert!(sandbox.run(["search", "falcon"]).stdout.contains("falcon-deploy"));
    // No project sees it, not even one in a folder of that name.
    sandbox.write("src/default/.git/HEAD", "ref: refs/heads/main\n");
    for (project, name) in [("src/other", "other-2"), ("src/default", "default-2")] {
        let told = sandbox.run_in(project, ["search", "falcon"]);
        assert!(told.stdout.is_empty() && told.stderr.contains(&format!("0 memories in {name};")), "{told:?}");
        assert!(told.stderr.contains("--all"), "{told:?}");
    }
}
