//! The program as people and programs meet it: whole commands, their two channels and their status.

mod backups;
mod bad_input;
mod calls;
mod channels;
mod collecting;
mod configuration;
mod conversations;
mod daemon;
mod database_files;
mod indexing;
mod mcp;
mod prompts;
mod sandbox;
mod unreadable_folders;
