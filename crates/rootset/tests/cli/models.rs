//! Models that run inside Rootset: fetched from a hub on this machine that behaves well or badly, or taken from a folder.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::sandbox::{Outcome, Sandbox, outcome};

const FILES: [&str; 5] =
    ["config.json", "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors"];
/// SHA-256 of the files above, as scripts/make-tiny-model writes them.
const CHECKSUMS: [&str; 5] = [
    "171331d88aadeed9889d29875f83b565721e2b9d7d99db7464d048a21dfb4e31",
    "b76c7dc553012ec14ee2524e3bfe9381ff49042f38dbaee968be305108b7c3da",
    "88208b32fcbd85768c2b16f3e74934dcfde22d5828e46ef3c4a6e71f25341ce9",
    "264a4c9024efefd99d4e3af12d348ad8ee1fa5d264045f35957fbdbbc8c48969",
    "e122269353b64bf0f7564a999ce4ae932b6f639c45bd3f5588a45d5931f1b6ed",
];

fn tiny_model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rootset-provider/tests/fixtures/tiny-model")
}

/// What a hub does with the weights; other files it always has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Works,
    /// Half of them, then the connection ends.
    CutsOff,
    SendsOthers,
    HasNone,
    Fails,
    NeverEnds,
}

/// A hub on this machine that notes what it is asked for.
struct FakeHub {
    address: String,
    mood: Arc<Mutex<Mood>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeHub {
    fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (mood, asked) = (Arc::new(Mutex::new(mood)), Arc::new(Mutex::new(Vec::new())));
        let (its_mood, its_asked) = (mood.clone(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mood = *its_mood.lock().expect("the mood");
                its_asked.lock().expect("the list").push(answer(stream, mood));
            }
        });
        Self { address, mood, asked }
    }

    fn set(&self, mood: Mood) {
        *self.mood.lock().expect("the mood") = mood;
    }

    /// Files and ranges, as they were asked for.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("the list"))
    }
}

fn answer(mut stream: TcpStream, mood: Mood) -> String {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let from = headers.iter().find_map(|line| {
        let (name, value) = line.split_once(": bytes=")?;
        name.eq_ignore_ascii_case("range").then(|| value.trim_end_matches('-').parse::<usize>().ok())?
    });
    let path = request.split(' ').nth(1).unwrap_or_default();
    let file = path.strip_prefix("/someone/tiny/resolve/main/").unwrap_or_default();
    let is_weights = file.ends_with("safetensors");
    let Ok(mut bytes) = std::fs::read(tiny_model().join(file)) else {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return file.to_owned();
    };
    let status = match mood {
        Mood::HasNone if is_weights => "404 Not Found",
        Mood::Fails if is_weights => "503 Busy",
        _ if from.is_some() => "206 Partial Content",
        _ => "200 OK",
    };
    if is_weights && mood == Mood::SendsOthers {
        bytes.reverse();
    }
    if is_weights && mood == Mood::NeverEnds {
        bytes.extend_from_slice(&[0; 4_096]);
    }
    let body = &bytes[from.unwrap_or_default()..];
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let sent = if is_weights && mood == Mood::CutsOff { &body[..body.len() / 2] } else { body };
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
    match from {
        Some(from) => format!("{file} from {from}"),
        None => file.to_owned(),
    }
}

/// What a manifest says of the tiny model.
fn manifest() -> Value {
    let files: Vec<Value> = FILES
        .iter()
        .zip(CHECKSUMS)
        .map(|(name, checksum)| {
            let bytes = std::fs::metadata(tiny_model().join(name)).expect("a file of the model").len();
            json!({"name": name, "bytes": bytes, "sha256": checksum})
        })
        .collect();
    json!({
        "name": "tiny", "about": "for tests", "licence": "CC0-1.0", "place": "someone/tiny/resolve/main", "files": files,
    })
}

fn get(sandbox: &Sandbox, hub: &FakeHub, arguments: &[&str]) -> Outcome {
    sandbox.write("tiny.json", manifest().to_string());
    let mut command = sandbox.command();
    command.env("ROOTSET_MODELS__HUB", &hub.address).args(["model", "get", "--manifest", "tiny.json"]);
    outcome(command.args(arguments))
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.sqlite_file().with_file_name("models")
}

fn add_tiny(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    outcome(sandbox.command().args(["model", "add"]).arg(tiny_model()).args(more))
}

