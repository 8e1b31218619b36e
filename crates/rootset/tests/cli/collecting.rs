//! The collector's commands: what they show, what they ask, and what they leave.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Three memories of which a policy keeps two.
fn with_garbage() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in [("falcon", "Falcon flies"), ("heron", "Heron stands"), ("eagle", "Eagle circles")] {
        assert_eq!(sandbox.run(["add", text, "--name", name]).status, Some(0));
    }
    assert_eq!(sandbox.run(["gc", "retention", "set", "--max-count", "2"]).status, Some(0));
    sandbox
}

#[test]
fn prune_shows_asks_and_applies_that_very_plan_also_in_default() {
    let sandbox = with_garbage();
    assert_snapshot!(sandbox.transcript(["prune", "--strategy", "expired", "--dry-run"]), @"
    status 0
    -- stdout
    WHAT    NAME    AGE  WHY                                             TOPIC
    memory  falcon  now  beyond the retention policy's max_count newest  Falcon flies

    in total 1 memory (24 B of text), 33 % of the workspace's memories
    plan [id], can be applied until [time] UTC
    -- stderr
    nothing was changed; `rootset gc apply [id]` applies it
    ");
    assert_snapshot!(sandbox.transcript(["prune", "--strategy", "expired"]), @"
    status 1
    -- stdout
    WHAT    NAME    AGE  WHY                                             TOPIC
    memory  falcon  now  beyond the retention policy's max_count newest  Falcon flies

    in total 1 memory (24 B of text), 33 % of the workspace's memories
    plan [id], can be applied until [time] UTC

    -- stderr
    error: a confirmation is needed to move 1 item to the trash, and stdin is not a terminal
    hint: confirm with `--yes`, or run `rootset gc apply [id]` in a terminal
    ");
    assert_snapshot!(sandbox.transcript(["prune", "--strategy", "expired", "--yes"]), @"
    status 0
    -- stdout
    WHAT    NAME    AGE  WHY                                             TOPIC
    memory  falcon  now  beyond the retention policy's max_count newest  Falcon flies

    in total 1 memory (24 B of text), 33 % of the workspace's memories
    plan [id], can be applied until [time] UTC

    moved to the trash: 1 memory
    undo until [time] UTC (in 7d): rootset undo [id]
    -- stderr
    ");
    assert_snapshot!(sandbox.transcript(["prune", "--strategy", "expired", "--yes"]), @r#"
    status 0
    -- stdout
    no garbage
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["prune", "--strategy", "stale"]), @r#"
    status 1
    -- stdout
    -- stderr
    error: `--strategy` must be one of `all`, `stale_code`, `expired`, `superseded`, `orphaned_chunks`, `orphaned_entities`, not `stale`
    "#);
}

#[test]
fn prune_keeps_what_is_excluded_and_applies_an_earlier_plan() {
    let sandbox = with_garbage();
    let plan = sandbox.run(["prune", "--strategy", "expired", "--dry-run", "--json"]).json();
    let plan = plan["plan_id"].as_str().expect("a plan");
    let outcome = sandbox.run(["prune", "--plan", plan, "--exclude", "falcon", "--yes", "--json"]);
    assert_eq!(outcome.json()["skipped"]["first"][0]["reason"], "excluded", "{outcome:?}");
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 3);
    let outcome = sandbox.run(["prune", "--plan", plan, "--strategy", "expired"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
}

#[test]
fn prune_over_a_limit_needs_to_be_allowed() {
    let sandbox = with_garbage();
    sandbox.run(["gc", "retention", "set", "--max-count", "0"]);
    assert_snapshot!(sandbox.transcript(["prune", "--strategy", "expired", "--yes"]), @"
    status 1
    -- stdout
    WHAT    NAME    AGE  WHY                                             TOPIC
    memory  eagle   now  beyond the retention policy's max_count newest  Eagle circles
    memory  heron   now  beyond the retention policy's max_count newest  Heron stands
    memory  falcon  now  beyond the retention policy's max_count newest  Falcon flies

    in total 3 memories (74 B of text), 100 % of the workspace's memories
    exceeds a limit: nothing of source `user` would be left (3 memories)
    plan [id], can be applied until [time] UTC

    -- stderr
    error: the plan exceeds a limit; nothing was changed
    hint: to apply it anyway: rootset gc apply [id] --allow-large
    ");
    let outcome = sandbox.run(["prune", "--strategy", "expired", "--yes", "--allow-large"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 0);
}

#[test]
fn plan_is_made_by_strategies_and_shown_again_by_its_id() {
    let sandbox = with_garbage();
    let plan = sandbox.run(["gc", "plan", "expired", "superseded", "--json"]).json();
    let id = plan["plan_id"].as_str().expect("a plan");
    let shown = sandbox.run(["gc", "plan", id]);
    assert!(shown.stdout.contains("falcon") && shown.stdout.contains(id), "{shown:?}");
    assert_eq!(sandbox.run(["gc", "plan"]).stdout.lines().nth(1), shown.stdout.lines().nth(1), "all of them");
    assert_eq!(sandbox.run(["gc", "plan", "stale_code"]).stdout, "no garbage\n");
}

#[test]
fn status_and_retention_are_shown() {
    let sandbox = with_garbage();
    assert_snapshot!(sandbox.transcript(["gc", "retention", "show"]), @r#"
    status 0
    -- stdout
    max_count 2
    origin workspace
    -- stderr
    "#);
    assert_snapshot!(
        sandbox.transcript(["gc", "retention", "set", "--source", "agent", "--max-age", "90d", "--min-keep", "5"]), @r#"
    status 0
    -- stdout
    max_age 90d, min_keep 5
    before: max_count 2
    1 memory would expire now (33 %), 0 of them used in the last 30 days
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["gc", "retention", "show", "--source", "agent"]), @r#"
    status 0
    -- stdout
    max_age 90d, min_keep 5
    origin source
    -- stderr
    "#);
    assert_snapshot!(sandbox.transcript(["gc", "retention", "set", "--max-age", "0d"]), @r#"
    status 1
    -- stdout
    -- stderr
    error: `max_age` is `"0d"`; allowed: a duration above 0 such as `90d` or `24h`, or milliseconds
    "#);
    assert_snapshot!(sandbox.transcript(["gc", "retention", "set"]), @r#"
    status 0
    -- stdout
    everything is kept
    before: max_count 2
    nothing would expire now
    -- stderr
    "#);
    let status = sandbox.run(["gc", "status"]);
    assert!(status.stdout.starts_with("live           3 memories\ntrash          nothing\n"), "{status:?}");
}

#[test]
fn log_tells_adds_and_removals_with_their_handles() {
    let sandbox = with_garbage();
    sandbox.run(["prune", "--strategy", "expired", "--yes"]);
    let log = sandbox.run(["log"]);
    let words = |line: &str| line.split_whitespace().skip(3).map(str::to_owned).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = log.stdout.lines().skip(1).map(words).collect();
    let run = sandbox.call("gc_undo", "{}")["runs"][0]["run_id"].as_str().expect("a run").to_owned();
    assert_eq!(lines.remove(0), format!("prune_memory cli 1 memory rootset undo {run}"), "{log:?}");
    assert_eq!(
        lines,
        ["set_retention cli", "add user eagle rootset rm eagle", "add user heron rootset rm heron", "add user falcon"]
    );
    assert_eq!(sandbox.run(["undo", &run]).status, Some(0));
    let log = sandbox.run(["log", "--json"]).json();
    let entries = log["entries"].as_array().expect("entries");
    assert_eq!(entries[0]["what"], "gc_undo");
    assert!(entries.iter().filter(|entry| entry["what"] == "prune_memory").all(|entry| entry["undo"].is_null()));
    assert_eq!(sandbox.run(["log", "-n", "2"]).stdout.lines().count(), 3);
    assert_eq!(sandbox.run(["log", "--since", "soon"]).status, Some(1));
}

#[test]
fn retention_that_is_only_tried_shows_a_table_of_days_and_changes_nothing() {
    let sandbox = with_garbage();
    sandbox.run(["show", "heron"]);
    let tried = ["gc", "retention", "set", "--max-age", "30d", "--min-keep", "1", "--dry-run", "--horizon", "60d"];
    assert_snapshot!(sandbox.transcript(tried), @"
    status 0
    -- stdout
    max_age 30d, min_keep 1
    in force now: max_count 2

    DAY  DATE                  WOULD GO  USED LATELY  BY SOURCE
    30   [time] UTC  2         1            user 2

    2 memories would expire within 60d (67 %), 1 of them used in the last 30 days
    -- stderr
    nothing was changed; without `--dry-run` the policy is set
    ");
    assert_snapshot!(sandbox.transcript(["gc", "retention", "set", "--max-age", "300d", "--dry-run"]), @r#"
    status 0
    -- stdout
    max_age 300d
    in force now: max_count 2
    nothing would expire within 90d
    -- stderr
    nothing was changed; without `--dry-run` the policy is set
    "#);
    let outcome = sandbox.run(["gc", "retention", "set", "--max-age", "30d", "--horizon", "60d"]);
    assert_eq!(outcome.status, Some(1), "a horizon is for a dry run: {outcome:?}");
    assert_eq!(sandbox.call("get_retention", "{}")["policy"]["max_count"], 2);
}
