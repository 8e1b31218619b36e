//! What is to be forgotten, and what replaces what: hand-written cases, each in a workspace of its own.
//!
//! A case of forgetting is right if everything that must go is gone, or its sentence is, and everything that must stay is as
//! it was; what goes although it must stay is counted apart. The plan is applied as previewed: nothing that is only maybe
//! meant goes. What is left is also asked for, as a reader would (`probes`). Beside it stands the baseline that deletes the best hit of a search. A case of an update is right if adding
//! the newer memory names the older one, or, where both hold, names none.

mod probes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::probes::Probes;
use crate::client::Client;
use crate::database::BenchFolder;
use crate::output::print_report;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// JSON lines, as in `crates/rootset-bench/sets`.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder for the temporary databases; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Name each case that is not right.
    #[arg(long)]
    cases: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Deserialize)]
struct Forgetting {
    id: String,
    kind: String,
    memories: Vec<Memory>,
    request: String,
    must_go: Vec<usize>,
    must_stay: Vec<usize>,
    redact: Vec<Redact>,
}

#[derive(Debug, Deserialize)]
struct Memory {
    text: String,
}

#[derive(Debug, Deserialize)]
struct Redact {
    memory: usize,
    goes: String,
    stays: String,
}

#[derive(Debug, Deserialize)]
struct Contradiction {
    id: String,
    kind: String,
    others: Vec<String>,
    old: String,
    new: String,
    is_update: bool,
}

/// Right cases and all of them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Share {
    right: usize,
    of: usize,
}

impl Share {
    fn add(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.of += 1;
    }
}

#[derive(Debug, Default, Serialize)]
struct Forgotten {
    file: String,
    cases: Share,
    /// Memories or sentences that went although they must stay.
    over_deletions: usize,
    probes: Probes,
    top_hit_probes: Probes,
    top_hit_deleted: Share,
    top_hit_over_deletions: usize,
    by_kind: BTreeMap<String, Share>,
}

#[derive(Debug, Default, Serialize)]
struct Noticed {
    file: String,
    updates: Share,
    /// Right where nothing was noticed.
    no_updates: Share,
    /// Memories around the pair that were taken for an older version of the newer one.
    strangers: usize,
    by_kind: BTreeMap<String, Share>,
}

pub fn forgetting(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let mut all = Vec::new();
    for (number, file) in arguments.files.iter().enumerate() {
        let mut measured = Forgotten { file: file.display().to_string(), ..Forgotten::default() };
        let client = Client::open(&folder.file(&format!("forgetting-{number}.db")).into())?;
        for case in read::<Forgetting>(file)? {
            let by_plan = Outcome::of(&client, &case, "plan", &by_plan)?;
            let by_hit = Outcome::of(&client, &case, "hit", &by_top_hit)?;
            measured.cases.add(by_plan.is_right());
            measured.over_deletions += by_plan.lost.len();
            measured.probes.add(by_plan.probes);
            measured.top_hit_probes.add(by_hit.probes);
            measured.top_hit_deleted.add(by_hit.is_right());
            measured.top_hit_over_deletions += by_hit.lost.len();
            measured.by_kind.entry(case.kind.clone()).or_default().add(by_plan.is_right());
            if arguments.cases && !by_plan.is_right() {
                eprintln!(
                    "{} ({}) `{}`: left {:?}, lost {:?}",
                    case.id, case.kind, case.request, by_plan.left, by_plan.lost
                );
            }
        }
        all.push(measured);
    }
    print_report(&all, arguments.json, || all.iter().map(forgotten_text).collect())
}

pub fn contradictions(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let mut all = Vec::new();
    for (number, file) in arguments.files.iter().enumerate() {
        let mut measured = Noticed { file: file.display().to_string(), ..Noticed::default() };
        let client = Client::open(&folder.file(&format!("contradictions-{number}.db")).into())?;
        for case in read::<Contradiction>(file)? {
            let client = client.in_new_workspace(&case.id)?;
            for other in &case.others {
                client.call("add_memory", json!({ "context": other }))?;
            }
            let old = client.call("add_memory", json!({"context": case.old}))?;
            let new = client.call("add_memory", json!({"context": case.new}))?;
            let named: Vec<&Value> =
                new["updates"].as_array().into_iter().flatten().map(|it| &it["memory_id"]).collect();
            let is_noticed = named.contains(&&old["memory_id"]);
            measured.strangers += named.len() - usize::from(is_noticed);
            let share = if case.is_update { &mut measured.updates } else { &mut measured.no_updates };
            share.add(is_noticed == case.is_update);
            measured.by_kind.entry(case.kind.clone()).or_default().add(is_noticed == case.is_update);
            if arguments.cases && is_noticed != case.is_update {
                eprintln!("{} ({}): {} | {}", case.id, case.kind, case.old, case.new);
            }
        }
        all.push(measured);
    }
    print_report(&all, arguments.json, || all.iter().map(noticed_text).collect())
}

