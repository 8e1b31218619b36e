//! A database of its own with a clock that stands still, and a client that notes what it hears.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError as ClientError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use rootset_mcp::{McpOptions, McpServer, StdioError};
use rootset_model::Timestamp;
use rootset_service::{Caller, Clock, CodeSettings, FrontEnd, Ids, Service, Settings};
use rootset_testing::{HeldWriters, TestDatabase, off_runtime};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// 2027-01-15T08:00:00Z.
const NOW_MS: i64 = 1_800_000_000_000;
pub const CLIENT: &str = "test-client";

#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOW_MS)
    }

    fn elapsed_ms(&self) -> i64 {
        0
    }
}

#[derive(Debug)]
struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn next(&self, _: Timestamp) -> [u8; 16] {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&[0x01, 0x90, 0, 0, 0, 0, 0x70, 0]);
        id[8..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        id[8] = 0x80;
        id
    }
}

pub struct World {
    database: TestDatabase,
    pub service: Arc<Service>,
}

impl World {
    pub fn new() -> Self {
        let database = TestDatabase::new();
        let mut settings = Settings {
            code: CodeSettings { roots: Some(vec![database.folder().to_owned()]), ..CodeSettings::default() },
            ..Settings::default()
        };
        settings.backup.folder = Some(database.folder().join("rootset.db.backups"));
        let service = off_runtime(|| Service::new_at(database.open(), settings, Arc::new(StoppedClock)).unwrap());
        let service = service.with_ids(Arc::new(CountedIds(AtomicU64::new(1))));
        Self { database, service: Arc::new(service) }
    }

    pub fn folder(&self) -> PathBuf {
        self.database.folder().canonicalize().unwrap()
    }

    /// A repository of so many small files.
    pub fn repository(&self, files: usize) -> String {
        let folder = self.folder().join("repository");
        std::fs::create_dir(&folder).unwrap();
        for number in 0..files {
            let source = format!("def function_{number}():\n    return function_{}()\n", number / 2);
            std::fs::write(folder.join(format!("module_{number}.py")), source).unwrap();
        }
        folder.display().to_string()
    }

    /// As the server calls it for its client.
    pub fn caller(&self) -> Caller {
        Caller::new(FrontEnd::Mcp, CLIENT, "home")
    }

    #[track_caller]
    pub fn call(&self, operation: &str, request: Value) -> Value {
        let answer = off_runtime(|| self.service.call(&self.caller(), operation, request));
        answer.unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    }

    /// The same at a terminal.
    #[track_caller]
    pub fn call_by_person(&self, operation: &str, request: Value) -> Value {
        let person = Caller::new(FrontEnd::CommandLine, "cli", "home");
        let answer = off_runtime(|| self.service.call(&person, operation, request));
        answer.unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    }

    pub fn add(&self, name: &str, text: &str) {
        self.call("add_memory", json!({"name": name, "context": text}));
    }

    pub fn server(&self, options: McpOptions) -> McpServer {
        McpServer::new(self.service.clone(), options)
    }

    /// Serves one end of a pair of pipes; the other one is for the test.
    pub fn serve(&self, options: McpOptions) -> (tokio::io::DuplexStream, Serving) {
        const PIPE_BYTES: usize = 64 * 1024;
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        (ours, serving(self.server(options), theirs))
    }

    /// A client of the protocol as it was, with a handshake.
    pub async fn connect(&self, options: McpOptions, client: TestClient) -> Connection {
        self.connect_by(options, client, ClientLifecycleMode::Initialize).await
    }

    /// A client of revision 2026-07-28.
    pub async fn connect_new(&self, options: McpOptions, client: TestClient) -> Connection {
        let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        self.connect_by(options, client, lifecycle).await
    }

    async fn connect_by(&self, options: McpOptions, client: TestClient, lifecycle: ClientLifecycleMode) -> Connection {
        let (pipe, serving) = self.serve(options);
        let client = client.serve_with_lifecycle(pipe, lifecycle).await.unwrap();
        Connection { client, serving }
    }

    /// Holds back every writer until it is dropped.
    pub fn hold_writers(&self) -> HeldWriters {
        self.database.hold_writers()
    }
}

pub type Serving = JoinHandle<Result<(), StdioError>>;

pub fn serving(server: McpServer, pipe: impl AsyncRead + AsyncWrite + Send + 'static) -> Serving {
    let (read, write) = tokio::io::split(pipe);
    tokio::spawn(rootset_mcp::serve(server, read, write, CancellationToken::new()))
}

pub struct Connection {
    pub client: RunningService<RoleClient, TestClient>,
    pub serving: Serving,
}

impl Connection {
    pub async fn try_call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, ClientError> {
        self.client.call_tool(tool_call(tool, arguments)).await
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        self.try_call(tool, arguments).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// The structured content of a call that succeeds.
    pub async fn answer(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(false), "{tool}: {result:?}");
        result.structured_content.unwrap()
    }

    /// The error object of a call that fails as a tool.
    pub async fn error(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
        result.structured_content.unwrap()["error"].clone()
    }

    /// The client leaves, and the server has ended what it began.
    pub async fn end(self) {
        self.client.cancel().await.unwrap();
        self.serving.await.unwrap().unwrap();
    }
}

pub fn tool_call(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

/// What the client's person says when asked.
#[derive(Clone, Debug)]
pub enum Person {
    /// The client cannot ask anybody.
    Absent,
    Says(ElicitationAction, Value),
}

#[derive(Clone, Debug)]
pub struct TestClient {
    person: Person,
    /// Questions that the person was asked.
    pub asked: Arc<Mutex<Vec<String>>>,
    pub progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl TestClient {
    pub fn alone() -> Self {
        Self { person: Person::Absent, asked: Arc::default(), progress: Arc::default() }
    }

    pub fn with_person(action: ElicitationAction, content: Value) -> Self {
        Self { person: Person::Says(action, content), ..Self::alone() }
    }

    pub fn agreeing() -> Self {
        Self::with_person(ElicitationAction::Accept, json!({"confirm": true}))
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.person {
            Person::Absent => ClientCapabilities::default(),
            Person::Says(..) => ClientCapabilities::builder().enable_elicitation().build(),
        };
        ClientConfig::new(capabilities, Implementation::new(CLIENT, "1.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("not a form") };
        self.asked.lock().unwrap().push(message);
        let Person::Says(action, content) = self.person.clone() else { panic!("nobody can be asked") };
        Ok(ElicitResult::new(action).with_content(content))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(progress);
    }
}
