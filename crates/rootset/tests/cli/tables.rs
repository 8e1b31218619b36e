//! Every table, as a person sees it at 60, 80 and 120 columns, with names, paths and texts as long as they are in real use.

use unicode_width::UnicodeWidthStr;

use crate::sandbox::Sandbox;

const WIDTHS: [&str; 3] = ["60", "80", "120"];
const WORKSPACE: &str = "platform-team-payments-infrastructure-europe-west";
const MEMORIES: [(&str, &str, &str); 5] = [
    (
        "falcon-deploy-pipeline-owner-and-escalation-path",
        "platform-team-weekly-review",
        "Project Falcon deploys with a pipeline since the script was removed. Alice owns scripts/deploy.sh, and nobody may run it by hand.",
    ),
    ("falcon-cache", "user", "Project Falcon depends on Redis."),
    (
        "payments-retry-policy-for-card-networks-in-europe",
        "user",
        "Card payments in Europe are retried three times with backoff; Bob decided that after the outage in March.",
    ),
    ("tokyo-release-day", "agent", "東京のチームは毎週金曜日にリリースします。"),
    ("short", "user", "One line."),
];

fn with_memories() -> Sandbox {
    let sandbox = Sandbox::without_server();
    sandbox.run(["workspace", "create", WORKSPACE, "--name", "Payments, all regions of Europe and the Middle East"]);
    for (name, source, text) in MEMORIES {
        let added = sandbox.run(["-w", WORKSPACE, "add", text, "--name", name, "--source", source]);
        assert_eq!(added.status, Some(0), "{added:?}");
    }
    sandbox
}

/// The command at each width: no line is wider, no id and no time of today is in it, and a pipe gets every name whole.
#[track_caller]
fn shown<const N: usize>(sandbox: &Sandbox, arguments: [&str; N]) -> String {
    let mut shown = String::new();
    for width in WIDTHS {
        let outcome = sandbox.run_with_variables(&[("COLUMNS", width)], arguments);
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        for line in outcome.stdout.lines() {
            // What `gc status` says above its table is no table.
            let is_table = line.trim().contains("  ") && !line.starts_with(char::is_lowercase);
            assert!(!is_table || line.width() <= width.parse().expect("a number"), "{width}: {line}");
        }
        shown.push_str(&format!("{width} columns\n{}\n", masked(&outcome.stdout)));
    }
    shown
}

/// Ids, times and sizes as zeros of the same width.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        let trimmed = word.trim_end();
        let is_id = trimmed.len() >= 13 && trimmed.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        let is_number = trimmed.starts_with(|c: char| c.is_ascii_digit()) && trimmed.contains(['-', ':', '.']);
        if is_id || is_number {
            masked.extend(trimmed.chars().map(|c| if c.is_ascii_hexdigit() { '0' } else { c }));
            masked.push_str(&word[trimmed.len()..]);
        } else {
            masked.push_str(word);
        }
    }
    masked
}

#[test]
fn tables_of_memories_fit() {
    let sandbox = with_memories();
    sandbox.run(["-w", WORKSPACE, "edit", "falcon-cache", "--pin"]);
    insta::assert_snapshot!("list", shown(&sandbox, ["-w", WORKSPACE, "list"]));
    insta::assert_snapshot!("search", shown(&sandbox, ["-w", WORKSPACE, "search", "--entities", "Project Falcon"]));
    insta::assert_snapshot!(
        "entity_related",
        shown(&sandbox, ["-w", WORKSPACE, "entity", "related", "Project Falcon"])
    );
    insta::assert_snapshot!("workspace_list", shown(&sandbox, ["workspace", "list"]));
}

#[test]
fn tables_of_removals_fit() {
    let sandbox = with_memories();
    let long = MEMORIES[0].0;
    insta::assert_snapshot!("forget", shown(&sandbox, ["-w", WORKSPACE, "forget", "Falcon", "--dry-run"]));
    sandbox.run(["-w", WORKSPACE, "rm", long, "--yes"]);
    sandbox.run(["-w", WORKSPACE, "rm", "short", "--yes"]);
    insta::assert_snapshot!("trash", shown(&sandbox, ["-w", WORKSPACE, "trash"]));
    insta::assert_snapshot!("undo", shown(&sandbox, ["-w", WORKSPACE, "undo"]));
    insta::assert_snapshot!("log", shown(&sandbox, ["-w", WORKSPACE, "log"]));
    insta::assert_snapshot!("audit", shown(&sandbox, ["-w", WORKSPACE, "audit"]));
    insta::assert_snapshot!("gc_status_runs", runs(&shown(&sandbox, ["-w", WORKSPACE, "gc", "status"])));
}

