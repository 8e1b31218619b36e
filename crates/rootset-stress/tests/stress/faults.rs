use rootset_stress::failpoints::{FaultSettings, points_without_scenario, run, settings};
use rootset_stress::step::{Ended, Fault, Step, call};
use rootset_testing::{TestDatabase, temporary_folder};
use serde_json::json;

use crate::program;

#[test]
fn every_failpoint_has_a_scenario() {
    assert_eq!(points_without_scenario(), Vec::<&str>::new());
}

fn interrupt(one_in: usize) {
    let folder = temporary_folder();
    let settings = FaultSettings { one_in, ..settings(&program(), folder.path()) };
    let report = run(&settings).unwrap_or_else(|failures| panic!("{}", failures.join("\n")));
    println!("{report}");
}

/// A death here, an error there: five goes round both, and meets every scenario.
#[test]
fn whatever_is_interrupted_on_sqlite_ends_like_its_uninterrupted_twin() {
    interrupt(5);
}

mod at_length {
    #[test]
    fn whatever_is_interrupted_anywhere_on_sqlite_ends_like_its_uninterrupted_twin() {
        super::interrupt(1);
    }
}

#[test]
fn receipt_of_a_resumed_erasure_does_not_claim_a_search_for_what_it_no_longer_knows() {
    let database = TestDatabase::new();
    let database = database.location();
    call(database, "add_memory", json!({"context": "Alice keeps the spare key under the third flower pot."})).unwrap();
    let plan = call(database, "forget", json!({"query": "flower pot", "purge": true})).unwrap();
    let arguments = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true});
    let apply = Step::new(database, "gc_apply", &arguments);
    let interrupted = Step { failpoint: Some("apply.swept".into()), fault: Some(Fault::Abort), ..apply.clone() };
    assert_eq!(interrupted.run_in(&program()).unwrap(), Ended::Aborted("apply.swept".into()));

    let answer = apply.run_in(&program()).unwrap().answer().unwrap();

    assert_eq!(answer["receipt"]["rows"]["memories"], 1, "{answer}");
    assert_eq!(answer["receipt"]["byte_scan"], "not_run", "{answer}");
}
