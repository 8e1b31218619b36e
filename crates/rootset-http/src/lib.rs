//! Rootset over HTTP: every operation as `POST /v1/<operation>`, and what a server needs around that.
//!
//! Thin: no rules of its own about memories. What is here is about the wire: who may ask (host, origin, token), how
//! much and how long (bodies, time, how many at once), what a repeated request gets, and how a server ends. The service
//! is synchronous and stays so: its calls run on threads of their own ([`workers`]).

mod access;
mod admission;
mod answer;
mod answer_body;
mod body;
mod call;
mod connections;
mod docs;
mod every_request;
mod health;
mod hooks;
mod hosts_and_origins;
mod idempotency;
mod openapi;
mod routes;
mod server;
mod settings;
mod telemetry;
mod unstalled;
mod workers;
mod wrong_tokens;

pub use access::Access;
pub use openapi::document as openapi_document;
pub use routes::router;
pub use server::{Ended, Parts, Server};
pub use settings::ServerSettings;
