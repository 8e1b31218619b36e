//! Benchmarks of Rootset that anyone can run: they drive the service as a front end does, through [`Client`], on a real
//! database file. Wanted figures stand beside measured ones as information; missing one is not a failure.

mod answers;
mod client;
mod code;
mod code_answers;
mod code_search;
mod context;
mod database;
mod embed;
mod embedder;
mod fit;
mod gc;
mod hooks;
mod judged;
mod latency;
mod locomo;
mod mark;
mod memory;
mod messages;
mod notes;
mod output;
mod platform;
mod process;
mod random;
mod rounds;
mod serve;
mod server;
mod servers;
mod session;
mod start;
mod table;
mod vocabulary;

use clap::{Parser, Subcommand};

/// Measures Rootset: speed on generated notes, ranking on conversations, the collector at work,
/// the code index, embedders, decisions about a context window and what they miss, the servers under load.
#[derive(Debug, Parser)]
#[command(name = "rootset-bench", version)]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Answers(answers::Arguments),
    Memory(memory::Arguments),
    Gc(gc::Arguments),
    Code(code::Arguments),
    CodeSearch(code_search::Arguments),
    CodeAnswers(code_answers::Arguments),
    Context(context::Arguments),
    /// What adding a memory notices of older ones, on hand-written pairs.
    Contradictions(judged::Arguments),
    Embed(embed::Arguments),
    Fit(fit::Arguments),
    Hooks(hooks::Arguments),
    /// What a request to forget takes and leaves, on hand-written cases.
    Forgetting(judged::Arguments),
    Locomo(locomo::Arguments),
    Mark(mark::Arguments),
    Messages(messages::Arguments),
    Rounds(rounds::Arguments),
    Session(session::Arguments),
    Serve(serve::Arguments),
    Servers(servers::Arguments),
    Start(start::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().benchmark {
        Benchmark::Answers(arguments) => answers::run(&arguments),
        Benchmark::Memory(arguments) => memory::run(&arguments),
        Benchmark::Gc(arguments) => gc::run(&arguments),
        Benchmark::Code(arguments) => code::run(&arguments),
        Benchmark::CodeSearch(arguments) => code_search::run(&arguments),
        Benchmark::CodeAnswers(arguments) => code_answers::run(&arguments),
        Benchmark::Context(arguments) => context::run(&arguments),
        Benchmark::Contradictions(arguments) => judged::contradictions(&arguments),
        Benchmark::Forgetting(arguments) => judged::forgetting(&arguments),
        Benchmark::Embed(arguments) => embed::run(&arguments),
        Benchmark::Fit(arguments) => fit::run(&arguments),
        Benchmark::Hooks(arguments) => hooks::run(&arguments),
        Benchmark::Locomo(arguments) => locomo::run(&arguments),
        Benchmark::Mark(arguments) => mark::run(&arguments),
        Benchmark::Messages(arguments) => messages::run(&arguments),
        Benchmark::Rounds(arguments) => rounds::run(&arguments),
        Benchmark::Session(arguments) => session::run(&arguments),
        Benchmark::Serve(arguments) => serve::run(&arguments),
        Benchmark::Servers(arguments) => servers::run(&arguments),
        Benchmark::Start(arguments) => start::run(&arguments),
    }
}
