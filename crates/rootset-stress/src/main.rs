//! The long runs, and the writer that all runs start.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use rootset_store::Location;
use rootset_stress::bit_rot::{self, BitRotSettings, Watchman};
use rootset_stress::collector_kills::{self, CollectorKillSettings};
use rootset_stress::creation_race::{self, CreationSettings, Victim};
use rootset_stress::disk::DiskReport;
use rootset_stress::disk::faults::{self as disk_faults, DiskFaultSettings};
use rootset_stress::disk::power_cuts::{self, PowerCutSettings};
use rootset_stress::disk::script::{self, DiskMistake, Script};
use rootset_stress::disk::small_disk::{self, SmallDiskSettings};
use rootset_stress::index_kills::{self, IndexKillSettings};
use rootset_stress::lives::{self, LivesSettings, Mistake};
use rootset_stress::many_writers::{self, WriterSettings};
use rootset_stress::postgres_crashes::{self, Control, PostgresCrashSettings};
use rootset_stress::run_length::RunLength;
use rootset_stress::servers::serve::{self, ServeArguments};
use rootset_stress::servers::{self, ServerProgram, ServerSettings};
use rootset_stress::step::{self, Step};
use rootset_stress::writer::{self, ExtractorKind, PlantedBug, WriterArguments};
use rootset_stress::writer_kills::{self, KillSettings, Placement};
use rootset_stress::{disk_full, failpoints, same_index};
use rootset_testing::TestEngine;

