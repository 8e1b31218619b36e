//! The program as people and programs meet it: whole commands, their two channels and their status.

mod backups;
mod bad_input;
mod calls;
mod channels;
mod collecting;
mod configuration;
mod contexts;
mod conversations;
mod daemon;
mod database_files;
mod equality;
mod importing;
mod indexing;
mod installing;
mod mcp;
mod on_a_server;
mod prompts;
mod sandbox;
mod serving;
mod tokens;
mod touring;
mod unreadable_folders;