fn read<T: for<'de> Deserialize<'de>>(file: &Path) -> anyhow::Result<Vec<T>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("line {} of `{}`", number + 1, file.display()))
        })
        .collect()
}

/// What is wrong after a request.
struct Outcome {
    /// What must go and is still there.
    left: Vec<String>,
    /// What must stay and is not.
    lost: Vec<String>,
    probes: Probes,
}

impl Outcome {
    fn of(
        client: &Client,
        case: &Forgetting,
        way: &str,
        forget: &dyn Fn(&Client, &str) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let client = client.in_new_workspace(&format!("{}-{way}", case.id))?;
        let mut ids = Vec::new();
        for memory in &case.memories {
            let added = client.call("add_memory", json!({"context": memory.text}))?;
            ids.push(added["memory_id"].as_str().unwrap_or_default().to_owned());
        }
        let texts = || -> Vec<Option<String>> {
            let read = |id: &String| client.call("get_memory", json!({ "memory_id": id })).ok();
            ids.iter().map(|id| read(id).and_then(|it| it["context"].as_str().map(str::to_owned))).collect()
        };
        // As stored: a secret is taken out before.
        let stored = texts();
        forget(&client, &case.request)?;
        let texts = texts();
        let whole = |place: &usize| case.memories[*place].text.clone();
        let mut left: Vec<String> = case.must_go.iter().filter(|place| texts[**place].is_some()).map(whole).collect();
        let is_lost = |place: &&usize| texts[**place] != stored[**place];
        let mut lost: Vec<String> = case.must_stay.iter().filter(is_lost).map(whole).collect();
        let mut probes = Probes::default();
        case.must_go.iter().for_each(|place| probes.is_gone(&client, &ids[*place], case.memories[*place].text.trim()));
        case.must_stay
            .iter()
            .for_each(|place| probes.is_there(&client, &ids[*place], case.memories[*place].text.trim()));
        for redact in &case.redact {
            probes.is_gone(&client, &ids[redact.memory], &redact.goes);
            probes.is_there(&client, &ids[redact.memory], &redact.stays);
            let text = texts[redact.memory].as_deref().unwrap_or_default();
            if text.contains(&redact.goes) {
                left.push(redact.goes.clone());
            }
            if !text.contains(&redact.stays) {
                lost.push(redact.stays.clone());
            }
        }
        Ok(Self { left, lost, probes })
    }

    fn is_right(&self) -> bool {
        self.left.is_empty() && self.lost.is_empty()
    }
}

fn by_plan(client: &Client, request: &str) -> anyhow::Result<()> {
    // A request that says nothing to look for is refused, and nothing goes.
    let Ok(plan) = client.call("forget", json!({ "query": request })) else { return Ok(()) };
    client.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true})).map(drop)
}

fn by_top_hit(client: &Client, request: &str) -> anyhow::Result<()> {
    let found = client.call("search_memory", json!({"query": request, "limit": 1}))?;
    match &found["results"][0]["memory_id"] {
        Value::String(id) => client.call("delete_memory", json!({ "memory_id": id })).map(drop),
        _ => Ok(()),
    }
}

fn kinds_text(by_kind: &BTreeMap<String, Share>) -> String {
    by_kind.iter().map(|(kind, share)| format!("  {kind:<22} {:>3} of {:>3}\n", share.right, share.of)).collect()
}

fn forgotten_text(measured: &Forgotten) -> String {
    let line = |name: &str, share: &Share, over_deletions: usize, probes: &Probes| {
        let Probes { recall, collateral } = probes;
        format!(
            "  {name:<20} {:>3} of {:>3} right, {over_deletions} over-deletions; cannot be found any more: {} of {}; still found: {} of {}\n",
            share.right, share.of, recall.right, recall.of, collateral.right, collateral.of
        )
    };
    let forget = line("forget", &measured.cases, measured.over_deletions, &measured.probes);
    let hit = line(
        "delete the top hit",
        &measured.top_hit_deleted,
        measured.top_hit_over_deletions,
        &measured.top_hit_probes,
    );
    format!("{}\n{forget}{hit}{}", measured.file, kinds_text(&measured.by_kind))
}

fn noticed_text(measured: &Noticed) -> String {
    let Noticed { file, updates, no_updates, strangers, by_kind } = measured;
    format!(
        "{file}\n  updates noticed        {:>3} of {:>3}\n  both hold, left alone  {:>3} of {:>3}\n  strangers named        {strangers:>3}\n{}",
        updates.right,
        updates.of,
        no_updates.right,
        no_updates.of,
        kinds_text(by_kind)
    )
}
