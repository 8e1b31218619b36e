//! Connections to a server that break, at every message of an operation: it is done once, whatever was lost on the way.

use std::sync::Arc;

use fail::FailScenario;
use rootset_service::{Caller, FrontEnd, Service, Settings};
use rootset_store::{Location, Store};
use rootset_testing::{Cut, Proxy, Sql, TestDatabase, TestEngine};
use serde_json::{Value, json};

/// Memories of a plan; with batches of three, that are three batches.
const PLANNED: i64 = 7;

struct Place {
    database: TestDatabase,
    proxy: Proxy,
    service: Arc<Service>,
    next: std::cell::Cell<u32>,
}

impl Place {
    fn new() -> Self {
        let database = TestDatabase::on(TestEngine::Postgres);
        let proxy = Proxy::new(database.url());
        let location = Location::parse(&proxy.url(database.url())).unwrap();
        let store = Store::open(&location, None).unwrap();
        let service = Arc::new(Service::new(store, Settings::default()).unwrap());
        let place = Self { database, proxy, service, next: 0.into() };
        place.call("add_memory", json!({"name": "first", "context": "The first of all."}));
        place
    }

    #[track_caller]
    fn call(&self, operation: &str, request: Value) -> Value {
        let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
        let answer = self.service.call(&caller, operation, request);
        answer.unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    }

    /// A word that was never used before.
    fn word(&self) -> String {
        self.next.set(self.next.get() + 1);
        format!("walrus{}x", self.next.get())
    }

    fn sql(&self) -> Sql {
        self.database.sql()
    }

    fn entries(&self) -> i64 {
        self.sql().scalar("SELECT COUNT(*) FROM audit", &[]).unwrap()
    }
}

/// Something to do, once: prepared, done while connections break, and looked at.
trait Deed {
    fn prepare(place: &Place, word: &str) -> Value;
    fn request(prepared: &Value) -> (&'static str, Value);
    /// Panics unless it was done once.
    fn look(place: &Place, word: &str, prepared: &Value, answer: &Value);
}

struct Add;

impl Deed for Add {
    fn prepare(_: &Place, word: &str) -> Value {
        json!({"name": word, "context": format!("The {word} is new.")})
    }

    fn request(prepared: &Value) -> (&'static str, Value) {
        ("add_memory", prepared.clone())
    }

    fn look(place: &Place, word: &str, _: &Value, answer: &Value) {
        assert_eq!(answer["created"], true, "{answer}");
        let statement = "SELECT COUNT(*) FROM memories WHERE name = ?1";
        assert_eq!(place.sql().scalar::<i64>(statement, &[word.into()]).unwrap(), 1);
        assert_eq!(place.call("get_memory", json!({"memory_id": word}))["memory_id"], answer["memory_id"]);
    }
}

struct Update;

impl Deed for Update {
    fn prepare(place: &Place, word: &str) -> Value {
        place.call("add_memory", json!({"name": word, "context": format!("The {word} is old.")}))
    }

    fn request(prepared: &Value) -> (&'static str, Value) {
        let changed = json!({
            "memory_id": prepared["memory_id"], "expected_version": prepared["version"], "context": "It changed.",
            "name": format!("{}-2", prepared["name"].as_str().unwrap()), "topic": prepared["name"],
        });
        ("update_memory", changed)
    }

    fn look(place: &Place, _: &str, prepared: &Value, answer: &Value) {
        assert_eq!(answer["version"].as_i64().unwrap(), prepared["version"].as_i64().unwrap() + 1);
        let read = place.call("get_memory", json!({"memory_id": prepared["memory_id"]}));
        assert_eq!((&read["revision"], &read["context"]), (&json!(2), &json!("It changed.")));
    }
}

/// Memories that a plan removes.
fn plan(place: &Place, word: &str) -> Value {
    let memories: Vec<Value> = (0..PLANNED)
        .map(|number| json!({"name": format!("{word}-{number}"), "context": format!("{word} {number}")}))
        .collect();
    place.call("add_memories", json!({ "memories": memories }));
    // So that there is enough beside it for the limits.
    let planned = place.call("forget", json!({"query": word}));
    assert_eq!(planned["totals"]["memories"], PLANNED, "{planned}");
    planned
}

fn in_trash(place: &Place, word: &str) -> i64 {
    let statement = "SELECT COUNT(*) FROM memories WHERE name LIKE ?1 AND trashed_run IS NOT NULL";
    place.sql().scalar(statement, &[format!("{word}-%").as_str().into()]).unwrap()
}

fn applied(place: &Place, word: &str) -> Value {
    let planned = plan(place, word);
    place.call("gc_apply", json!({"plan_id": planned["plan_id"], "allow_large": true}))
}

struct Apply;

impl Deed for Apply {
    fn prepare(place: &Place, word: &str) -> Value {
        plan(place, word)
    }

    fn request(prepared: &Value) -> (&'static str, Value) {
        ("gc_apply", json!({"plan_id": prepared["plan_id"], "allow_large": true}))
    }

    fn look(place: &Place, word: &str, _: &Value, answer: &Value) {
        assert_eq!(answer["trashed"]["memories"], PLANNED, "{answer}");
        assert_eq!(answer["skipped"]["count"], 0, "{answer}");
        assert_eq!(in_trash(place, word), PLANNED);
    }
}

struct Undo;

impl Deed for Undo {
    fn prepare(place: &Place, word: &str) -> Value {
        applied(place, word)
    }