#[test]
fn a_model_is_fetched_once_after_its_size_and_licence_were_shown() {
    let sandbox = Sandbox::without_server();
    let hub = FakeHub::start(Mood::Works);
    let refused = get(&sandbox, &hub, &[]);
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("licence: CC0-1.0") && refused.stderr.contains("--yes"), "{refused:?}");
    assert!(refused.stderr.contains("fetch 1") && refused.stderr.contains("127.0.0.1"), "{refused:?}");
    assert_eq!(hub.asked(), Vec::<String>::new(), "nothing is fetched without a yes");
    let got = get(&sandbox, &hub, &["--yes"]);
    assert_eq!(got.status, Some(0), "{got:?}");
    assert!(got.stdout.contains("8 dimensions") && got.stdout.contains("`embed.provider` to `local`"), "{got:?}");
    assert_eq!(hub.asked(), FILES);
    let again = get(&sandbox, &hub, &["--yes", "--json"]);
    assert_eq!(again.error_code(), "conflict");
    assert_eq!(hub.asked(), Vec::<String>::new());
    let listed = sandbox.run(["model", "list", "--json"]).json();
    assert_eq!((&listed["models"][0]["name"], &listed["models"][0]["dimension"]), (&json!("tiny"), &json!(8)));
    assert_eq!(listed["can_be_fetched"][0]["name"], "all-minilm-l6-v2");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder(&sandbox)).expect("the folder").permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else may look into it");
    }
    let removed = sandbox.run(["model", "remove", "tiny", "--yes"]);
    assert_eq!((removed.status, removed.stdout.as_str()), (Some(0), "removed tiny\n"));
    assert!(!folder(&sandbox).join("tiny").exists());
}

#[test]
fn a_download_that_was_cut_off_goes_on_where_it_stopped() {
    let sandbox = Sandbox::without_server();
    let hub = FakeHub::start(Mood::CutsOff);
    let cut = get(&sandbox, &hub, &["--yes"]);
    assert_eq!(cut.status, Some(2));
    assert!(cut.stderr.contains("ended after 4996 of 9992 bytes") && cut.stderr.contains("goes on"), "{cut:?}");
    assert!(!folder(&sandbox).join("tiny").exists(), "what is not whole has no name");
    assert!(sandbox.run(["model", "list"]).stdout.contains("no model is here"));
    hub.asked();
    hub.set(Mood::Works);
    assert_eq!(get(&sandbox, &hub, &["--yes"]).status, Some(0));
    assert_eq!(hub.asked(), ["model.safetensors from 4996"], "what was there is not fetched again");
    hub.set(Mood::CutsOff);
    sandbox.run(["model", "remove", "tiny", "--yes"]);
    get(&sandbox, &hub, &["--yes"]);
    assert!(folder(&sandbox).join(".tiny.part").exists());
    assert_eq!(sandbox.run(["model", "remove", "tiny", "--yes"]).status, Some(0));
    assert_eq!(std::fs::read_dir(folder(&sandbox)).expect("the folder").count(), 0, "nothing is left of it");
}

#[test]
fn what_is_not_the_file_it_should_be_is_thrown_away() {
    for (mood, says, code) in [
        (Mood::SendsOthers, "is not the file it should be: its checksum is", "internal"),
        (Mood::NeverEnds, "is larger than its 9992 bytes", "internal"),
        (Mood::HasNone, "has no `someone/tiny/resolve/main/model.safetensors`", "not_found"),
        (Mood::Fails, "answered with status 503", "internal"),
    ] {
        let sandbox = Sandbox::without_server();
        let hub = FakeHub::start(mood);
        let failed = get(&sandbox, &hub, &["--yes", "--json"]);
        assert_eq!(failed.error_code(), code, "{mood:?}: {failed:?}");
        let message = failed.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains(says), "{mood:?}: {message}");
        assert!(!folder(&sandbox).join("tiny").exists());
        hub.set(Mood::Works);
        hub.asked();
        assert_eq!(get(&sandbox, &hub, &["--yes"]).status, Some(0), "{mood:?}");
        assert_eq!(hub.asked(), ["model.safetensors"], "{mood:?}: from the beginning");
    }
}

