//! The server for agents as a process: what it says on which channel, how it finds its workspace, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_id: i64,
}

impl Agent {
    /// In a folder below the sandbox's working folder.
    fn start_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> Self {
        Self::spawned(Self::command(sandbox, folder, arguments))
    }

    fn command(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootset"));
        command
            .env_clear()
            .envs(sandbox.variables())
            .current_dir(sandbox.work().join(folder))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn spawned(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, stdin, stdout, last_id: 0 }
    }

    /// Started and past the handshake; with the answer to it.
    fn begun(sandbox: &Sandbox, arguments: &[&str]) -> (Self, Value) {
        Self::begun_in(sandbox, "", arguments)
    }

    fn begun_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> (Self, Value) {
        Self::greeted(Self::start_in(sandbox, folder, arguments))
    }

    fn greeted(mut agent: Self) -> (Self, Value) {
        let client = json!({"name": "an agent", "version": "1"});
        let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = agent.ask("initialize", parameters);
        agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (agent, answer)
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().expect("open"), "{message}").expect("the server reads");
    }

    fn request(&mut self, method: &str, parameters: Value) {
        self.last_id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters}));
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.request(method, parameters);
        self.read()
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"]["structuredContent"].clone()
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        Command::new("kill").args([signal, &id]).status().expect("a signal");
    }

    /// Closes stdin and answers with the status and what was left on both channels.
    fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.stdin.take());
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).expect("stdout");
        self.child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("stderr");
        (self.child.wait().expect("it ends").code(), stdout, stderr)
    }
}

#[test]
fn a_session_from_first_memory_to_clean_up_says_nothing_but_the_protocol() {
    let sandbox = Sandbox::new();
    let (mut agent, answer) = Agent::begun(&sandbox, &["mcp"]);
    assert_eq!(answer["result"]["serverInfo"]["name"], "rootset", "{answer}");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let tools = agent.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(12), "{tools}");
    agent.call("add_memory", json!({"name": "deploys", "context": "Deploys happen on Fridays."}));
    assert_eq!(agent.call("search_memory", json!({"query": "when are deploys?"}))["results"][0]["name"], "deploys");
    let run = agent.call("forget", json!({"memory_ids": ["deploys"]}))["run_id"].clone();
    assert_eq!(agent.call("gc_undo", json!({ "run_id": run }))["restored"]["memories"], 1);
    assert_eq!(agent.end(), (Some(0), String::new(), String::new()));
    let memory = sandbox.call("get_memory", r#"{"memory_id": "deploys"}"#);
    assert_eq!((&memory["written_by"], &memory["source"]), (&json!("an-agent"), &json!("agent")));
}

#[test]
fn profiles_choose_the_tools_and_unknown_ones_are_refused_before_anything_starts() {
    let sandbox = Sandbox::new();
    let (mut agent, _) = Agent::begun(&sandbox, &["mcp", "--profile", "context,core"]);
    let tools = agent.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(tools.contains("\"context_add\"") && tools.contains("\"add_memory\"") && !tools.contains("\"doctor\""));
    let sandbox = Sandbox::new();
    let (mut agent, _) = Agent::begun(&sandbox, &["mcp", "--profile", "admin"]);
    let tools = agent.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(tools.contains("\"list_tokens\"") && !tools.contains("\"create_token\""));
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["mcp", "--profile", "everything"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(1), ""), "{outcome:?}");
    assert!(outcome.stderr.contains("allowed: core, context, code, admin, full"), "{outcome:?}");
    assert!(!sandbox.has_database());
}