    fn request(prepared: &Value) -> (&'static str, Value) {
        ("gc_undo", json!({"run_id": prepared["run_id"]}))
    }

    fn look(place: &Place, word: &str, _: &Value, answer: &Value) {
        assert_eq!(answer["restored"]["memories"], PLANNED, "{answer}");
        assert_eq!(in_trash(place, word), 0);
    }
}

struct Purge;

impl Deed for Purge {
    fn prepare(place: &Place, word: &str) -> Value {
        applied(place, word)
    }

    fn request(prepared: &Value) -> (&'static str, Value) {
        ("gc_purge", json!({"run_id": prepared["run_id"], "confirm": true}))
    }

    fn look(place: &Place, word: &str, _: &Value, answer: &Value) {
        assert_eq!(answer["purged"]["memories"], PLANNED, "{answer}");
        let statement = "SELECT COUNT(*) FROM memories WHERE name LIKE ?1";
        let left: i64 = place.sql().scalar(statement, &[format!("{word}-%").as_str().into()]).unwrap();
        assert_eq!(left, 0);
    }
}

struct Outcome {
    /// What it left in the audit.
    entries: i64,
    /// Whether the message came by at which the connection was to be cut.
    was_cut: bool,
}

/// Does it while something breaks.
fn once<D: Deed>(place: &Place, disturb: impl FnOnce(&Proxy)) -> Outcome {
    let word = place.word();
    let mut prepared = D::prepare(place, &word);
    prepared["name"] = word.as_str().into();
    place.service.finish().unwrap();
    let (operation, request) = D::request(&prepared);
    let before = place.entries();
    disturb(&place.proxy);
    let answer = place.call(operation, request);
    let entries = place.entries() - before;
    let was_cut = !place.proxy.disarm();
    D::look(place, &word, &prepared, &answer);
    Outcome { entries, was_cut }
}

/// Cuts at the first, the second, … until there is no such message any more.
fn at_every<D: Deed>(place: &Place, cut: fn(usize) -> Cut) -> usize {
    let quiet = once::<D>(place, |_| ());
    for number in 1.. {
        let outcome = once::<D>(place, |proxy| proxy.arm(cut(number)));
        assert_eq!(outcome.entries, quiet.entries, "{:?}: every step is in the audit once", cut(number));
        if !outcome.was_cut {
            return number - 1;
        }
    }
    unreachable!("an operation ends")
}

fn with_small_batches(work: impl FnOnce(&Place)) {
    let scenario = FailScenario::setup();
    fail::cfg("sweep.batch_memories", "return(3)").unwrap();
    let place = Place::new();
    work(&place);
    let answer = place.call("doctor", json!({}));
    assert_eq!(answer["ok"], true, "{answer:#}");
    scenario.teardown();
}

fn all_deeds(place: &Place, cut: fn(usize) -> Cut) -> [usize; 5] {
    [
        at_every::<Add>(place, cut),
        at_every::<Update>(place, cut),
        at_every::<Apply>(place, cut),
        at_every::<Undo>(place, cut),
        at_every::<Purge>(place, cut),
    ]
}

#[test]
fn a_commit_that_never_reached_the_server_is_made_by_another_try() {
    with_small_batches(|place| {
        let commits = all_deeds(place, Cut::BeforeCommit);
        assert!(commits[0] >= 1 && commits[2] >= 3, "{commits:?}");
    });
}

#[test]
fn a_commit_whose_answer_was_lost_is_not_made_twice() {
    with_small_batches(|place| {
        let commits = all_deeds(place, Cut::AfterCommit);
        assert!(commits[0] >= 1 && commits[2] >= 3, "{commits:?}");
    });
}

#[test]
fn idle_connections_that_were_cut_are_replaced_without_a_word() {
    with_small_batches(|place| {
        for _ in 0..3 {
            once::<Add>(place, Proxy::cut_all);
            once::<Update>(place, Proxy::cut_all);
            once::<Apply>(place, Proxy::cut_all);
            once::<Undo>(place, Proxy::cut_all);
            once::<Purge>(place, Proxy::cut_all);
        }
    });
}

#[test]
fn a_server_that_is_away_for_a_moment_is_waited_for() {
    with_small_batches(|place| {
        let away = |proxy: &Proxy| {
            proxy.refuse(8);
            proxy.cut_all();
        };
        once::<Add>(place, away);
        once::<Apply>(place, away);
        // The answer to a commit is lost, and the server with it: it is asked for the outcome when it is back.
        let lost = once::<Add>(place, |proxy| {
            proxy.arm(Cut::AfterCommit(1));
            proxy.refuse(8);
        });
        assert!(lost.was_cut);
    });
}

/// A database and a cut for every statement of every deed: for the merge ring.
mod at_length {
    use super::*;

    #[test]
    fn a_connection_that_breaks_in_any_statement_loses_and_doubles_nothing() {
        with_small_batches(|place| {
            let statements = all_deeds(place, Cut::InStatement);
            assert!(statements.iter().all(|count| *count > 3), "{statements:?}");
        });
    }
}
