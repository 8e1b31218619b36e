//! The program as people and programs meet it: whole commands, their two channels and their status.

#![expect(clippy::disallowed_types, reason = "programs read answers as JSON")]

mod backups;
mod bad_input;
mod calls;
mod channels;
mod collecting;
mod configuration;
mod contexts;
mod conversations;
mod daemon;
mod equality;
mod hooking;
mod importing;
mod indexing;
mod installing;
mod mcp;
#[cfg(feature = "local-model")]
mod models;
mod on_a_server;
mod prompts;
mod receipts;
mod reviewing;
mod sandbox;
mod secrets;
mod serving;
mod sqlite_files;
mod tables;
mod tokens;
mod touring;
mod unreadable_folders;
mod updating;
mod workspaces;
