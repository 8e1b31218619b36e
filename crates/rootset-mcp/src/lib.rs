//! Rootset for agents: every operation as a tool of the Model Context Protocol, over stdio and over HTTP.
//!
//! Thin: no rules of its own. Tools come from the catalogue of the service, a call is [`Service::call`] on a thread of
//! its own, and what needs a person's consent is decided by the service; here a person is only asked. The store is not
//! visible here.
//!
//! [`Service::call`]: rootset_service::Service::call

mod answer;
mod calls;
mod confirmation;
mod folders;
#[cfg(feature = "http")]
mod http;
mod instructions;
mod json_lines;
mod offer;
mod options;
mod progress;
mod prompts;
mod resources;
mod server;
#[cfg(feature = "http")]
mod sessions;
mod stdio;
mod stored_text;
mod tools;
mod unreadable;

pub use folders::{ByFolders, Place};
#[cfg(feature = "http")]
pub use http::{HttpOptions, McpHttpService, http_service};
pub use options::McpOptions;
pub use server::McpServer;
#[cfg(feature = "http")]
pub use sessions::SessionLimits;
pub use stdio::{StdioError, serve, serve_stdio};
