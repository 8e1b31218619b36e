//! Whole commands, as a person sees them in a pipe.

use insta::assert_snapshot;
use rootset_store::driver::SearchIndex;

use crate::sandbox::Sandbox;

#[test]
fn what_nobody_answers_for_is_marked_until_a_person_approves_it() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "The wiki says staging moved", "--name", "wiki", "--untrusted"]);
    assert_snapshot!(sandbox.transcript(["search", "staging"]), @r#"
    status 0
    -- stdout
    wiki  now, user  untrusted
      The wiki says staging moved
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["list", "--trust", "untrusted"]), @"
    status 0
    -- stdout
    NAME  UPDATED               SOURCE  NOTE       TOPIC
    wiki  [time] UTC  user    untrusted  The wiki says staging moved
    -- stderr
    1 memory
    ");
    assert_snapshot!(sandbox.transcript(["trust", "wiki"]), @r#"
    status 0
    -- stdout
    wiki is now `person` (it was `untrusted`)
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["trust", "wiki", "--as", "agent"]), @r#"
    status 0
    -- stdout
    wiki is now `agent` (it was `person`)
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["untrust", "wiki"]), @r#"
    status 0
    -- stdout
    wiki is now `untrusted` (it was `agent`)
    -- stderr
    "#);
    let shown = sandbox.run(["show", "wiki"]).stdout;
    assert!(shown.contains("untrusted, came by cli: never shown unasked; `rootset trust` approves it"), "{shown}");
}

