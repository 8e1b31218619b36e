//! Events on their way to a webhook and a file: places that are down, slow or refuse, and what arrives once they are back.

mod hook;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rootset_model::RetentionPolicy;
use rootset_provider::{Secret, Webhook};
use rootset_service::delivery::{Delivery, EventFile, EventPlace, EventWebhook, Look};
use rootset_service::scheduler::{Scheduler, Tick};
use rootset_service::{GcSettings, Service, Settings};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array};
use hook::{Hook, Manner, SECRET};

/// Longer than any look here takes.
const LONG: Duration = Duration::from_secs(60);

/// A process whose rounds announce, drain and report, and which keeps its events for these places.
fn process(world: &World, places: &[&str]) -> Arc<Service> {
    let gc = GcSettings {
        enabled: true,
        auto_delete: true,
        retention: RetentionPolicy { max_count: Some(5), ..RetentionPolicy::default() },
        ..GcSettings::default()
    };
    let service = world.process_with(Settings { gc, ..Settings::default() });
    service.send_events_to(places.iter().map(|place| (*place).to_owned()).collect());
    service
}

/// Adds more than the policy keeps.
fn fill(world: &World) {
    for n in 0..40 {
        world.call("add_memory", json!({"name": format!("note-{n}"), "context": format!("note number {n}")}));
    }
}

#[track_caller]
fn round(world: &World, service: &Arc<Service>) {
    world.advance_ms(DAY_MS);
    let tick = Scheduler::new(service.clone()).tick().unwrap();
    assert!(matches!(tick, Tick::Ran(_)), "{tick:?}");
}

fn to_webhook(service: &Arc<Service>, address: &str) -> Delivery {
    let webhook = Webhook::new(&format!("http://{address}/events"), Secret::new(SECRET)).unwrap();
    Delivery::new(service.clone(), Box::new(EventWebhook::new(webhook)))
}

fn look(delivery: &mut Delivery) -> Look {
    delivery.look(Instant::now() + LONG).unwrap()
}

/// What the audit trail says was told, oldest first: kind and when.
fn audited(world: &World) -> Vec<(String, String)> {
    let listed = world.call("list_audit", json!({"kinds": ["events"], "limit": 100}));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entry = |entry: &Value| (text(&entry["operation"]), text(&entry["at"]));
    array(&listed["entries"]).iter().map(entry).rev().collect()
}

/// The same of events as they arrived, which must have ids of their own.
#[track_caller]
fn told(bodies: &[String]) -> Vec<(String, String)> {
    let events: Vec<Value> = bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let ids: BTreeSet<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), events.len(), "{events:?}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    events.iter().map(|event| (text(&event["event"]), text(&event["at"]))).collect()
}

#[test]
fn webhook_gets_every_event_in_order_signed_and_without_content() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["webhook"]);
    let hook = Hook::new();
    let mut delivery = to_webhook(&service, hook.address());
    for _ in 0..4 {
        round(&world, &service);
        assert_eq!(look(&mut delivery), Look::Done);
    }
    let requests = hook.taken();
    requests.iter().for_each(|request| request.assert_signed());
    let bodies: Vec<String> = requests.into_iter().map(|request| request.body).collect();
    assert_eq!(told(&bodies), audited(&world));
    assert!(bodies.iter().any(|body| body.contains("drain_announced")), "{bodies:?}");
    assert!(bodies.iter().any(|body| body.contains("drain_round")), "{bodies:?}");
    assert!(bodies.iter().all(|body| !body.contains("note number")), "{bodies:?}");
}

#[test]
fn slow_webhook_holds_up_no_round_and_gets_every_event_once_it_is_back() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["webhook"]);
    round(&world, &service);
    let hook = Hook::new();
    hook.behave(Manner::Hold);
    let mut delivery = to_webhook(&service, hook.address());
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| look(&mut delivery));
        hook.wait_for_request();
        // The request is open and will not be answered before these rounds are over.
        round(&world, &service);
        round(&world, &service);
        hook.behave(Manner::Answer(500));
        let Look::Failed(failure) = looking.join().unwrap() else { panic!("it did not fail") };
        assert!(failure.problem.contains("status 500") && !failure.lasts, "{failure:?}");
    });
    hook.taken();
    hook.behave(Manner::Answer(204));
    assert_eq!(look(&mut delivery), Look::Done);
    assert_eq!(told(&hook.bodies()), audited(&world));
}