#[test]
fn a_manifest_leads_nowhere_else() {
    let sandbox = Sandbox::without_server();
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut manifest = manifest();
        change(&mut manifest);
        sandbox.write("bad.json", manifest.to_string());
        let refused = sandbox.run(["model", "get", "--manifest", "bad.json", "--yes"]);
        assert!(refused.status == Some(1) && refused.stderr.contains(expected), "{expected}: {refused:?}");
    };
    check(&|it| it["name"] = json!("../tiny"), "is not the name of a model");
    check(&|it| it["place"] = json!("someone/../../x"), "`place` must be a path below the hub's address");
    check(&|it| it["files"][0]["name"] = json!("../../evil"), "`files` names `../../evil`");
    check(&|it| it["files"][0]["sha256"] = json!("12"), "64 digits in lower-case hex");
    check(&|it| it["files"][0]["bytes"] = json!(u64::MAX), "must be 1 to");
    check(&|it| it["more"] = json!(1), "bad.json`: it");
    assert!(!folder(&sandbox).exists(), "nothing was begun");
}

#[test]
fn a_folder_is_copied_or_linked_after_it_was_checked() {
    let sandbox = Sandbox::without_server();
    let copied = add_tiny(&sandbox, &["--name", "copy"]);
    assert!(copied.status == Some(0) && copied.stdout.contains("copy: 1"), "{copied:?}");
    assert!(!folder(&sandbox).join("copy/expected.jsonl").exists(), "only files of the model are taken");
    assert_eq!(add_tiny(&sandbox, &["--link"]).status, Some(0));
    let linked = folder(&sandbox).join("tiny-model");
    assert!(linked.is_symlink());
    let taken = add_tiny(&sandbox, &["--json"]);
    assert_eq!(taken.error_code(), "conflict");
    assert_eq!(sandbox.run(["model", "remove", "tiny-model", "--yes"]).status, Some(0));
    assert!(!linked.is_symlink() && tiny_model().join("config.json").exists(), "only the link goes");
    sandbox.write("broken/config.json", "{}");
    let broken = sandbox.run(["model", "add", "broken"]);
    assert!(broken.status == Some(1) && broken.stderr.contains("config.json`: `model_type` is ``"), "{broken:?}");
    for name in ["..", ".hidden", "a/b", ""] {
        assert_eq!(sandbox.run(["model", "remove", name, "--yes"]).status, Some(1), "{name:?}");
    }
    assert!(sandbox.run(["model", "remove", "nothing", "--yes"]).stderr.contains("there is no model `nothing`"));
    assert!(sandbox.run(["model", "get", "nothing"]).stderr.contains("known: `all-minilm-l6-v2`"));
}

#[test]
fn memories_get_their_vectors_from_the_model_and_search_works_without_it() {
    let sandbox = Sandbox::without_server();
    sandbox.write(sandbox.own_configuration(), "[embed]\nprovider = \"local\"\nmodel = \"tiny\"\n");
    let added = sandbox.run(["add", "The server token is rotated every Monday.", "--name", "rotation"]);
    assert_eq!(added.status, Some(0), "{added:?}");
    assert!(added.stderr.contains("hint: `rootset model get tiny`"), "{added:?}");
    let found = sandbox.run(["search", "token", "--json"]);
    assert_eq!(found.json()["results"][0]["name"], "rotation", "{found:?}");
    let status = sandbox.run(["gc", "status", "--json"]).json();
    assert_eq!((&status["vectors"]["chunks"], &status["vectors"]["embedded"]), (&json!(1), &json!(0)));
    assert!(status["vectors"]["last_error"].as_str().is_some_and(|it| it.contains("rootset model get")), "{status}");
    assert_eq!(add_tiny(&sandbox, &["--name", "tiny"]).status, Some(0));
    assert!(sandbox.run(["model", "list"]).stdout.contains("in use"));
    let second = sandbox.run(["add", "Red and green.", "--name", "colours"]);
    assert!(second.status == Some(0) && !second.stderr.contains("rootset model get"), "{second:?}");
    let status = sandbox.run(["gc", "status", "--json"]).json();
    assert!(status["vectors"]["embedder"].as_str().is_some_and(|it| it.starts_with("local:tiny:")), "{status}");
    // The first memory is tried again a few seconds after it failed.
    assert!(status["vectors"]["embedded"].as_i64() >= Some(1), "{status}");
    let found = sandbox.run(["search", "token", "--json"]).json();
    assert_eq!(found["signals"], json!(["lexical", "graph", "vectors"]), "{found}");
}