#[test]
fn memory_is_added_found_and_listed() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.transcript(["add", "Deploy", "happens on Friday with Ansible", "--tag", "ops"]), @r#"
    status 0
    -- stdout
    added deploy-happens-on-friday-with-ansible [id]
    -- stderr
    new database: [database] (see it at work: rootset tour; connect an agent: rootset install)
    "#);
    assert_snapshot!(sandbox.transcript(["add", "Deploy happens on Monday with Ansible", "--pin=the rule"]), @r#"
    status 0
    -- stdout
    added deploy-happens-on-monday-with-ansible [id]
    -- stderr
    deploy-happens-on-friday-with-ansible says something else: Deploy happens on Friday with Ansible
      `rootset supersede deploy-happens-on-friday-with-ansible deploy-happens-on-monday-with-ansible` replaces it
      `rootset edit deploy-happens-on-monday-with-ansible --both-hold deploy-happens-on-friday-with-ansible` if both are right
    "#);
    assert_snapshot!(sandbox.transcript(["list"]), @"
    status 0
    -- stdout
    NAME                                   UPDATED               SOURCE  NOTE    TOPIC
    deploy-happens-on-monday-with-ansible  [time] UTC  user    pinned  Deploy happens on Monday with Ansible
    deploy-happens-on-friday-with-ansible  [time] UTC  user            Deploy happens on Friday with Ansible
    -- stderr
    2 memories
    ");
    assert_snapshot!(sandbox.transcript(["search", "friday", "-n", "1"]), @r#"
    status 0
    -- stdout
    deploy-happens-on-friday-with-ansible  now, user
      Deploy happens on Friday with Ansible
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["show", "deploy-happens-on-monday-with-ansible"]), @"
    status 0
    -- stdout
    Deploy happens on Monday with Ansible
    name        deploy-happens-on-monday-with-ansible
    id          [id]
    source      user, written by cli
    trust       person, came by cli
    created     [time] UTC (now)
    updated     [time] UTC (now)
    pinned      by you: the rule
    version     1, revision 1
    graph       1 chunk, 1 entity, 0 relations

    Deploy happens on Monday with Ansible
    -- stderr
    ");
}

#[test]
fn removed_memory_is_in_the_trash_and_comes_back() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Falcon uses Postgres", "--name", "falcon"]);
    assert_snapshot!(sandbox.transcript(["rm", "falcon", "--yes"]), @"
    status 0
    -- stdout
    moved to the trash: 1 memory, 2 entities, 1 relation
    undo until [time] UTC (in 7d): rootset undo [id]
    -- stderr
    ");
    assert_snapshot!(sandbox.transcript(["trash"]), @"
    status 0
    -- stdout
    WHAT    NAME    RUN                                   TRASHED               UNDO UNTIL                    TOPIC
    memory  falcon  [id]  [time] UTC  [time] UTC (in 7d)  Falcon uses Postgres
    -- stderr
    1 item in the trash
    ");
    assert_snapshot!(sandbox.transcript(["undo"]), @"
    status 0
    -- stdout
    RUN                                   OPERATION      BY   AT                    MEMORIES  NAMES   UNDO UNTIL
    [id]  delete_memory  cli  [time] UTC  1         falcon  [time] UTC (in 7d)
    -- stderr
    ");
    assert_snapshot!(sandbox.transcript(["show", "falcon"]), @r#"
    status 1
    -- stdout
    -- stderr
    error: no memory `falcon`
    hint: it has been in the trash since [time]; `rootset undo` restores it
    "#);
    assert_snapshot!(sandbox.transcript(["undo", "falcon"]), @r#"
    status 0
    -- stdout
    restored 1 memory
    -- stderr
    "#);
    assert_eq!(sandbox.run(["show", "falcon"]).status, Some(0));
}

#[test]
fn forgetting_shows_its_plan_before_it_acts() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Falcon belongs to alice@acme.io", "--name", "falcon"]);
    sandbox.run(["add", "Eagle belongs to bob@acme.io", "--name", "eagle"]);
    assert_snapshot!(sandbox.transcript(["forget", "alice@acme.io", "--dry-run"]), @"
    status 0
    -- stdout
    WHAT    NAME    AGE  WHY                                                     TOPIC
    memory  falcon  now  matches what was asked to be forgotten (alice@acme.io)  Falcon belongs to alice@acme.io

    in total 1 memory, 2 entities, 1 relation (62 B of text), 50 % of the workspace's memories
    plan [id], can be applied until [time] UTC
    -- stderr
    nothing was changed; `rootset gc apply [id]` applies it
    ");
    assert_snapshot!(sandbox.transcript(["forget", "alice@acme.io", "--yes"]), @"
    status 0
    -- stdout
    WHAT    NAME    AGE  WHY                                                     TOPIC
    memory  falcon  now  matches what was asked to be forgotten (alice@acme.io)  Falcon belongs to alice@acme.io

    in total 1 memory, 2 entities, 1 relation (62 B of text), 50 % of the workspace's memories
    plan [id], can be applied until [time] UTC

    moved to the trash: 1 memory, 2 entities, 1 relation
    undo until [time] UTC (in 7d): rootset undo [id]
    -- stderr
    ");
    assert_snapshot!(sandbox.transcript(["forget", "alice@acme.io", "--yes"]), @r#"
    status 0
    -- stdout
    nothing matches
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["forget", "--source", "user", "--yes"]), @"
    status 1
    -- stdout
    WHAT    NAME   AGE  WHY                                     TOPIC
    memory  eagle  now  matches what was asked to be forgotten  Eagle belongs to bob@acme.io

    in total 1 memory, 2 entities, 1 relation (56 B of text), 100 % of the workspace's memories
    exceeds a limit: nothing of source `user` would be left (1 memory)
    plan [id], can be applied until [time] UTC

    -- stderr
    error: the plan exceeds a limit; nothing was changed
    hint: to apply it anyway: rootset gc apply [id] --allow-large
    ");
    let erase = ["forget", "bob@acme.io", "--yes", "--purge", "--allow-large", "--receipt", "gone.json"];
    assert_snapshot!(sandbox.transcript(erase), @"
    status 0
    -- stdout
    WHAT    NAME   AGE  WHY                                                   TOPIC
    memory  eagle  now  matches what was asked to be forgotten (bob@acme.io)  Eagle belongs to bob@acme.io

    in total 1 memory, 2 entities, 1 relation (56 B of text), 100 % of the workspace's memories
    applying it erases for good and cannot be undone
    exceeds a limit: nothing of source `user` would be left (1 memory)
    plan [id], can be applied until [time] UTC

    erased for good: 1 memory, 2 entities, 1 relation
    -- stderr
    receipt: gone.json (check it with `rootset receipt verify`)
    ");
}

#[test]
fn memory_is_edited_and_superseded() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Deploys happen on Friday", "--name", "old"]);
    sandbox.run(["add", "Deploys happen on Monday", "--name", "new"]);
    assert_snapshot!(sandbox.transcript(["edit", "old", "--text", "Deploys happened on Friday", "--tag", "ops"]), @r#"
    status 0
    -- stdout
    changed old [id], now version 2, entities and relations updated
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["supersede", "old", "new", "--reason", "moved"]), @r#"
    status 0
    -- stdout
    superseded: old → new
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["show", "old", "--revision", "1"]), @"
    status 0
    -- stdout
    Deploys happen on Friday
    name        old
    id          [id]
    source      user, written by cli
    trust       person, came by cli
    tags        ops
    created     [time] UTC (now)
    updated     [time] UTC (now)
    replaced by new
    because     moved
    version     3, revision 1
    graph       1 chunk, 0 entities, 0 relations

    Deploys happen on Friday
    -- stderr
    ");
    sandbox.run(["edit", "old", "--clear", "tags"]);
    assert_eq!(sandbox.call("get_memory", r#"{"memory_id":"old"}"#)["tags"], serde_json::json!([]));
}

#[test]
fn graph_goes_out_and_comes_in_and_can_be_undone() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "graph.json",
        r#"{"entities": [{"name": "Falcon", "type": "project"}],
            "relations": [{"source": "Falcon", "relation": "uses", "target": "Postgres"}]}"#,
    );
    assert_snapshot!(sandbox.transcript(["graph", "import", "graph.json"]), @r#"
    status 0
    -- stdout
    imported 2 entities, 1 relation
    undo: rootset undo [id]
    -- stderr
    new database: [database] (see it at work: rootset tour; connect an agent: rootset install)
    "#);
    assert_snapshot!(sandbox.transcript(["entity", "show", "falcon"]), @r#"
    status 0
    -- stdout
    Falcon  project, untracked, 0 memories
    [id]

    Falcon —uses→ Postgres
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["entity", "related", "falcon"]), @r#"
    status 0
    -- stdout
    NAME      TYPE  MEMORIES  DESCRIPTION
    Postgres  term  0

    Falcon —uses→ Postgres
    -- stderr
    "#);
    assert!(sandbox.run(["graph", "export", "--format", "graphml"]).stdout.starts_with("<?xml"));
    let exported = sandbox.run(["graph", "export"]).stdout;
    sandbox.write("exported.json", &exported);
    sandbox.run(["workspace", "create", "other"]);
    let imported = sandbox.run(["-w", "other", "graph", "import", "exported.json"]).stdout;
    assert!(imported.starts_with("imported 2 entities, 1 relation"), "{imported}");
    assert_eq!(sandbox.run(["-w", "other", "graph", "export"]).stdout, exported);
    let runs = sandbox.call("gc_undo", "{}");
    let run = runs["runs"][0]["run_id"].as_str().expect("the import can be undone");
    assert_snapshot!(sandbox.transcript(["undo", run]), @r#"
    status 0
    -- stdout
    removed 3 imported rows
    -- stderr
    "#);
}

#[test]
fn workspace_is_made_deleted_and_brought_back() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.transcript(["workspace", "create", "team", "--name", "Team X"]), @r#"
    status 0
    -- stdout
    created team
    -- stderr
    new database: [database] (see it at work: rootset tour; connect an agent: rootset install)
    "#);
    sandbox.run(["add", "only here", "--workspace", "team"]);
    assert_snapshot!(sandbox.transcript(["workspace", "list"]), @"
    status 0
    -- stdout
    ID    CLASS     MEMORIES  TRASH  TEXT  LAST WRITE            NAME
    home  standard  0         0      0 B   [time] UTC
    team  standard  1         0      18 B  [time] UTC  Team X
    -- stderr
    ");
    assert_snapshot!(sandbox.transcript(["workspace", "set", "team", "--class", "pro", "--max-memories", "500"]), @r#"
    status 0
    -- stdout
    team: class pro, at most 500 memories
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["workspace", "set", "team", "--no-quota"]), @r#"
    status 0
    -- stdout
    team: class pro, no quota
    -- stderr
    "#);
    assert_eq!(sandbox.run(["workspace", "set", "team"]).status, Some(1), "nothing to set");
    assert_snapshot!(sandbox.transcript(["workspace", "delete", "team", "--yes"]), @"
    status 0
    -- stdout
    moved to the trash: workspace team
    undo until [time] UTC (in 7d): rootset undo --workspace team
    -- stderr
    ");
    assert_snapshot!(sandbox.transcript(["undo", "-w", "team"]), @r#"
    status 0
    -- stdout
    restored 1 workspace
    -- stderr
    "#);
    assert_eq!(sandbox.run(["show", "only-here", "-w", "team"]).status, Some(0));
}

#[test]
fn doctor_is_content_and_says_so() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["doctor"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("checks passed"), "{outcome:?}");
}

#[test]
fn doctor_ends_with_one_when_an_index_row_is_missing_and_repairs_it() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Falcon uses Postgres"]);
    sandbox.sql().delete_search_rows(1, SearchIndex::Memories, |_| true).unwrap();
    let outcome = sandbox.run(["doctor"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("I8.search_missing"), "{outcome:?}");
    assert_eq!(sandbox.run(["doctor", "--json"]).json()["ok"], false);
    assert_eq!(sandbox.run(["doctor", "--repair"]).status, Some(0));
}

#[test]
fn every_shell_has_completions() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let outcome = sandbox.run(["completions", shell]);
        assert_eq!(outcome.status, Some(0), "{shell}");
        assert!(outcome.stdout.contains("forget"), "{shell}");
    }
}

#[test]
fn help_and_version_need_no_database() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(["--help"]).status, Some(0));
    assert!(sandbox.run(["--version"]).stdout.starts_with("rootset "));
    assert!(!sandbox.has_database());
}
