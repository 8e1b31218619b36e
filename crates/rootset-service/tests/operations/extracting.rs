//! Remote extraction: a memory is never lost, never complete with nothing extracted, and found by its text meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use rootset_model::{Content, Extraction};
use rootset_provider::{AnswerFault, AnswerPart, EndpointSettings, Extractor, OpenAiExtractor, ProviderError};
use serde_json::{Value, json};

use crate::harness::{HOUR_MS, World, array, text_of};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Works,
    Answers500,
    TimesOut,
    AnswersProse,
    AnswersHalf,
    /// Until the mood changes.
    Blocks,
}

/// An extractor that a test can spoil and repair.
#[derive(Debug)]
struct Moody {
    mood: Mutex<Mood>,
    changed: Condvar,
    calls: Mutex<usize>,
}

impl Moody {
    fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self { mood: Mutex::new(mood), changed: Condvar::new(), calls: Mutex::new(0) })
    }

    fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
        self.changed.notify_all();
    }

    fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }
}

impl Extractor for Moody {
    fn id(&self) -> &str {
        "moody"
    }

    fn version(&self) -> i64 {
        1
    }

    fn is_local(&self) -> bool {
        false
    }

    fn extract(&self, content: &Content) -> Result<Extraction, ProviderError> {
        *self.calls.lock().unwrap() += 1;
        let mut mood = self.mood.lock().unwrap();
        while *mood == Mood::Blocks {
            mood = self.changed.wait(mood).unwrap();
        }
        let host = || "moody".to_owned();
        let (line, column, part) = (1, 1, AnswerPart::Message);
        match *mood {
            Mood::Works | Mood::Blocks => Ok(rootset_text::extract::extract(content)),
            Mood::Answers500 => Err(ProviderError::Status { host: host(), status: 500, retry_after_ms: None }),
            Mood::TimesOut => Err(ProviderError::TimedOut { host: host(), limit_ms: 60_000 }),
            Mood::AnswersProse => {
                Err(ProviderError::Answer { host: host(), fault: AnswerFault::NotJson { part, line, column } })
            }
            Mood::AnswersHalf => {
                Err(ProviderError::Answer { host: host(), fault: AnswerFault::CutJson { part, line, column } })
            }
        }
    }
}

#[test]
fn a_failed_extraction_leaves_the_memory_pending_and_a_retry_completes_it() {
    for mood in [Mood::Answers500, Mood::TimesOut, Mood::AnswersProse, Mood::AnswersHalf] {
        let extractor = Moody::new(mood);
        let world = World::with_extractor(extractor.clone());
        let added = world.call("add_memory", json!({"name": "note", "context": "SharedThing uses OneThing."}));
        assert_eq!((&added["status"], &added["created"]), (&json!("pending"), &json!(true)), "{mood:?}");
        assert_eq!(array(&added["errors"]).len(), 1, "{added}");
        let read = world.look("note");
        assert_eq!(read["status"], "pending");
        assert_eq!(text_of(&read["last_error"]), text_of(&added["errors"][0]));
        assert_eq!((&read["attempts"], &read["entity_count"]), (&json!(1), &json!(0)));
        assert_eq!(world.found("OneThing"), ["note"], "its text is found meanwhile");
        assert_eq!(world.listed(json!({"status": "pending"})), ["note"]);
        assert_eq!(world.entities(), Vec::<String>::new());
        world.assert_doctor_is_content();

        assert!(!world.service.complete_one_pending().unwrap(), "not before the back-off is over");
        world.advance_ms(HOUR_MS);
        assert!(world.service.complete_one_pending().unwrap());
        assert_eq!(world.look("note")["attempts"], 2);
        extractor.set(Mood::Works);
        world.advance_ms(HOUR_MS);
        assert!(world.service.complete_one_pending().unwrap());
        let read = world.look("note");
        assert_eq!((&read["status"], &read["entity_count"]), (&json!("complete"), &json!(2)));
        assert!(read.get("last_error").is_none() && read.get("attempts").is_none(), "{read}");
        assert_eq!(read["version"], 1, "completing is part of the add");
        assert_eq!(world.entities(), ["OneThing", "SharedThing"]);
        assert!(!world.service.complete_one_pending().unwrap(), "there is nothing left to do");
        world.assert_doctor_is_content();
    }
}