#[derive(Debug, Parser)]
#[command(name = "rootset-stress", about = "Rootset's storage under many processes and kills")]
struct Arguments {
    /// An empty one, for runs on one database; a file of its own by default.
    #[arg(long, value_parser = Location::parse)]
    database: Option<Location>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Many processes add to one database for a while.
    Writers {
        #[arg(long, default_value_t = 64)]
        processes: usize,
        #[arg(long, default_value_t = 20)]
        seconds: u64,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Writers are killed again and again on one database.
    Kills {
        #[arg(long, default_value_t = 5_000)]
        rounds: u64,
        #[arg(long, value_enum, default_value_t = ExtractorKind::Builtin)]
        extractor: ExtractorKind,
        #[arg(long)]
        seed: Option<u64>,
        /// Plants a mistake that the run has to notice.
        #[arg(long, value_enum)]
        planted_bug: Option<PlantedBug>,
    },
    /// Processes create a database at the same time, and one of them dies.
    Creation {
        #[arg(long, default_value_t = 500)]
        rounds: u64,
        #[arg(long, default_value_t = 8)]
        processes: usize,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Plans, applies, undoes and purges of several batches are killed again and again.
    CollectorKills {
        #[arg(long, default_value_t = 500)]
        rounds: u64,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Processes that index a tree are killed again and again while the tree changes.
    Indexing {
        #[arg(long, default_value_t = 500)]
        rounds: u64,
        /// Files beside the random project: several batches of writing.
        #[arg(long, default_value_t = 1_000)]
        files: usize,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Clients write through two servers, one of which is killed every few seconds.
    Servers {
        /// A path, `sqlite:PATH` or `postgres://…`; the same as `--database`.
        #[arg(long, value_parser = Location::parse)]
        db: Option<Location>,
        /// The `rootset` binary; without it this program serves the same routes.
        #[arg(long, value_name = "PATH")]
        cli: Option<PathBuf>,
        #[arg(long, default_value_t = 16)]
        clients: usize,
        #[arg(long, default_value_t = 120)]
        seconds: u64,
        /// Seconds between two kills, about.
        #[arg(long, default_value_t = 4.0)]
        kill_every: f64,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// PostgreSQL servers of this run's own are killed under writers, or replaced by a standby.
    PostgresCrashes {
        #[arg(long, default_value_t = 100)]
        rounds: u64,
        #[arg(long)]
        seed: Option<u64>,
        /// With planted mistakes, one after the other; fails when one of them loses nothing.
        #[arg(long)]
        control: bool,
    },
    /// Compares what two databases say about the same source trees; fails when they differ.
    SameIndex {
        #[arg(value_parser = Location::parse)]
        wanted: Location,
        #[arg(value_parser = Location::parse)]
        found: Location,
        #[arg(long, default_value = "home")]
        workspace: String,
    },
    /// Seeded lives of a few processes with clocks that jump, deaths and errors, beside a model; in this process.
    Lives {
        #[arg(long, default_value_t = 50)]
        lives: u64,
        #[arg(long, default_value_t = 10_000)]
        steps: usize,
        #[arg(long)]
        seed: Option<u64>,
        /// Makes a mistake in the model that the run has to notice.
        #[arg(long, value_enum)]
        mistake: Option<Mistake>,
    },
    /// Every failpoint is struck by a death and by an error.
    Failpoints,
    /// Every operation finds the disk full.
    DiskFull,
    /// One bit after the other is flipped in a small database, its log and its backups.
    BitRot {
        /// A bit of every so many bytes.
        #[arg(long, default_value_t = 97, value_parser = clap::value_parser!(u64).range(1..))]
        every: u64,
        /// Stops after so long; which bits it has come to by then is up to the seed.
        #[arg(long)]
        seconds: Option<u64>,
        #[arg(long)]
        seed: Option<u64>,
        /// The control: nobody hears what is reported, so that the run has to fail.
        #[arg(long)]
        deaf: bool,
    },
    /// Images of what power cuts leave at every sync of a scenario.
    PowerCuts {
        /// One of them; all by default.
        #[arg(long)]
        scenario: Vec<String>,
        /// Of each scenario. With seeds that follow each other, images go on where the last run stopped.
        #[arg(long, default_value_t = 200)]
        images: usize,
        /// The time for each scenario, if it is over before all images were looked at.
        #[arg(long)]
        seconds: Option<u64>,
        #[arg(long)]
        seed: Option<u64>,
        /// Plants a mistake that the run has to notice.
        #[arg(long, value_enum)]
        mistake: Option<DiskMistake>,
    },
    /// Every call of a scenario to the disk fails, once and from then on.
    Faults {
        /// One of them; all by default.
        #[arg(long)]
        scenario: Vec<String>,
        /// Of each scenario, in an order that the seed decides; all by default.
        #[arg(long)]
        faults: Option<usize>,
        /// How many of that order were tried before.
        #[arg(long, default_value_t = 0)]
        from: usize,
        /// The time for each scenario, if it is over before all faults were tried.
        #[arg(long)]
        seconds: Option<u64>,
        #[arg(long)]
        seed: Option<u64>,
    },
    /// A disk of 6 MB fills up and is purged.
    SmallDisk,
    #[command(hide = true)]
    Writer(WriterArguments),
    #[command(hide = true)]
    Step(Step),
    #[command(hide = true)]
    Script(Script),
    #[command(hide = true)]
    Serve(ServeArguments),
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    // Images of a disk are looked at in memory, where nothing may be left; the seed makes them again.
    if matches!(arguments.command, Command::PowerCuts { .. } | Command::Faults { .. } | Command::SmallDisk) {
        let folder = rootset_testing::temporary_folder();
        return Ok(tell(&replay(arguments.command, folder.path())?));
    }
    work(arguments).map(|()| ExitCode::SUCCESS)
}

fn work(arguments: Arguments) -> anyhow::Result<()> {
    if let Command::Writer(writer) = &arguments.command {
        return Ok(writer::run(writer)?);
    }
    if let Command::Step(step) = &arguments.command {
        return Ok(step::run(step)?);
    }
    if let Command::Script(script) = &arguments.command {
        return Ok(script::run(script)?);
    }
    if let Command::Serve(arguments) = &arguments.command {
        return Ok(serve::run(arguments)?);
    }
    if let Command::SameIndex { wanted, found, workspace } = &arguments.command {
        println!("{}", same_index::run(wanted, found, workspace)?);
        return Ok(());
    }
    // Kept when a run fails, because then it is what one wants to look at.
    let folder = tempfile::tempdir()?.keep();
    println!("in {}", folder.display());
    run(arguments.command, folder.clone(), arguments.database)?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

fn run(command: Command, folder: PathBuf, database: Option<Location>) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    let database = database.unwrap_or_else(|| Location::File(folder.join("stress.db")));
    match command {
        Command::Writers { processes, seconds, seed } => {
            let duration = Duration::from_secs(seconds);
            let settings = WriterSettings { program, database, processes, duration, seed: said(seed) };
            println!("{}", many_writers::run(&settings)?);
        }
        Command::Kills { rounds, extractor, seed, planted_bug } => {
            let (seed, placement, length) = (said(seed), Placement::Random, RunLength::Rounds(rounds));
            let settings = KillSettings { program, database, length, seed, extractor, placement, planted_bug };
            println!("{}", writer_kills::run(&settings)?);
        }
        Command::Creation { rounds, processes, seed } => {
            let seed = said(seed);
            for victim in [Victim::Nobody, Victim::First] {
                let (program, engine, length) = (program.clone(), TestEngine::chosen(), RunLength::Rounds(rounds));
                let settings = CreationSettings { program, engine, processes, length, victim, seed };
                println!("{}", creation_race::run(&settings)?);
            }
        }
        Command::Failpoints => match failpoints::run(&failpoints::settings(&program, &folder)) {
            Ok(report) => println!("{report}"),
            Err(failures) => anyhow::bail!("{}", failures.join("\n")),
        },
        Command::Lives { lives: count, steps, seed, mistake } => {
            let engine = TestEngine::chosen();
            let (seed, shorten_for) = (said(seed), Duration::from_secs(90));
            let settings = LivesSettings { engine, lives: count, steps, seed, mistake, shorten_for };
            let outcome = lives::run(&settings);
            println!("{}", lives::told(settings.seed, &outcome));
            anyhow::ensure!(outcome.is_ok(), "a life went wrong");
        }
        Command::CollectorKills { rounds, seed } => {
            let settings = CollectorKillSettings { program, database, rounds, seed: said(seed) };
            println!("{}", collector_kills::run(&settings)?);
        }
        Command::Indexing { rounds, files, seed } => {
            let settings = IndexKillSettings { program, database, folder, rounds, files, seed: said(seed) };
            println!("{}", index_kills::run(&settings)?);
        }
        Command::Servers { db, cli, clients, seconds, kill_every, seed } => {
            // Servers run in a folder of their own.
            let database = match db.unwrap_or(database) {
                Location::File(path) => Location::File(std::path::absolute(path)?),
                server => server,
            };
            let settings = ServerSettings {
                program: cli
                    .map(std::path::absolute)
                    .transpose()?
                    .map_or(ServerProgram::Own(program), ServerProgram::Rootset),
                database,
                folder,
                clients,
                duration: Duration::from_secs(seconds),
                kill_every: Duration::from_secs_f64(kill_every),
                seed: said(seed),
            };
            println!("{}", servers::run(&settings)?);
        }
        Command::PostgresCrashes { rounds, seed, control } => {
            let seed = said(seed);
            let (name, controls) = if control {
                ("postgres-crashes/controls", Control::ALL.map(Some).to_vec())
            } else {
                ("postgres-crashes", vec![None])
            };
            let mut cases = 0;
            for control in controls {
                let outcome = postgres_crashes::run(&PostgresCrashSettings { rounds, seed, control });
                let outcome = outcome.inspect_err(|_| print_result(name, cases, 1, seed))?;
                println!("{outcome}");
                cases += outcome.crashes;
            }
            print_result(name, cases, 0, seed);
        }
        Command::DiskFull => println!("{}", disk_full::run(&disk_full::settings(&program, &folder))?),
        Command::BitRot { every, seconds, seed, deaf } => {
            let watchman = if deaf { Watchman::Deaf } else { Watchman::Listening };
            let (seed, every, time) = (said(seed), usize::try_from(every)?, seconds.map(Duration::from_secs));
            let report = bit_rot::run(&BitRotSettings { folder, seed, every, time, watchman })?;
            println!("{report}");
            anyhow::ensure!(report.failures() == 0, "rot went unnoticed");
        }
        Command::PowerCuts { .. } | Command::Faults { .. } | Command::SmallDisk => unreachable!("they are replayed"),
        Command::Writer(_) | Command::Step(_) | Command::Script(_) | Command::Serve(_) | Command::SameIndex { .. } => {
            unreachable!("they have their own way")
        }
    }
    Ok(())
}

/// The last line of a run, for scripts that add up what was run.
fn print_result(run: &str, cases: u64, failures: u64, seed: u64) {
    println!("result: {}", serde_json::json!({"run": run, "cases": cases, "failures": failures, "seed": seed}));
}

/// Runs on a disk that is recorded.
fn replay(command: Command, folder: &Path) -> anyhow::Result<Vec<DiskReport>> {
    let (program, folder) = (std::env::current_exe()?, folder.to_owned());
    Ok(match command {
        Command::PowerCuts { scenario, images, seconds, seed, mistake } => {
            let (time, seed) = (seconds.map(Duration::from_secs), said(seed));
            let settings = PowerCutSettings { program, folder, images, time, seed, mistake };
            power_cuts::run_all(&settings, &scenario)?
        }
        Command::Faults { scenario, faults, from, seconds, seed } => {
            let (time, faults_max, seed) = (seconds.map(Duration::from_secs), faults.unwrap_or(usize::MAX), said(seed));
            let settings = DiskFaultSettings { program, folder, faults_max, from, time, seed };
            disk_faults::run_all(&settings, &scenario)?
        }
        Command::SmallDisk => vec![small_disk::run(&SmallDiskSettings { program, folder })?],
        _ => unreachable!("the others leave a folder to look at"),
    })
}

fn tell(reports: &[DiskReport]) -> ExitCode {
    for failure in reports.iter().flat_map(|report| &report.failures) {
        println!("{failure}");
    }
    for report in reports {
        println!("{report}");
    }
    if reports.iter().all(|report| report.failures.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The seed given, or a new one; printed either way.
fn said(seed: Option<u64>) -> u64 {
    let seed = seed.unwrap_or_else(rand::random);
    println!("seed {seed}");
    seed
}
