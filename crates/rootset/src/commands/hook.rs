//! `rootset hook`: one event of an agent's client on stdin, the answer on stdout.
//!
//! It fails open. Whatever goes wrong or takes too long, nothing is printed and the status is 0: a hook stands between a person
//! and their prompt. A watchdog in this process keeps the time; only what was asked for wrongly (`rootset hook nonsense`) is told
//! like any other mistake.

mod explain;
mod surroundings;
pub mod switch;

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::PossibleValuesParser;
use rootset_messages::hooks::{DEADLINE_MAX, EVENT_BYTES_MAX, HookClient, HookEvent, read_hook_event};
use rootset_model::{Channel, Trust};
use rootset_service::{Caller, CurrentWorkspace, FrontEnd, Service, ServiceError, WorkingFolder};
use rootset_store::Store;

use crate::arguments::GlobalArguments;
use crate::configuration::Configuration;
use crate::exit::Failure;
use crate::program::{self, Program};

/// Who writes what hooks write.
const ACTOR: &str = "hook";
/// What cannot be written that soon is not said.
const WRITE_WAIT: Duration = Duration::from_millis(25);
/// A build for tests is slower, and shares its machine with other tests.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 20 } else { 1 };

/// Answer one event of an agent's client, from stdin to stdout
///
/// `rootset install` makes the client call it. It never fails and never waits long: without an answer it prints nothing.
#[derive(Debug, Args)]
pub struct HookArguments {
    /// Whose event it is
    #[arg(
        value_name = "claude-code|codex|gemini-cli|cursor",
        hide_possible_values = true,
        required_unless_present = "explain"
    )]
    #[arg(value_parser = PossibleValuesParser::new(HookClient::ALL.map(HookClient::as_str)))]
    client: Option<String>,
    /// Show what hooks did in the last session here, or in the one with this id
    #[arg(long, value_name = "SESSION", num_args = 0..=1, conflicts_with = "client")]
    #[expect(clippy::option_option, reason = "clap's form of an option with an optional value")]
    explain: Option<Option<String>>,
}

impl HookArguments {
    /// Nobody reads remarks beside an answer to a client.
    pub fn answers_a_client(&self) -> bool {
        self.explain.is_none()
    }
}

pub fn run(arguments: HookArguments, program: &Program) -> Result<(), Failure> {
    if let Some(session) = &arguments.explain {
        return explain::run(session.as_deref(), program);
    }
    if let Some(client) = arguments.client.as_deref().and_then(HookClient::from_word) {
        answer(client, &program.global);
    }
    Ok(())
}

/// What the thread that works tells the one that watches.
enum Told {
    /// How long this event may take.
    Deadline(Duration),
    Answer(String),
}

fn answer(client: HookClient, global: &GlobalArguments) {
    let began = Instant::now();
    // A mistake of ours is no business of whoever waits for their prompt.
    std::panic::set_hook(Box::new(|_| {}));
    let (sender, told) = channel();
    let global = global.clone();
    let spawned = std::thread::Builder::new().name("hook".to_owned()).spawn(move || work(client, &global, &sender));
    if spawned.is_ok() {
        watch(&told, began);
    }
    // Whatever is still being done is cut off: the store loses nothing by it.
    std::process::exit(0);
}

/// Prints the answer if it comes in time, then lets the work end within the same time.
fn watch(told: &Receiver<Told>, began: Instant) {
    let mut deadline = DEADLINE_MAX * SLOWNESS;
    while let Ok(it) = told.recv_timeout(deadline.saturating_sub(began.elapsed())) {
        match it {
            Told::Deadline(known) => deadline = known,
            Told::Answer(text) => {
                let mut stdout = std::io::stdout().lock();
                // A client that is gone reads nothing.
                let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
            }
        }
    }
}

fn work(client: HookClient, global: &GlobalArguments, told: &Sender<Told>) {
    let mut bytes = Vec::new();
    let limit = EVENT_BYTES_MAX as u64 + 1;
    if std::io::stdin().lock().take(limit).read_to_end(&mut bytes).is_err() {
        return;
    }
    let Some(event) = read_hook_event(&bytes) else { return };
    if told.send(Told::Deadline(event.happening.deadline() * SLOWNESS)).is_err() {
        return;
    }
    // Logged only for who asks: stderr of a hook is shown to nobody, or to the model.
    if let Err(error) = carry_out(client, global, &event, told) {
        tracing::debug!(?error, "no answer to an event");
    }
}

fn carry_out(
    client: HookClient,
    global: &GlobalArguments,
    event: &HookEvent,
    told: &Sender<Told>,
) -> Result<(), Failure> {
    let folder = surroundings::folder(client, event);
    if switch::is_off_by_variable() || switch::is_off(&folder)? {
        return Ok(());
    }
    let configuration = Configuration::load(global)?;
    if switch::is_excluded(&configuration.hooks_exclude, &folder) {
        return Ok(());
    }
    let location = configuration.location()?;
    let store = Store::open_in_passing(&location, &configuration.postgres, WRITE_WAIT).map_err(ServiceError::from)?;
    let Some(store) = store else { return Ok(()) };
    let service = Arc::new(Service::new(store, configuration.settings.clone())?);
    let workspace = match &configuration.workspace {
        Some(named) => named.as_str().into(),
        None => CurrentWorkspace::Around(WorkingFolder::new(folder.clone())),
    };
    let caller = Caller {
        person: program::person(&location),
        channel: Channel::Hook,
        trust: Trust::Agent,
        ..Caller::new(FrontEnd::CommandLine, ACTOR, workspace)
    };
    let surroundings = surroundings::of(client, event, &folder);
    let answer = service.hook(&caller, &surroundings, event)?;
    let printed = answer.printed(client, &event.happening);
    let _ = told.send(Told::Answer(printed));
    // How often a memory was shown may be lost, but not for nothing.
    service.flush_uses()?;
    Ok(())
}
