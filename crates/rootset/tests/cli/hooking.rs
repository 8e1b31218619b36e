//! `rootset hook` as a client calls it: it answers or is silent, and never stands in the way.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::sandbox::{Outcome, Sandbox};

fn hook(sandbox: &Sandbox, event: &str) -> Outcome {
    sandbox.run_with_input(["hook", "claude-code"], event)
}

fn start(sandbox: &Sandbox) -> String {
    let folder = sandbox.work().display().to_string();
    serde_json::json!({"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": folder})
        .to_string()
}

#[track_caller]
fn is_silent(outcome: &Outcome) {
    assert_eq!((outcome.status, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), "", ""));
}

// On a server, where several people write, a note says who instead of `you`.
#[test]
fn hook_answers_with_the_brief_and_explain_shows_what_it_did_on_sqlite() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "--name", "deploys", "Never deploy on Fridays."]);
    let answer = hook(&sandbox, &start(&sandbox));
    let context = answer.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(context.contains("- deploys · you, ") && answer.stderr.is_empty(), "{answer:?}");
    let explained = sandbox.run(["hook", "--explain"]);
    assert!(explained.stdout.contains("told the brief") && explained.stdout.contains(": deploys"), "{explained:?}");
    assert!(explained.stdout.contains("bill: "), "{explained:?}");
    assert_eq!(sandbox.run(["hook", "--explain", "--json"]).json()["session"]["session_id"], "s1");
}

#[test]
fn hook_is_silent_where_there_is_no_database_and_makes_none() {
    let sandbox = Sandbox::without_server();
    is_silent(&hook(&sandbox, &start(&sandbox)));
    assert!(!sandbox.has_database());
}

#[test]
fn hook_is_silent_about_what_is_no_event() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Never deploy on Fridays."]);
    for nonsense in
        ["", "{", "[]", "\u{0}", r#"{"hook_event_name":"Stop"}"#, r#"{"session_id":"s","hook_event_name":"Later"}"#]
    {
        is_silent(&hook(&sandbox, nonsense));
    }
    is_silent(&sandbox.run_with_input(["hook", "codex"], vec![0xff; 100]));
    let wrong = sandbox.run_with_input(["hook", "nonsense"], "");
    assert!(wrong.status == Some(1) && wrong.stderr.contains("codex"), "{wrong:?}");
}

#[test]
fn hook_never_fails_whatever_became_of_the_sqlite_file() {
    use std::os::unix::fs::PermissionsExt;
    for event in ["SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "SubagentStop", "Stop", "SessionEnd"]
    {
        let sandbox = Sandbox::without_server();
        sandbox.run(["add", "Never deploy on Fridays."]);
        let text = serde_json::json!({"session_id": "s1", "hook_event_name": event, "prompt": "fridays deploy", "cwd": sandbox.work()});
        let check = |what: &str| {
            let outcome = hook(&sandbox, &text.to_string());
            assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{event}: {what}");
            outcome.stdout
        };
        let file = sandbox.sqlite_file();
        let lock = file.with_extension("db.lock");
        let held = std::fs::OpenOptions::new().write(true).open(&lock).unwrap();
        held.lock().unwrap();
        assert_eq!(check("locked"), "", "what cannot be written down is not said");
        drop(held);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o400)).unwrap();
        check("read only");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&file, vec![7; 50_000]).unwrap();
        assert_eq!(check("corrupt"), "");
        std::fs::write(&file, "").unwrap();
        assert_eq!(check("empty"), "");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(check("missing"), "");
        std::fs::create_dir(&file).unwrap();
        assert_eq!(check("a folder"), "");
    }
}