#[test]
fn webhook_that_does_not_answer_in_time_has_failed() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["webhook"]);
    round(&world, &service);
    let hook = Hook::new();
    hook.behave(Manner::Hold);
    let mut delivery = to_webhook(&service, hook.address());
    // On a busy machine a short time can be over before the webhook was asked.
    let mut allowed = Duration::from_millis(50);
    let looked = loop {
        match delivery.look(Instant::now() + allowed).unwrap() {
            Look::Unfinished if allowed < LONG => allowed *= 2,
            looked => break looked,
        }
    };
    let Look::Failed(failure) = looked else { panic!("{looked:?}") };
    assert!(failure.problem.contains("did not answer within"), "{failure:?}");
}

#[test]
fn webhook_that_was_down_gets_every_event_from_the_next_process() {
    let world = World::new();
    fill(&world);
    // A port on which nobody listens.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    {
        let service = process(&world, &["webhook"]);
        let mut delivery = to_webhook(&service, &address);
        for _ in 0..3 {
            round(&world, &service);
            assert!(matches!(look(&mut delivery), Look::Failed(_)));
        }
    }
    let hook = Hook::on(&address);
    assert_eq!(look(&mut to_webhook(&process(&world, &["webhook"]), &address)), Look::Done);
    assert_eq!(told(&hook.bodies()), audited(&world));
}

#[test]
fn what_arrived_before_a_failure_is_not_sent_again() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["webhook"]);
    round(&world, &service);
    round(&world, &service);
    let hook = Hook::new();
    hook.behave(Manner::FailAfter(2));
    let mut delivery = to_webhook(&service, hook.address());
    assert!(matches!(look(&mut delivery), Look::Failed(_)));
    let first = hook.bodies();
    assert_eq!(first.len(), 3, "two that arrived, and one that was refused");
    hook.behave(Manner::Answer(200));
    assert_eq!(look(&mut delivery), Look::Done);
    let arrived: Vec<String> = first[..2].iter().cloned().chain(hook.bodies()).collect();
    assert_eq!(told(&arrived), audited(&world));
}

#[test]
fn waits_grow_to_five_minutes_and_a_refusal_waits_them_at_once() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["webhook"]);
    round(&world, &service);
    let hook = Hook::new();
    let mut delivery = to_webhook(&service, hook.address());
    let mut waits = |manner, count| -> Vec<u64> {
        hook.behave(manner);
        let mut wait = || {
            let looked = look(&mut delivery);
            delivery.wait_after(&looked).map_or(0, |wait| wait.as_secs())
        };
        (0..count).map(|_| wait()).collect()
    };
    assert_eq!(waits(Manner::Answer(503), 10), [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    assert_eq!(waits(Manner::Answer(404), 1), [300]);
    assert_eq!(waits(Manner::Answer(301), 1), [300], "redirects are not followed");
    hook.taken();
    assert_eq!(waits(Manner::FailAfter(1), 1), [1], "something arrived");
    hook.taken();
    assert_eq!(waits(Manner::Answer(200), 1), [0]);
    assert!(!hook.bodies().is_empty(), "what was refused is kept");
}

#[test]
fn two_processes_deliver_once_between_them() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["webhook"]);
    round(&world, &service);
    let hook = Hook::new();
    hook.behave(Manner::Hold);
    let (mut one, mut other) =
        (to_webhook(&service, hook.address()), to_webhook(&process(&world, &[]), hook.address()));
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| look(&mut one));
        hook.wait_for_request();
        assert_eq!(look(&mut other), Look::HeldElsewhere);
        hook.behave(Manner::Answer(200));
        assert_eq!(looking.join().unwrap(), Look::Done);
    });
    assert_eq!(look(&mut other), Look::Done);
    assert_eq!(told(&hook.bodies()), audited(&world));
}

#[test]
fn file_gets_what_a_webhook_that_is_down_does_not_and_figures_say_so() {
    let world = World::new();
    fill(&world);
    let service = process(&world, &["file", "webhook"]);
    round(&world, &service);
    let path = world.folder().join("events.jsonl");
    let place: Box<dyn EventPlace> = Box::new(EventFile::new(path.clone()));
    assert_eq!(look(&mut Delivery::new(service.clone(), place)), Look::Done);
    let lines: Vec<String> = std::fs::read_to_string(&path).unwrap().lines().map(ToOwned::to_owned).collect();
    assert_eq!(told(&lines), audited(&world));
    let waiting = service.rounds_overview().unwrap().events_waiting;
    assert_eq!(waiting.into_iter().collect::<Vec<_>>(), [("file".into(), 0), ("webhook".into(), lines.len() as i64)]);
}
