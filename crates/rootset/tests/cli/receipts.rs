//! Receipts of erasures on the command line: where they are written, and that anybody can check them.

use std::fs;

use crate::sandbox::Sandbox;

fn erased(receipt: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Eagle belongs to bob@acme.io", "--name", "eagle"]);
    sandbox.run(["add", "Falcon belongs to nobody", "--name", "falcon"]);
    let file = sandbox.work().join(receipt).display().to_string();
    let outcome = sandbox.run(["forget", "bob@acme.io", "--everywhere", "--purge", "--receipt", &file, "--yes"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    (sandbox, file)
}

#[test]
fn a_receipt_is_checked_without_the_database_and_names_its_key() {
    let (sandbox, file) = erased("receipt.json");
    let key = sandbox.run(["receipt", "key"]).stdout;
    // Where there is no database at all.
    let elsewhere = Sandbox::new();
    let verified = elsewhere.run(["receipt", "verify", &file]);
    assert_eq!(verified.status, Some(0), "{verified:?}");
    assert!(verified.stdout.contains(key.trim()) && verified.stdout.contains("erased in home"), "{verified:?}");
    assert!(!elsewhere.has_database(), "checking opens no database");
    let json = elsewhere.run(["receipt", "verify", &file, "--json"]).json();
    assert_eq!(json["ok"], true);
    assert_eq!(json["receipt"]["key"]["fingerprint"], key.trim());
}

#[test]
fn a_receipt_with_one_changed_byte_fails_with_status_1() {
    let (sandbox, file) = erased("receipt.json");
    let text = fs::read_to_string(&file).expect("the receipt");
    fs::write(&file, text.replacen("\"memories\": 1", "\"memories\": 2", 1)).expect("a changed receipt");
    let verified = sandbox.run(["receipt", "verify", &file]);
    assert_eq!(verified.status, Some(1), "{verified:?}");
    assert_eq!(sandbox.run(["receipt", "verify", &file, "--json"]).json()["ok"], false);
}

#[test]
fn a_receipt_that_cannot_be_written_is_noticed_before_anything_is_erased() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Eagle belongs to bob@acme.io", "--name", "eagle"]);
    let (exists, nowhere) = (sandbox.work().join("there.json"), sandbox.work().join("missing/receipt.json"));
    fs::write(&exists, "mine").expect("a file of somebody");
    for file in [&exists, &nowhere] {
        let file = file.display().to_string();
        let forget = ["forget", "bob@acme.io", "--purge", "--receipt", &file, "--yes", "--allow-large"];
        let outcome = sandbox.run(forget);
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains("nothing was erased"), "{outcome:?}");
    }
    assert_eq!(fs::read_to_string(&exists).expect("the file"), "mine");
    assert!(sandbox.run(["list"]).stdout.contains("eagle"));
    let outcome = sandbox.run(["forget", "bob@acme.io", "--receipt", "x.json", "--yes"]);
    assert!(outcome.status == Some(1) && outcome.stderr.contains("--purge"), "{outcome:?}");
}
