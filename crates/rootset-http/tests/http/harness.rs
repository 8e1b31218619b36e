//! A server with a database, a clock and ids of its own, and two clients: a decent one and one that sends any bytes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use rootset_api::Effect;
use rootset_http::{Access, Ended, Parts, Server, ServerSettings};
use rootset_mcp::{HttpOptions, McpOptions, McpServer, SessionLimits, http_service};
use rootset_model::Timestamp;
use rootset_service::{Caller, Clock, FrontEnd, Ids, Service, Settings};
use rootset_testing::TestDatabase;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// 2027-01-15T08:00:00Z.
pub const START_MS: i64 = 1_800_000_000_000;
/// Nothing here takes long; a test that hangs should say so.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct FixedClock(AtomicI64);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn elapsed_ms(&self) -> i64 {
        0
    }
}

#[derive(Debug)]
struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn next(&self, _: Timestamp) -> [u8; 16] {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let mut id = [0; 16];
        id[..8].copy_from_slice(&[0x01, 0x90, 0, 0, 0, 0, 0x70, 0]);
        id[8..].copy_from_slice(&number.to_be_bytes());
        id[8] = 0x80;
        id
    }
}

/// A database of its own and the service on it.
pub struct World {
    pub database: TestDatabase,
    pub service: Arc<Service>,
    clock: Arc<FixedClock>,
}

impl World {
    pub fn new() -> Self {
        let database = TestDatabase::new();
        let mut settings = Settings::default();
        settings.backup.folder = Some(database.folder().join("rootset.db.backups"));
        let clock = Arc::new(FixedClock(AtomicI64::new(START_MS)));
        let service = Service::new_at(database.open(), settings, clock.clone())
            .expect("a service")
            .with_ids(Arc::new(CountedIds(AtomicU64::new(1))));
        Self { database, service: Arc::new(service), clock }
    }

    /// So that no two things happen at the same time.
    pub fn step(&self) {
        self.clock.0.fetch_add(1_000, Ordering::SeqCst);
    }

    pub fn caller(&self) -> Caller {
        Caller::new(FrontEnd::Http, "admin", "home")
    }

    #[track_caller]
    pub fn call(&self, operation: &str, request: Value) -> Value {
        self.service.call(&self.caller(), operation, request).expect("the call is good")
    }
}

/// The three tokens of every test.
#[derive(Debug)]
pub struct Tokens {
    pub admin: String,
    pub reader: String,
    /// For the workspace `mine` only.
    pub of_one_workspace: String,
}

impl Tokens {
    pub fn new(world: &World) -> Self {
        let all = json!(Effect::ALL.map(Effect::as_str));
        let created = |name: &str, scopes: &Value, workspaces: &str| {
            let request = json!({"name": name, "scopes": scopes, "workspaces": [workspaces], "expires_at": "never"});
            let cli = Caller::new(FrontEnd::CommandLine, "cli", "home");
            let answer = world.service.call(&cli, "create_token", request).expect("a token");
            answer["token"].as_str().expect("a secret").to_owned()
        };
        world.call("create_workspace", json!({"workspace_id": "mine"}));
        Self {
            admin: created("admin", &all, "*"),
            reader: created("reader", &json!(["read"]), "*"),
            of_one_workspace: created("one", &all, "mine"),
        }
    }
}

/// A world that is served.
pub struct Served {
    pub world: World,
    pub tokens: Tokens,
    server: Option<Server>,
    pub address: SocketAddr,
    agent: ureq::Agent,
}

impl Served {
    pub fn new() -> Self {
        Self::with(ServerSettings::default(), Access::Tokens)
    }

    pub fn with_settings(settings: ServerSettings) -> Self {
        Self::with(settings, Access::Tokens)
    }

    pub fn with(settings: ServerSettings, access: Access) -> Self {
        let world = World::new();
        let tokens = Tokens::new(&world);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let parts = Parts { service: world.service.clone(), access, settings, stopping: CancellationToken::new() };
        let options = HttpOptions {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_bytes_max: parts.settings.body_bytes_max,
            sessions: SessionLimits::default(),
            stop: parts.stopping.clone(),
        };
        let agents = http_service(McpServer::new(world.service.clone(), McpOptions::default()), options);
        let server = Server::start(listener, parts, Some(Router::new().fallback_service(agents))).expect("a server");
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .proxy(None)
            .build()
            .into();
        Self { world, tokens, address: server.address(), server: Some(server), agent }
    }

    pub fn stop(&mut self) -> Ended {
        self.server.take().expect("it runs").stop()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request with the token that may do everything.
    #[track_caller]
    pub fn post(&self, operation: &str, request: &Value) -> Reply {
        self.post_as(&self.tokens.admin, operation, request, &[])
    }

    #[track_caller]
    pub fn post_as(&self, token: &str, operation: &str, request: &Value, headers: &[(&str, &str)]) -> Reply {
        let mut builder = self
            .agent
            .post(self.url(&format!("/v1/{operation}")))
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        Reply::of(builder.send(request.to_string().as_bytes()).expect("an answer"))
    }

    #[track_caller]
    pub fn get(&self, path: &str, token: Option<&str>) -> Reply {
        let mut builder = self.agent.get(self.url(path));
        if let Some(token) = token {
            builder = builder.header("authorization", format!("Bearer {token}"));
        }
        Reply::of(builder.call().expect("an answer"))
    }

    /// Sends bytes as they are and reads until the server closes or the answer is whole.
    #[track_caller]
    pub fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may refuse before it has everything.
        let _ = stream.write_all(bytes);
        read_reply(&mut stream)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

/// An answer in full.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub text: String,
}

impl Reply {
    fn of(mut response: http::Response<ureq::Body>) -> Self {
        let headers = response.headers().iter();
        Self {
            status: response.status().as_u16(),
            headers: headers.map(|(k, v)| (k.to_string(), v.to_str().unwrap_or_default().to_owned())).collect(),
            text: response.body_mut().read_to_string().expect("text"),
        }
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of an error, which has the one shape all errors have.
    #[track_caller]
    pub fn code(&self) -> String {
        let json = self.json();
        let error = &json["error"];
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{self:?}");
        error["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// Reads one answer off a connection; an empty one where the server just closed it.
#[track_caller]
pub fn read_reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8_192];
    loop {
        if let Some(reply) = parsed(&bytes) {
            return reply;
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Reply { status: 0, headers: BTreeMap::new(), text: String::new() },
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                return Reply { status: 0, headers: BTreeMap::new(), text: String::new() };
            }
            Err(error) => panic!("no answer: {error}"),
        }
    }
}

fn parsed(bytes: &[u8]) -> Option<Reply> {
    let head_end = bytes.windows(4).position(|it| it == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(Some(0), |it| it.parse().ok())?;
    let body = bytes.get(head_end + 4..head_end + 4 + length)?;
    Some(Reply { status, headers, text: String::from_utf8_lossy(body).into_owned() })
}
