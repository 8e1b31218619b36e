//! What waits for a person, and what an agent is told.

use crate::sandbox::Sandbox;

/// Notes in personal memory that nobody approved.
fn with_waiting(names: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in names {
        let text = format!("The user likes {name}.");
        assert_eq!(sandbox.run(["add", "--personal", "--name", name, &text]).status, Some(0));
        assert_eq!(sandbox.run(["trust", name, "--as", "agent"]).status, Some(0));
    }
    sandbox
}

#[test]
fn review_lists_keeps_and_drops_what_agents_wrote() {
    let sandbox = with_waiting(&["tea", "coffee", "water"]);
    let listed = sandbox.run(["review"]);
    assert!(listed.stdout.contains("tea") && listed.stdout.contains("The user likes coffee."), "{listed:?}");
    assert!(listed.stderr.contains("3 memories to review") && listed.stderr.contains("--keep NAME"), "{listed:?}");
    assert_eq!(sandbox.run(["review", "--json"]).json()["total"], 3);
    // Nothing is decided where one name is wrong.
    let wrong = sandbox.run(["review", "--keep", "tea", "--drop", "cofee"]);
    assert!(wrong.status == Some(1) && wrong.stderr.contains("did you mean `coffee`?"), "{wrong:?}");
    let decided = sandbox.run(["review", "--keep", "tea", "--drop", "coffee", "--json"]).json();
    assert_eq!(decided, serde_json::json!({"kept": ["tea"], "dropped": ["coffee"], "waiting": 1}));
    let left = sandbox.run(["review", "--list"]);
    assert!(left.stdout.contains("water") && !left.stdout.contains("tea"), "{left:?}");
    let again = sandbox.run(["review", "--keep", "tea"]);
    assert!(again.status == Some(1) && again.stderr.contains("no memory `tea` waits"), "{again:?}");
    sandbox.run(["review", "--keep", "water"]);
    let none = sandbox.run(["review"]);
    assert_eq!((none.stdout.as_str(), none.stderr.trim()), ("", "0 memories to review"));
}

// On a server, where several people write, a note says who instead of `you`.
#[test]
fn brief_shows_what_an_agent_is_told_and_nothing_when_there_is_nothing_on_sqlite() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(["brief"]);
    assert_eq!((none.status, none.stdout.as_str()), (Some(0), ""));
    assert!(none.stderr.contains("--pin"), "{none:?}");
    assert_eq!(sandbox.run(["brief", "--json"]).json(), serde_json::json!({}));
    sandbox.run(["add", "--name", "deploys", "Never deploy on Fridays [really]."]);
    let brief = sandbox.run(["brief"]);
    let lines: Vec<&str> = brief.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{brief:?}");
    assert!(
        lines[1].starts_with("- deploys · you, ") && lines[1].ends_with("Never deploy on Fridays \\[really\\]."),
        "{brief:?}"
    );
    assert_eq!(sandbox.run(["brief", "--json"]).json()["brief"].as_str().map(|text| text.lines().count()), Some(3));
}
