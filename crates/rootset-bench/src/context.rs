//! What is missed when agents' sessions are replayed in a window that is too small for them.
//!
//! A need is missed if, at its step, no segment that holds the thing is still in the window. Each policy decides who
//! leaves; all of them count the same tokens and see the same past. Beside Rootset's stand four simple ones, recomputed
//! from the file.

mod baselines;
mod needs;
mod replay;
mod report;
mod rootset;
pub mod transcript;

use std::path::PathBuf;

use anyhow::ensure;

use baselines::{AtRandom, LeastRecentlyUsed, LookAhead, SlidingWindow};
use needs::{NeedKind, OwnLines};
use replay::{Misses, ReplayedSession};
use report::{Outcome, PolicyMisses, Results};
use rootset::{ReadSession, Rootset};

use crate::output::print_report;

/// Needs that are missed when sessions outgrow their window, beside simpler policies.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// JSON lines, plain or gzip: {id, segments: [{role, type, text, file_path?, line_range?}], needs: [{step, kind,
    /// holders}]}.
    file: PathBuf,
    /// Tokens of the window.
    #[arg(long, value_delimiter = ',', default_values_t = [8_000, 16_000, 32_000])]
    budgets: Vec<u64>,
    /// Seed of the random policy.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also tell misses by repository, which is what a session's id begins with.
    #[arg(long, conflicts_with = "json")]
    by_repository: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let transcripts = transcript::read(&arguments.file)?;
    ensure!(!transcripts.is_empty(), "`{}` has no session", arguments.file.display());
    let own_lines = OwnLines::of(&transcripts);
    let mut outcome =
        Outcome { budgets: arguments.budgets.clone(), overall: Results::default(), by_repository: Default::default() };
    for (number, transcript) in (0..).zip(&transcripts) {
        let session = ReplayedSession::new(transcript, &own_lines);
        let read = ReadSession::new(&session);
        let seed = arguments.seed.wrapping_add(number);
        let misses: Vec<PolicyMisses> =
            arguments.budgets.iter().map(|budget| replay_all(&read, &session, *budget, seed)).collect();
        outcome.overall.add(session.counts(), &misses);
        let repository = outcome.by_repository.entry(transcript.repository().to_owned()).or_default();
        repository.add(session.counts(), &misses);
    }
    print_report(&report::json(&outcome), arguments.json, || report::text(&outcome))?;
    if arguments.by_repository {
        println!("\n{}", report::by_repository(&outcome));
    }
    Ok(())
}

/// In the order of [`report::POLICIES`].
fn replay_all(read: &ReadSession<'_>, session: &ReplayedSession<'_>, budget: u64, seed: u64) -> [Misses; 5] {
    [
        session.replay(budget, &mut AtRandom::new(seed)),
        session.replay(budget, &mut SlidingWindow),
        session.replay(budget, &mut LeastRecentlyUsed::new(session)),
        look_ahead(session, budget),
        session.replay(budget, &mut Rootset::new(read)),
    ]
}

/// For each kind of need, what a policy misses that sees which segments are needed for this kind.
fn look_ahead(session: &ReplayedSession<'_>, budget: u64) -> Misses {
    let mut misses = Misses::default();
    for kind in NeedKind::ALL {
        misses.take(kind, &session.replay(budget, &mut LookAhead::new(session, kind)));
    }
    misses
}