#[test]
fn the_workspace_follows_the_repository_and_is_made_when_it_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
    for _ in 0..2 {
        let (mut agent, answer) = Agent::begun(&sandbox, &["mcp", "--workspace", "auto"]);
        let instructions = answer["result"]["instructions"].as_str().expect("instructions");
        assert!(instructions.contains("workspace `work`"), "{instructions}");
        agent.call("add_memory", json!({"context": "It lives in its own workspace."}));
        assert_eq!(agent.end().0, Some(0));
    }
    assert_eq!(sandbox.call("list_memories", r#"{"workspace_id": "work"}"#)["total"], 1);
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 1, "a person in the same folder sees the same");
    assert_eq!(sandbox.call("list_memories", r#"{"workspace_id": "home"}"#)["total"], 0);
}

#[test]
fn a_person_sees_what_the_agent_stored_and_a_second_folder_of_the_same_name_sees_nothing() {
    let sandbox = Sandbox::new();
    for folder in ["clientA/api", "clientB/api"] {
        sandbox.write(format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    let installed = ["mcp", "--workspace", "auto", "--only-workspace", "auto"];
    let (mut first, _) = Agent::begun_in(&sandbox, "clientA/api", &installed);
    first.call("add_memory", json!({"name": "policy", "context": "The password policy of client A."}));
    assert_eq!(first.end().0, Some(0));
    let listed = sandbox.run_in("clientA/api", ["list"]);
    assert!(listed.stdout.contains("policy") && listed.stderr.contains("1 memory"), "{listed:?}");

    let (mut second, answer) = Agent::begun_in(&sandbox, "clientB/api", &installed);
    let told = answer["result"]["instructions"].as_str().expect("instructions").to_owned();
    assert!(told.contains("workspace `api-2`"), "{told}");
    assert_eq!(second.call("search_memory", json!({"query": "password"}))["results"], json!([]));
    let refused = second.call("search_memory", json!({"query": "password", "workspace_id": "api"}));
    assert_eq!(refused["error"]["code"], "not_found", "{refused}");
    second.end();
    let empty = sandbox.run_in("clientB/api", ["list"]);
    assert!(empty.stderr.contains("0 memories in api-2; 1 in api"), "{empty:?}");

    let linked = sandbox.run_in("clientB/api", ["workspace", "link", "api"]);
    assert_eq!(linked.status, Some(0), "{linked:?}");
    let (mut joined, _) = Agent::begun_in(&sandbox, "clientB/api", &installed);
    assert_eq!(joined.call("search_memory", json!({"query": "password"}))["results"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_project_that_the_client_names_comes_before_the_folder_it_was_started_in() {
    let sandbox = Sandbox::new();
    sandbox.write("falcon/.git/HEAD", "ref: refs/heads/main\n");
    let named = sandbox.work().join("falcon");
    let mut command = Agent::command(&sandbox, "", &["mcp"]);
    command.env("CLAUDE_PROJECT_DIR", &named);
    let (_agent, answer) = Agent::greeted(Agent::spawned(command));
    assert!(
        answer["result"]["instructions"].as_str().expect("instructions").contains("workspace `falcon`"),
        "{answer}"
    );
}

/// The server asks for them with the first call; the answer has to come before that of the call.
#[test]
fn the_folders_that_a_client_tells_decide_and_the_first_comes_first() {
    let sandbox = Sandbox::new();
    for project in ["falcon", "my eagle"] {
        sandbox.write(format!("{project}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    let file = |folder: &str| format!("file://{}", sandbox.work().join(folder).display()).replace(' ', "%20");
    let roots = json!([{"uri": "https://example.com/"}, {"uri": file("falcon")}, {"uri": file("my eagle")}]);
    let mut agent = Agent::start_in(&sandbox, "", &["mcp", "--only-workspace", "auto"]);
    let parameters = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "an agent", "version": "1"},
    });
    let told = agent.ask("initialize", parameters)["result"]["instructions"].as_str().expect("text").to_owned();
    assert!(told.contains("first folder") && !told.contains("`home`"), "{told}");
    agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let asked = agent.ask("tools/list", json!({}));
    assert_eq!(asked["method"], "roots/list", "{asked}");
    agent.write(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}}));
    let tools = agent.read();
    let fields = &tools["result"]["tools"][0]["inputSchema"]["properties"];
    assert_eq!(fields["workspace_id"]["description"], "`falcon` (default), `my-eagle`.", "{tools}");
    agent.call("add_memory", json!({"text": "Falcon deploys on Fridays."}));
    agent.call("add_memory", json!({"text": "Eagle is older.", "workspace_id": "my-eagle"}));
    let refused = agent.call("search_memory", json!({"query": "x", "workspace_id": "home"}));
    assert_eq!(refused["error"]["code"], "not_found", "{refused}");
    agent.end();
    for project in ["falcon", "my eagle"] {
        assert_eq!(sandbox.run_in(project, ["list", "--json"]).json()["total"], 1, "{project}");
    }
}

#[test]
fn a_named_workspace_is_stronger_than_the_folders_of_a_client() {
    let sandbox = Sandbox::new();
    let mut agent = Agent::start_in(&sandbox, "", &["mcp", "--workspace", "home"]);
    let client = json!({"name": "an agent", "version": "1"});
    let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": client});
    let told = agent.ask("initialize", parameters)["result"]["instructions"].as_str().expect("text").to_owned();
    assert!(told.contains("workspace `home`"), "{told}");
    agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = agent.ask("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "nobody is asked: {listed}");
}

#[test]
fn outside_a_repository_the_automatic_workspace_is_the_default() {
    let sandbox = Sandbox::new();
    let (_agent, answer) = Agent::begun(&sandbox, &["mcp", "--workspace", "auto"]);
    assert!(answer["result"]["instructions"].as_str().expect("instructions").contains("workspace `home`"));
}

#[test]
fn what_only_a_person_may_do_names_the_command_for_this_database() {
    let sandbox = Sandbox::new();
    let (mut agent, _) = Agent::begun(&sandbox, &["mcp", "--profile", "admin", "--db", "agents.db"]);
    let refused = agent.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    assert_eq!(refused["error"]["code"], "confirmation_required", "{refused}");
    let hint = refused["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains("agents.db") && hint.contains("call gc_purge"), "{hint}");
    let command = hint.split('`').nth(1).expect("a command").strip_prefix("rootset ").expect("the program").to_owned();
    agent.end();
    let line = format!("{} {command}", env!("CARGO_BIN_EXE_rootset"));
    let mut shell = Command::new("sh");
    shell.env_clear().envs(sandbox.variables()).args(["-c", &line]).current_dir(sandbox.work());
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{line}: {output:?}");
}

#[test]
fn signals_end_it_well() {
    for signal in ["-TERM", "-INT"] {
        let sandbox = Sandbox::new();
        let (mut agent, _) = Agent::begun(&sandbox, &["mcp"]);
        agent.signal(signal);
        assert_eq!(agent.child.wait().expect("it ends").code(), Some(0), "{signal}");
    }
}

#[test]
fn a_client_that_reads_no_more_ends_it_without_a_word() {
    let sandbox = Sandbox::new();
    let (agent, _) = Agent::begun(&sandbox, &["mcp"]);
    let Agent { mut child, stdin, stdout, .. } = agent;
    drop(stdout);
    let mut stdin = stdin.expect("open");
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).expect("the server reads");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let mut stderr = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("stderr");
    assert_eq!(stderr, "");
    drop(stdin);
}

#[test]
fn a_killed_client_leaves_a_whole_database() {
    let sandbox = Sandbox::new();
    let (mut agent, _) = Agent::begun(&sandbox, &["mcp"]);
    for number in 0..50 {
        agent.request(
            "tools/call",
            json!({"name": "add_memory", "arguments": {"context": format!("Number {number}.")}}),
        );
    }
    // Both pipes at once, as a kill of the client closes them.
    let Agent { mut child, stdin, stdout, .. } = agent;
    drop((stdin, stdout));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(sandbox.call("doctor", "{}")["ok"], true);
}

/// The limit is 100 ms on a machine with nothing else to do, measured by the benchmarks; a test shares its machine.
#[test]
fn the_first_answer_comes_soon_after_the_start() {
    const SOON: Duration = Duration::from_secs(5);
    let sandbox = Sandbox::new();
    let started = Instant::now();
    let (_agent, _) = Agent::begun(&sandbox, &["mcp"]);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[test]
fn logs_go_to_stderr_and_hold_no_content() {
    let sandbox = Sandbox::new();
    let (mut agent, _) = Agent::begun(&sandbox, &["mcp", "-vvv"]);
    agent.call("add_memory", json!({"context": "The vault opens with xylophonemusic."}));
    agent.call("search_memory", json!({"query": "xylophonemusic"}));
    let (status, stdout, stderr) = agent.end();
    assert_eq!((status, stdout.as_str()), (Some(0), ""));
    assert!(!stderr.contains("xylophonemusic"), "{stderr}");
}

fn names(list: &Value) -> Vec<String> {
    let name = |it: &Value| it["name"].as_str().expect("a name").to_owned();
    list.as_array().unwrap_or_else(|| panic!("{list}")).iter().map(name).collect()
}

/// Two workspaces with a memory each; the working folder is a repository, whose workspace is `shop`.
fn two_workspaces() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.call("create_workspace", r#"{"workspace_id": "secret"}"#);
    sandbox.call("add_memory", r#"{"workspace_id": "secret", "name": "vault", "context": "The zyxwaardvark."}"#);
    sandbox
}

#[test]
fn an_agent_that_may_only_read_is_offered_nothing_else() {
    let sandbox = two_workspaces();
    let (mut agent, answer) = Agent::begun(&sandbox, &["mcp", "--read-only", "--profile", "full"]);
    let told = answer["result"]["instructions"].as_str().expect("instructions").to_owned();
    assert!(told.contains("`search_memory`") && !told.contains("`add_memory`"), "{told}");
    let tools = agent.ask("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().expect("tools") {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{}", tool["name"]);
    }
    assert!(names(&tools).contains(&"search_memory".to_owned()));
    assert_eq!(agent.ask("prompts/list", json!({}))["result"]["prompts"], json!([]));
    let refused = agent.call("add_memory", json!({"context": "x"}));
    assert_eq!(refused["error"]["code"], "forbidden", "{refused}");
    let missing = agent.call("get_memory", json!({"memory_id": "nothing"}));
    assert_eq!(missing["error"]["code"], "not_found", "{missing}");
    let outcome = sandbox.run(["mcp", "--read-only", "--scopes", "write"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    let outcome = sandbox.run(["mcp", "--scopes", "everything"]);
    assert!(outcome.stderr.contains("allowed: read, write, destroy, purge, admin"), "{outcome:?}");
}

#[test]
fn other_workspaces_do_not_exist_for_an_agent_of_one() {
    let sandbox = two_workspaces();
    let confined = ["mcp", "--only-workspace", "auto", "--scopes", "read,write,destroy", "--profile", "full"];
    let (mut agent, answer) = Agent::begun_in(&sandbox, "shop", &confined);
    let told = answer["result"]["instructions"].as_str().expect("instructions").to_owned();
    assert!(told.contains("`shop`"), "the only workspace is the current one: {told}");
    agent.call("add_memory", json!({"name": "mine", "context": "The shop sells tea."}));
    let listed = agent.call("list_workspaces", json!({}));
    assert_eq!(listed["workspaces"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["workspaces"][0]["workspace_id"], "shop");
    // The same answer, word by word, as about one that never was.
    let about = |agent: &mut Agent, id: &str| {
        let found = agent.call("search_memory", json!({"workspace_id": id, "query": "zyxwaardvark"}));
        let read = agent.ask("resources/read", json!({"uri": format!("memory://{id}/vault")}));
        let read = json!([read["error"]["code"], read["error"]["message"]]);
        (found.to_string().replace(id, "*"), read.to_string().replace(id, "*"))
    };
    let (secret, nothing) = (about(&mut agent, "secret"), about(&mut agent, "nothing"));
    assert_eq!(secret, nothing);
    assert!(secret.0.contains("not_found"), "{secret:?}");
    let resources = agent.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(names(&resources), ["mine"]);
    let tools = names(&agent.ask("tools/list", json!({}))["result"]["tools"]);
    for hidden in ["doctor", "create_workspace", "backup_list", "gc_purge", "create_token", "set_retention"] {
        assert!(!tools.contains(&hidden.to_owned()), "{hidden}");
    }
    let erase = json!({"memory_id": "mine", "context": "The shop sells coffee.", "erase_previous": true});
    assert_eq!(agent.call("update_memory", erase)["error"]["code"], "forbidden");
    assert_eq!(
        names(&agent.ask("prompts/list", json!({}))["result"]["prompts"]),
        ["review-garbage", "clean-up-context"]
    );

    // Several can be named, and the current one stays where it is among them.
    let several = ["mcp", "--workspace", "secret", "--only-workspace", "shop", "--only-workspace", "secret"];
    let (mut agent, _) = Agent::begun(&sandbox, &several);
    assert_eq!(agent.call("search_memory", json!({"query": "zyxwaardvark"}))["results"][0]["name"], "vault");
    let outcome = sandbox.run(["mcp", "--only-workspace", "Not A Name"]);
    assert!(outcome.status == Some(1) && outcome.stderr.contains("--only-workspace"), "{outcome:?}");
}
