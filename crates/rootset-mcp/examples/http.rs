//! `/mcp` on loopback without authentication, on a new database in a temporary folder: for trying the protocol's own
//! conformance suite. Not a way to serve anybody: `rootset serve` is.
//!
//! ```console
//! $ cargo run -p rootset-mcp --example http -- 127.0.0.1:7655
//! ```

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use rootset_api::{Profile, Profiles};
use rootset_mcp::{HttpOptions, McpOptions, McpServer, SessionLimits, http_service};
use rootset_service::{Caller, FrontEnd, Service, Settings};
use rootset_store::Store;
use tokio::net::TcpListener;

async fn trust_everybody(mut request: Request, next: Next) -> axum::response::Response {
    request.extensions_mut().insert(Caller::new(FrontEnd::Http, "example", "home"));
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let folder = tempfile::tempdir()?;
    let store = Store::open_sqlite(&folder.path().join("rootset.db"))?;
    let service = Service::new(store, Settings::default()).map_err(|error| error.0.message)?;
    let profiles = Profiles::new([Profile::Full]);
    let server = McpServer::new(Arc::new(service), McpOptions { profiles, ..McpOptions::default() });
    let options = HttpOptions {
        allowed_hosts: Vec::new(),
        allowed_origins: vec!["http://localhost:*".to_owned(), "http://127.0.0.1:*".to_owned()],
        body_bytes_max: 4 * 1024 * 1024,
        sessions: SessionLimits::default(),
        stop: Default::default(),
    };
    let router = Router::new().nest_service("/mcp", http_service(server, options)).layer(from_fn(trust_everybody));
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}
