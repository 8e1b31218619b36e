//! What `add` proposes about an older memory that says something else, and the commands that do it.

use crate::sandbox::Sandbox;

#[test]
fn add_proposes_the_command_that_loses_nothing_and_the_command_does_it() {
    let sandbox = Sandbox::new();
    let add = |name: &str, text: &str| sandbox.run(["add", "--name", name, text]).stderr;
    let text = |name: &str| sandbox.run(["show", name, "--json"]).json()["context"].as_str().unwrap().to_owned();

    add("homes", "Alice lives in Berlin, and Bob lives in Paris.");
    let proposed = add("moved", "Alice moved to Hamburg.");
    assert!(proposed.contains("`rootset supersede homes moved --replace clause` replaces that"), "{proposed}");
    let done = sandbox.run(["supersede", "homes", "moved", "--replace", "clause"]);
    assert_eq!(done.stdout, "changed homes: Alice moved to Hamburg, and Bob lives in Paris.\n", "{done:?}");

    add("pair", "Carol and Dave live in Rome.");
    let proposed = add("carol", "Carol moved to Oslo.");
    assert!(proposed.contains("change it with `rootset edit pair`"), "{proposed}");
    let refused = sandbox.run(["supersede", "pair", "carol", "--replace", "clause"]);
    assert!(refused.status == Some(1) && refused.stderr.contains("cannot be divided"), "{refused:?}");
    assert_eq!(text("pair"), "Carol and Dave live in Rome.");

    assert!(sandbox.run(["list", "--lifecycle", "contradicting"]).stdout.contains("pair"));
    assert!(proposed.contains("`rootset edit carol --both-hold pair` if both are right"), "{proposed}");
    assert_eq!(sandbox.run(["edit", "carol", "--both-hold", "pair"]).status, Some(0));
    assert!(!sandbox.run(["list", "--lifecycle", "contradicting"]).stdout.contains("pair"));

    add("rent", "The rent is 900 euros.");
    let proposed = add("raise", "The rent is now 950 euros.");
    assert!(proposed.contains("`rootset supersede rent raise` replaces it"), "{proposed}");
    let changed = sandbox.run(["edit", "rent", "--replace", "clause", "--text", "The rent is now 980 euros."]);
    assert_eq!((changed.status, text("rent")), (Some(0), "The rent is now 980 euros.".to_owned()));
}