/// What a hook printed before it was killed, so long after it got its event.
fn killed(sandbox: &Sandbox, event: &str, moment: Duration) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rootset"));
    command.env_clear().envs(sandbox.variables()).current_dir(sandbox.work()).args(["hook", "claude-code"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    child.stdin.take().expect("it was piped").write_all(event.as_bytes()).expect("it reads");
    let (sender, printed) = channel();
    let mut stdout = child.stdout.take().expect("it was piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("UTF-8");
        sender.send(text).expect("somebody waits");
    });
    let in_time = printed.recv_timeout(moment).ok();
    let _ = child.kill();
    child.wait().expect("it ends");
    reader.join().expect("it reads to the end");
    in_time.unwrap_or_else(|| printed.recv().expect("it was read"))
}

#[test]
fn a_hook_that_is_killed_loses_nothing_and_what_it_said_is_in_the_ledger() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "--name", "deploys", "Never deploy on Fridays."]);
    let is_known = |session: &str| {
        let ledger = sandbox.run(["hook", "--explain", session, "--json"]).json();
        ledger["session"]["events"].as_array().is_some_and(|events| !events.is_empty())
    };
    let event = |session: &str| start(&sandbox).replace("\"s1\"", &format!("{session:?}"));
    // From before it began to after it is done, wherever that is on this machine.
    let whole = Instant::now();
    assert!(!hook(&sandbox, &event("whole")).stdout.is_empty());
    let whole = whole.elapsed();
    let mut answered = 0;
    for step in 0..24_u32 {
        let session = format!("k{step}");
        let printed = killed(&sandbox, &event(&session), whole * step / 16);
        if printed.contains("Never deploy") {
            answered += 1;
            assert!(is_known(&session), "it spoke of what it did not write down");
        }
    }
    assert!((1..24).contains(&answered), "{answered} of 24 were in time: the moments say nothing");
    assert!(hook(&sandbox, &event("after")).stdout.contains("Never deploy"), "the client goes on");
    let doctor = sandbox.run(["doctor"]);
    assert_eq!(doctor.status, Some(0), "{doctor:?}");
    assert!(sandbox.run(["list"]).stdout.contains("deploys"));
}

#[test]
fn hooks_are_switched_off_by_command_variable_and_setting() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Never deploy on Fridays."]);
    let event = start(&sandbox);
    let speaks = || !hook(&sandbox, &event).stdout.is_empty();
    assert!(speaks());
    for off in [vec!["hooks", "off"], vec!["hooks", "off", "--here"], vec!["hooks", "off", "--here", "--for", "2h"]] {
        sandbox.command().args(&off).assert().success();
        assert!(!speaks(), "{off:?}");
        let status = sandbox.run(["hooks", "status"]);
        assert!(status.stdout.contains("off here: switched off"), "{status:?}");
        assert!(sandbox.run(["hooks", "on"]).stdout.contains("on here"));
        assert!(speaks(), "{off:?}");
    }
    sandbox.run(["hooks", "off", "--for", "0h"]);
    assert!(speaks(), "its time is over");
    let wrong = sandbox.run(["hooks", "off", "--for", "soon"]);
    assert!(wrong.status == Some(1) && wrong.stderr.contains("--for"), "{wrong:?}");
    let mut command = sandbox.command();
    command.env("ROOTSET_HOOKS", "off").args(["hook", "claude-code"]).write_stdin(event.clone());
    assert_eq!(crate::sandbox::outcome(&mut command).stdout, "");
    let folder = sandbox.work().canonicalize().unwrap();
    let setting = format!("[hooks]\nexclude = [\"{}/**\"]\n", folder.display());
    std::fs::create_dir_all(sandbox.own_configuration().parent().unwrap()).unwrap();
    std::fs::write(sandbox.own_configuration(), setting).unwrap();
    assert!(!speaks());
    assert!(sandbox.run(["hooks", "status"]).stdout.contains("hooks.exclude"));
}

