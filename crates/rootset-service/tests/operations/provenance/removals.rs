//! What agents removed is told of before it is too late.

use std::sync::Arc;

use parking_lot::Mutex;
use rootset_service::scheduler::{Event, RemovalsByAgents, Scheduler, TelemetrySink};
use rootset_service::{GcSettings, Settings};
use serde_json::json;

use super::{agent, call_as};
use crate::harness::{DAY_MS, HOUR_MS, World, array};

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<RemovalsByAgents>>);

impl TelemetrySink for Heard {
    fn emit(&self, event: &Event) {
        if let Event::Removals(event) = event {
            self.0.lock().push(event.clone());
        }
    }
}

fn removed(count: usize) -> World {
    let world = World::new();
    for number in 0..count {
        let name = format!("note-{number}");
        world.add_named(&name, &format!("The note of number {number}."));
        call_as(&world, &agent(), "delete_memory", json!({"memory_id": name}));
    }
    world.add_named("own", "A note that its person removes.");
    world.delete("own");
    world
}

#[test]
fn status_counts_what_agents_removed_and_can_still_be_undone() {
    let world = removed(7);
    let status = world.call("gc_status", json!({}))["removed_by_agents"].clone();
    assert_eq!(status["count"], 7, "what the person removed is not among them");
    assert_eq!(array(&status["names"]), &["note-0", "note-1", "note-2", "note-3", "note-4"].map(|name| json!(name)));
    let runs = world.call("gc_undo", json!({}));
    let first = array(&runs["runs"]).iter().map(|run| run["undo_until"].as_str().unwrap()).min().unwrap().to_owned();
    assert_eq!(status["undo_until"], first);
    world.call("gc_undo", json!({"memory_id": "note-3"}));
    assert_eq!(world.call("gc_status", json!({}))["removed_by_agents"]["count"], 6);
    world.advance_ms(8 * DAY_MS);
    assert_eq!(world.call("gc_status", json!({})).get("removed_by_agents"), None);
}

#[test]
fn the_digest_is_shown_once_a_day_in_each_workspace() {
    let world = removed(2);
    let digest = || world.service.daily_digest(&world.caller).unwrap();
    let first = digest().expect("something to say");
    assert_eq!((first.workspace_id.as_str(), first.removed), ("home", 2));
    assert_eq!(digest(), None);
    world.advance_ms(23 * HOUR_MS);
    assert_eq!(digest(), None);
    world.advance_ms(2 * HOUR_MS);
    assert_eq!(digest().map(|it| it.undo_until), Some(first.undo_until));
    world.advance_ms(8 * DAY_MS);
    assert_eq!(digest(), None, "it is over");
    assert_eq!(World::new().service.daily_digest(&world.caller).unwrap(), None);
}

#[test]
fn an_event_comes_a_day_before_the_first_undo_ends_and_once() {
    let world = removed(3);
    let heard = Arc::new(Heard::default());
    let gc = GcSettings { enabled: true, interval_ms: HOUR_MS, ..GcSettings::default() };
    let scheduler = Scheduler::new(world.process_with(Settings { gc, ..Settings::default() })).with_sink(heard.clone());
    let mut told_at = Vec::new();
    let began = world.now_ms();
    for _ in 0..(8 * 24) {
        scheduler.tick().unwrap();
        let count = heard.0.lock().len();
        if count > told_at.len() {
            told_at.push((world.now_ms() - began) / DAY_MS);
        }
        world.advance_ms(HOUR_MS);
    }
    let events = heard.0.lock().clone();
    assert_eq!((events[0].workspace_id.as_str(), events[0].count), ("home", 3));
    assert_eq!(told_at[0], 6, "of seven days of grace");
    assert!(events.windows(2).all(|pair| pair[0].run_id != pair[1].run_id), "{events:?}");
    let audit = world.call("list_audit", json!({"kinds": ["removals_by_agents"]}));
    assert_eq!(array(&audit["entries"]).len(), events.len());
}