/// Above the table are sizes of files.
fn runs(status: &str) -> String {
    let is_of_table = |line: &&str| line.starts_with("RUN ") || line.starts_with("00") || line.ends_with(" columns");
    status.lines().filter(is_of_table).map(|line| format!("{line}\n")).collect()
}

#[test]
fn tables_of_retention_fit() {
    let sandbox = with_memories();
    let dry_run =
        ["-w", WORKSPACE, "gc", "retention", "set", "--max-count", "1", "--may-empty", "--dry-run", "--horizon", "90d"];
    insta::assert_snapshot!("retention_simulation", shown(&sandbox, dry_run));
    sandbox.run(["-w", WORKSPACE, "gc", "retention", "set", "--max-count", "1", "--may-empty"]);
    insta::assert_snapshot!("prune", shown(&sandbox, ["-w", WORKSPACE, "prune", "--strategy", "expired", "--dry-run"]));
    let everywhere = ["forget", "Falcon", "--everywhere", "--dry-run"];
    insta::assert_snapshot!("forget_everywhere", shown(&sandbox, everywhere));
}

#[test]
fn tables_of_code_fit() {
    let sandbox = Sandbox::without_server();
    let deep = "shop/packages/checkout-service/src/payments/adapters/card_networks_europe.py";
    sandbox.write(deep, "from cart import total_of_all_items_in_the_basket\n\ndef pay(cart):\n    return total_of_all_items_in_the_basket(cart)\n");
    sandbox.write("shop/cart.py", "def total_of_all_items_in_the_basket(cart):\n    return sum(cart)\n");
    sandbox.run(["index", "shop"]);
    insta::assert_snapshot!("code_callers", shown(&sandbox, ["code", "callers", "total_of_all_items_in_the_basket"]));
    std::fs::remove_file(sandbox.work().join(deep)).expect("the file");
    sandbox.run(["index", "shop"]);
    insta::assert_snapshot!("prune_files", shown(&sandbox, ["prune", "--dry-run"]));
    // The folder of a test has another name each time.
    assert!(shown(&sandbox, ["code", "repos"]).contains("LAST RUN"));
}

#[test]
fn tables_of_contexts_fit() {
    let sandbox = Sandbox::without_server();
    let lease = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/lease.jsonl");
    sandbox.run(["context", "import", lease, "--session", "what-happens-to-leases-of-processes-that-died"]);
    let session = "what-happens-to-leases-of-processes-that-died";
    insta::assert_snapshot!("context_list", shown(&sandbox, ["context", "list"]));
    insta::assert_snapshot!("context_show", shown(&sandbox, ["context", "show", session]));
    insta::assert_snapshot!("context_analyze", shown(&sandbox, ["context", "analyze", session, "--free", "8000"]));
    insta::assert_snapshot!("context_top", shown(&sandbox, ["context", "top", session]));
    insta::assert_snapshot!("context_configure", shown(&sandbox, ["context", "configure", session, "--recent", "4"]));
    sandbox.run(["context", "prune", session, "--to", "12000"]);
    insta::assert_snapshot!("context_search", shown(&sandbox, ["context", "search", session, "lease"]));
}

#[test]
fn tables_of_upkeep_fit() {
    let sandbox = with_memories();
    let name = "continuous-integration-of-the-payments-team";
    sandbox.run(["token", "create", name, "--scopes", "read,write,destroy", "--workspaces", WORKSPACE]);
    sandbox.run(["token", "create", "dashboard", "--scopes", "read", "--owner", "alice", "--expires", "90d"]);
    insta::assert_snapshot!("token_list", shown(&sandbox, ["token", "list"]));
    sandbox.run(["backup", "create"]);
    insta::assert_snapshot!("backup_list", shown(&sandbox, ["backup", "list"]));
    insta::assert_snapshot!("call", shown(&sandbox, ["call"]));
    let settings = shown(&sandbox, ["config", "show"]);
    assert!(settings.contains("gc.grace"), "{settings}");
}