#[test]
fn review_keeps_what_the_person_said() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "Something else."]);
    let line = r#"{"type":"user","message":{"role":"user","content":"No, use pnpm."}}"#;
    sandbox.write("s1.jsonl", format!("{line}\n"));
    let path = sandbox.work().join("s1.jsonl");
    let stop = serde_json::json!({"session_id": "s1", "hook_event_name": "Stop", "transcript_path": path, "cwd": sandbox.work()});
    is_silent(&hook(&sandbox, &stop.to_string()));
    let listed = sandbox.run(["review", "--json"]).json();
    assert_eq!(listed["said"][0]["text"], "No, use pnpm.");
    let name = listed["said"][0]["name"].as_str().unwrap().to_owned();
    let kept = sandbox.run(["review", "--keep", &name, "--json"]).json();
    assert_eq!(kept["kept"][0], name.as_str());
    assert!(sandbox.run(["list"]).stdout.contains("No, use pnpm."));
    assert_eq!(sandbox.run(["review", "--json"]).json()["said"], serde_json::json!([]));
}

/// What the real client sent, with its folders replaced; what it sends today is asked by `scripts/agents/hooks_at_work`.
const RECORDED: &str = include_str!("recorded/claude-code-2.1.197.jsonl");

/// The answers to a recorded session, each with the name of its event.
fn replayed(trigger: &str) -> Vec<(String, String)> {
    let sandbox = Sandbox::without_server();
    sandbox.run(["add", "--name", "no-force", "Never force-push to main."]);
    let folder = sandbox.work();
    let said =
        r#"{"type":"user","message":{"role":"user","content":"Staging listens at port 48081. Never restart it."}}"#;
    sandbox.write("44444444-1111-4111-8111-111111111111.jsonl", format!("{said}\n"));
    let answer = |event: &str| {
        let folder = folder.to_str().expect("a path in UTF-8");
        let event = event.replace("$FOLDER", folder).replace("$TRANSCRIPTS", folder);
        let event = event.replace(r#""trigger":"manual""#, &format!(r#""trigger":"{trigger}""#));
        let outcome = hook(&sandbox, &event);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{event}");
        let event: serde_json::Value = serde_json::from_str(&event).expect("an event");
        let source = event["source"].as_str().unwrap_or_default();
        (format!("{}{source}", event["hook_event_name"].as_str().expect("a name")), outcome.stdout)
    };
    RECORDED.lines().map(answer).collect()
}

fn answer_to<'a>(answers: &'a [(String, String)], event: &str) -> &'a str {
    &answers.iter().find(|(name, _)| name == event).expect("the event was recorded").1
}

#[test]
fn a_recorded_session_is_answered_as_its_client_allows() {
    let answers = replayed("manual");
    for (event, answer) in &answers {
        let allows_context =
            ["SessionStart", "UserPromptSubmit", "SubagentStart"].iter().any(|it| event.starts_with(it));
        assert!(allows_context || !answer.contains("hookSpecificOutput"), "{event}: {answer}");
    }
    assert!(answer_to(&answers, "SessionStartstartup").contains("- no-force · you, "));
    assert_eq!(answer_to(&answers, "SessionStartresume"), "");
    let told = answer_to(&answers, "PreCompact");
    assert!(told.contains("Staging listens at port 48081. Never restart it.") && !told.starts_with('{'), "{told}");
    let checked = answer_to(&answers, "SubagentStop");
    assert!(checked.contains("kept 0 of 1 facts; lost: 1 of instructions"), "{checked}");
    // The client itself puts what /compact printed into the next request.
    assert!(!answer_to(&answers, "SessionStartcompact").contains("48081"));
    assert_eq!(answer_to(&answers, "PostCompact"), "", "the summary was checked already");
}

#[test]
fn what_an_automatic_compaction_lost_is_put_back_once() {
    let answers = replayed("auto");
    let put_back = answer_to(&answers, "SessionStartcompact");
    assert!(put_back.contains("the user said · Staging listens at port 48081. Never restart it."), "{put_back}");
    assert!(put_back.contains("- no-force · you, "), "the brief of the new window: {put_back}");
    let all: String =
        answers.iter().filter(|(event, _)| event != "PreCompact").map(|(_, answer)| answer.as_str()).collect();
    assert_eq!(all.matches("48081").count(), 1, "{all}");
}