#[test]
fn adding_the_same_content_again_resumes_the_work() {
    let extractor = Moody::new(Mood::Answers500);
    let world = World::with_extractor(extractor.clone());
    let first = world.call("add_memory", json!({"context": "SharedThing uses OneThing."}));
    extractor.set(Mood::Works);
    let again = world.call("add_memory", json!({"context": "SharedThing uses OneThing."}));
    assert_eq!((&again["memory_id"], &again["created"]), (&first["memory_id"], &json!(false)));
    assert_eq!((&again["status"], &again["entities_created"]), (&json!("complete"), &json!(2)));
}

#[test]
fn a_slow_model_is_waited_for_only_a_while_and_the_work_goes_on() {
    let extractor = Moody::new(Mood::Blocks);
    let world = World::with_extractor(extractor.clone());
    let added = world.call("add_memory", json!({"name": "note", "context": "SharedThing uses OneThing."}));
    assert_eq!((&added["status"], &added["errors"]), (&json!("pending"), &json!([])));
    assert_eq!(world.found("OneThing"), ["note"]);
    // Another process must not start the same work while the lease holds.
    assert!(!world.second_process().complete_one_pending().unwrap());
    let again = world.call("add_memory", json!({"context": "SharedThing uses OneThing."}));
    assert_eq!(again["status"], "pending");
    assert_eq!(extractor.calls(), 1);
    extractor.set(Mood::Works);
    world.service.finish().unwrap();
    assert_eq!(world.look("note")["status"], "complete");
    assert_eq!(extractor.calls(), 1);
}

#[test]
fn a_crash_between_the_phases_is_picked_up_by_the_next_start() {
    let extractor = Moody::new(Mood::Blocks);
    let mut world = World::with_extractor(extractor.clone());
    world.call("add_memory", json!({"name": "note", "context": "SharedThing uses OneThing."}));
    let crashed = world.service.clone();
    world.restart(|service| service);
    assert!(!world.service.complete_one_pending().unwrap(), "the lease of the dead process still holds");
    world.advance_ms(HOUR_MS);
    assert!(world.service.complete_one_pending().unwrap());
    assert_eq!(world.look("note")["entity_count"], 2);
    let before = world.dump("home");
    // The dead come back: what they bring is too late and changes nothing.
    extractor.set(Mood::Works);
    crashed.finish().unwrap();
    assert_eq!(world.dump("home"), before);
    world.assert_doctor_is_content();
}

#[test]
fn a_failed_extraction_of_an_update_leaves_the_old_text_and_graph_in_place() {
    let extractor = Moody::new(Mood::Works);
    let world = World::with_extractor(extractor.clone());
    world.call("add_memory", json!({"name": "note", "topic": "T", "context": "SharedThing uses OneThing."}));
    extractor.set(Mood::Answers500);
    let answer = world.call("update_memory", json!({"memory_id": "note", "context": "SharedThing uses TwoThing."}));
    assert_eq!((&answer["reextracted"], &answer["revision"]), (&json!(false), &json!(1)));
    assert_eq!((&answer["version"], array(&answer["errors"]).len()), (&json!(2), 1));
    let read = world.look("note");
    assert_eq!((&read["status"], &read["pending_revision"]), (&json!("pending"), &json!(2)));
    assert_eq!(read["context"], "SharedThing uses OneThing.");
    assert_eq!(world.entities(), ["OneThing", "SharedThing"]);
    assert_eq!(world.look_with(json!({"memory_id": "note", "revision": 2}))["context"], "SharedThing uses TwoThing.");
    // The accepted text is the memory's content already: it is a duplicate, and the old text is free again.
    let same = world.call("add_memory", json!({"topic": "T", "context": "SharedThing uses TwoThing."}));
    assert_eq!(same["created"], false);
    world.assert_doctor_is_content();
    extractor.set(Mood::Works);
    world.advance_ms(HOUR_MS);
    assert!(world.service.complete_one_pending().unwrap());
    assert_eq!(world.entities(), ["SharedThing", "TwoThing"]);
    let read = world.look("note");
    assert_eq!((&read["version"], &read["revision"]), (&json!(2), &json!(2)), "one accepted update, one version");
    world.assert_doctor_is_content();
}

#[test]
fn deleting_a_pending_memory_cancels_its_job_and_undo_brings_it_back() {
    let extractor = Moody::new(Mood::Answers500);
    let world = World::with_extractor(extractor.clone());
    world.call("add_memory", json!({"name": "note", "context": "SharedThing uses OneThing."}));
    let run = world.delete("note");
    extractor.set(Mood::Works);
    world.advance_ms(HOUR_MS);
    assert!(!world.service.complete_one_pending().unwrap());
    assert_eq!(extractor.calls(), 1);
    world.assert_doctor_is_content();
    world.call("gc_undo", json!({ "run_id": run }));
    assert!(world.service.complete_one_pending().unwrap());
    assert_eq!(world.look("note")["status"], "complete");
}

