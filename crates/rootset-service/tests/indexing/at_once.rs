//! Two scans of one repository at once, and scans that end early.

use std::sync::{Arc, Barrier, Mutex};

use rootset_service::{Caller, Progress};
use rootset_testing::Sql;
use rootset_trees::dump::differences;
use rootset_trees::{IndexScope, logical_dump};
use serde_json::json;

use crate::place::Place;

#[test]
fn two_scans_of_one_repository_never_interleave() {
    const ROUNDS: usize = 6;
    let place = Place::of_files(60);
    for round in 0..ROUNDS {
        for number in 0..60 {
            let text = format!("def function_{number}_{round}():\n    return {number}\n");
            place.write(&format!("f{number}.py"), text);
        }
        place.rename(&format!("f{round}.py"), &format!("moved_{round}.py"));
        place.write(&format!("f{round}.py"), format!("def again_{round}():\n    pass\n"));
        let barrier = Arc::new(Barrier::new(2));
        let services = [place.world.service.clone(), place.world.second_process()];
        let answers: Vec<_> = std::thread::scope(|scope| {
            let scans: Vec<_> = services
                .iter()
                .map(|service| {
                    let (barrier, request) = (barrier.clone(), place.request(json!({})));
                    let caller = &place.world.caller;
                    scope.spawn(move || {
                        barrier.wait();
                        service.call(caller, "index_codebase", request)
                    })
                })
                .collect();
            scans.into_iter().map(|scan| scan.join().unwrap()).collect()
        });
        let done = answers.iter().filter(|it| it.is_ok()).count();
        assert!(done >= 1, "{answers:?}");
        for refused in answers.iter().filter_map(|it| it.as_ref().err()) {
            assert!(["busy", "conflict"].contains(&refused.code.as_str()), "{refused}");
        }
        let indexed: i64 = answers.iter().flatten().map(|it| it["files_indexed"].as_i64().unwrap()).sum();
        assert_eq!(indexed, 61, "each change is written once: {answers:?}");
        place.assert_nothing_stale();
    }
    let fresh = Place::with([]);
    let all = place.index();
    assert_eq!(all["files_indexed"], 0, "{all}");
    fresh.world.call("index_codebase", place.request(json!({})));
    let [wanted, found] =
        [&fresh, &place].map(|it| logical_dump(it.world.database.location(), "home", &IndexScope::default()).unwrap());
    assert_eq!(differences(&wanted, &found), [""; 0]);
    place.world.assert_doctor_is_content();
}

#[test]
fn scan_whose_lease_was_taken_between_two_batches_begins_anew() {
    let place = Place::of_files(900);
    for number in 0..900 {
        // All of them, which is more than two batches.
        place.write(&format!("f{number}.py"), format!("def changed_{number}():\n    return {number}\n"));
    }
    let told: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
    let (heard, database) = (told.clone(), place.world.database.location().clone());
    let progress = Progress::to(move |done, total| {
        let mut told = heard.lock().unwrap();
        if told.is_empty() {
            // As if this batch had taken so long that another scan took over, and died.
            let other = Sql::open(&database).unwrap();
            let taken = "UPDATE jobs SET fence = fence + 1, lease_until = 0 WHERE kind = 'index'";
            assert_eq!(other.execute(taken, &[]).unwrap(), 1);
        }
        told.push((done, total));
    });
    let caller = Caller { progress, ..place.world.caller.clone() };
    let answer = place.world.service.call(&caller, "index_codebase", place.request(json!({}))).unwrap();
    let told = told.lock().unwrap();
    assert_eq!(told.first().map(|it| it.1), Some(900), "{told:?}");
    // What the first batch wrote is unchanged to the second look.
    let first = told[0].0;
    assert_eq!(
        (&answer["files_indexed"], &answer["files_unchanged"]),
        (&json!(900 - first), &json!(first)),
        "{answer}"
    );
    assert_eq!(told.last().map(|(done, total)| done == total), Some(true), "{told:?}");
    let again = place.index();
    assert_eq!((&again["files_indexed"], &again["files_unchanged"]), (&json!(0), &json!(900)), "{again}");
    place.assert_nothing_stale();
}

#[test]
fn scans_of_two_repositories_at_once_both_succeed() {
    let place = Place::of_files(40);
    let others = ["one", "two"].map(|name| {
        let root = place.beside(name);
        for number in 0..40 {
            crate::place::write(&root.join(format!("g{number}.py")), format!("def g_{number}():\n    pass\n"));
        }
        root
    });
    let services = [place.world.service.clone(), place.world.second_process()];
    std::thread::scope(|scope| {
        for (service, root) in services.iter().zip(&others) {
            let (caller, request) = (&place.world.caller, crate::place::request(root, json!({})));
            scope.spawn(move || service.call(caller, "index_codebase", request).unwrap());
        }
    });
    assert_eq!(place.served().len(), 120);
    place.world.assert_doctor_is_content();
}

#[test]
fn a_scan_that_meets_the_quota_marks_nothing_stale() {
    let place = Place::new();
    place.world.call("create_workspace", json!({"workspace_id": "small", "quota": {"memories": 5}}));
    let small = json!({"workspace_id": "small"});
    place.index_with(small.clone());
    place.remove("billing.py");
    for number in 0..10 {
        place.write(&format!("extra{number}.py"), format!("def extra_{number}():\n    pass\n"));
    }
    let (code, error) = place.world.fails("index_codebase", place.request(small.clone()));
    assert_eq!(code, "limit_exceeded", "{error}");
    assert_eq!(rootset_trees::stale_paths(place.world.database.location(), "small").unwrap(), [""; 0]);
    let found = place.world.call("search_code", json!({"query": "refund", "workspace_id": "small"}));
    assert_eq!(found["results"][0]["file_path"], "billing.py", "an aborted run says nothing about what is gone");
    place.world.assert_doctor_is_content();
    // With room again, the run ends and speaks.
    for number in 1..10 {
        place.remove(&format!("extra{number}.py"));
    }
    let answer = place.index_with(small);
    assert_eq!(answer["stale_memories"], 1, "{answer}");
}