#[test]
fn erase_previous_of_a_pending_update_happens_when_it_completes_also_after_an_undo() {
    let extractor = Moody::new(Mood::Works);
    let world = World::with_extractor(extractor.clone());
    world.call("add_memory", json!({"name": "note", "context": "zyxwaardvark is private."}));
    extractor.set(Mood::Answers500);
    let request = json!({"memory_id": "note", "topic": "t", "context": "harmless", "erase_previous": true});
    world.call("update_memory", request);
    assert!(!world.places_with(b"zyxwaardvark").is_empty());
    let run = world.delete("note");
    world.call("gc_undo", json!({ "run_id": run }));
    extractor.set(Mood::Works);
    world.advance_ms(HOUR_MS);
    assert!(world.service.complete_one_pending().unwrap());
    assert_eq!(world.look("note")["context"], "harmless");
    assert_eq!(world.places_with(b"zyxwaardvark"), Vec::<String>::new());
    world.assert_doctor_is_content();
}

#[test]
fn batches_with_a_remote_model_are_pending_until_the_worker_comes() {
    let extractor = Moody::new(Mood::Works);
    let world = World::with_extractor(extractor);
    let many: Vec<Value> =
        (0..5).map(|number| json!({"context": format!("SharedThing uses Thing{number}X.")})).collect();
    world.call("add_memories", json!({ "memories": many }));
    while world.service.complete_one_pending().unwrap() {}
    assert_eq!(world.listed(json!({"status": "complete"})).len(), 5);
    assert_eq!(world.entity("SharedThing")["refcount"], 5);
    world.assert_doctor_is_content();
}

/// A chat endpoint that gives one scripted answer per connection.
fn endpoint(answers: Vec<(u16, String)>) -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            read_request(&stream);
            let length = body.len();
            let head = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    (url, thread)
}

fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) =
            line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        {
            assert!(!name.is_empty());
            length = value.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
}

fn completion(content: &str) -> String {
    json!({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}).to_string()
}

#[test]
fn a_real_endpoint_that_fails_first_and_answers_later_completes_the_memory() {
    let extraction = json!({
        "entities": [
            {"name": "Falcon", "type": "project", "description": "A project."},
            {"name": "Redis", "type": "database", "description": "A cache."},
        ],
        "relations": [{"source": "Falcon", "relation": "uses", "target": "Redis"}],
    });
    let (url, server) = endpoint(vec![
        (500, "{}".into()),
        (200, completion("Certainly! Here are the entities.")),
        (200, completion(&extraction.to_string()[..40])),
        (200, completion(&extraction.to_string())),
    ]);
    let settings = EndpointSettings { attempts_max: 1, timeout_ms: 5_000, ..EndpointSettings::new(url, "m") };
    let extractor = OpenAiExtractor::new(settings).unwrap();
    let world = World::with_extractor(Arc::new(extractor));
    let added = world.call("add_memory", json!({"name": "note", "context": "Falcon uses Redis."}));
    assert_eq!(added["status"], "pending");
    assert!(text_of(&world.look("note")["last_error"]).contains("500"));
    for part in ["not JSON", "middle"] {
        world.advance_ms(HOUR_MS);
        assert!(world.service.complete_one_pending().unwrap());
        let read = world.look("note");
        assert_eq!((&read["status"], &read["entity_count"]), (&json!("pending"), &json!(0)));
        let error = text_of(&read["last_error"]);
        assert!(error.contains(part) && !error.contains("Certainly") && !error.contains("Falcon"), "{error}");
    }
    world.advance_ms(HOUR_MS);
    assert!(world.service.complete_one_pending().unwrap());
    server.join().unwrap();
    assert_eq!(world.entities(), ["Falcon", "Redis"]);
    assert_eq!(world.entity("Falcon")["relations"][0]["relation"], "uses");
    world.assert_doctor_is_content();
}

#[test]
fn a_forget_finds_the_text_that_is_served_and_the_one_that_is_pending() {
    let extractor = Moody::new(Mood::Works);
    let world = World::with_extractor(extractor.clone());
    world.call("add_memory", json!({"name": "note", "topic": "t", "context": "walrus"}));
    extractor.set(Mood::Answers500);
    world.call("update_memory", json!({"memory_id": "note", "context": "penguin"}));
    for word in ["walrus", "penguin"] {
        assert_eq!(world.call("forget", json!({ "query": word }))["matched"], 1, "{word}");
    }
}
