//! A life: a real database beside its model, one step after the other.

use std::sync::Arc;

use proptest::test_runner::TestCaseError;
use rootset_model::Timestamp;
use rootset_model::slug::is_made_from;
use rootset_service::ServiceError;
use rootset_testing::Sql;
use serde_json::{Value, json};

use super::evidence::absence::OwnVectors;
use super::steps::{Life, Step, WORDS, WORKSPACES};
use crate::harness::{DAY_MS, World, array, text_of};
use crate::model::{Id, Memory, Workspace};

pub const NOBODY: &str = "01900000-0000-7000-8000-ffffffffffff";
/// Steps between two calls of `doctor`, which looks at everything.
const DOCTOR_EVERY: usize = 7;

pub type Expected = Result<Value, &'static str>;
pub type Outcome = Result<(), TestCaseError>;

pub struct Simulation {
    pub world: World,
    /// For what no operation tells.
    pub sql: Sql,
    pub models: [Workspace; 2],
    /// Everything that ever was, per workspace or of both: purged ones too.
    pub memories: [Vec<Id>; 2],
    pub runs: Vec<Id>,
    pub plans: Vec<Id>,
    pub planted: i64,
    steps: usize,
}

/// One of the likely ones, so that most steps do something; with the highest number any that ever was.
fn choose(likely: Vec<Id>, ever: &[Id], number: u8) -> Id {
    let from = if number == 11 || likely.is_empty() { ever } else { &likely };
    match from.len() {
        0 => NOBODY.to_owned(),
        length => from[usize::from(number) % length].clone(),
    }
}

pub fn time(milliseconds: i64) -> Value {
    json!(Timestamp(milliseconds).to_string())
}

pub fn some(count: i64) -> Option<i64> {
    (count > 0).then_some(count)
}

/// Compares an answer with what was expected; fields of the answer that are not expected are left alone.
pub fn compare(step: &Step, expected: &Expected, answer: &Result<Value, ServiceError>) -> Outcome {
    match (expected, answer) {
        (Ok(expected), Ok(answer)) => {
            for (field, value) in expected.as_object().expect("an expected answer is an object") {
                proptest::prop_assert_eq!(&answer[field], value, "{:?}: {} of {}", step, field, answer);
            }
        }
        (Err(code), Err(error)) => proptest::prop_assert_eq!(*code, error.code.as_str(), "{:?}: {}", step, error),
        (expected, answer) => {
            return Err(TestCaseError::fail(format!("{step:?}: expected {expected:?}, answered {answer:?}")));
        }
    }
    Ok(())
}

impl Simulation {
    pub fn new() -> Self {
        let world = World::with_embedder(Arc::new(OwnVectors));
        world.call("create_workspace", json!({"workspace_id": WORKSPACES[1]}));
        let sql = world.sql();
        let mut simulation = Self {
            world,
            sql,
            models: Default::default(),
            memories: Default::default(),
            runs: Vec::new(),
            plans: Vec::new(),
            planted: 0,
            steps: 0,
        };
        for at in 0..WORKSPACES.len() {
            simulation.models[at].audited = simulation.audit_chain(at).len();
        }
        simulation
    }

    /// Every answer is compared with the model's; then every invariant is asked of the database itself.
    pub fn live(&mut self, life: &Life) -> Outcome {
        for (at, step) in &life.0 {
            self.take(*at, step)?;
            self.learn_names()?;
            self.check_rows().map_err(|error| TestCaseError::fail(format!("after {step:?}: {error}")))?;
            self.steps += 1;
            if self.steps.is_multiple_of(DOCTOR_EVERY) {
                self.ask_doctor()?;
            }
        }
        self.compare_everything()?;
        self.ask_doctor()
    }

    /// Names that went with the text they were made from were replaced: by one made from the text that is there now, which may be
    /// a former one of the memory, and nobody else's.
    fn learn_names(&mut self) -> Outcome {
        for at in 0..WORKSPACES.len() {
            let is_unknown = |it: &Memory| it.name.is_empty();
            if !self.models[at].memories.iter().any(is_unknown) {
                continue;
            }
            let mut listed =
                array(&self.look(at, "list_memories", json!({"lifecycle": "all", "limit": 100}))["memories"]).to_vec();
            // Files are not listed; only a rewrite, which leaves a memory living, renames one.
            let files = self.models[at].memories.iter().filter(|it| it.repo.is_some() && is_unknown(it));
            listed.extend(files.map(|it| self.look(at, "get_memory", json!({"memory_id": it.id}))));
            for known in &listed {
                let (id, name) = (text_of(&known["memory_id"]), text_of(&known["name"]));
                let model = &mut self.models[at];
                let has = |it: &Memory| it.name == name || it.aliases.contains(&name);
                let is_taken = model.memories.iter().any(|it| it.id != id && has(it));
                let Some(memory) = model.memories.iter_mut().find(|it| it.id == id && is_unknown(it)) else { continue };
                proptest::prop_assert!(!is_taken && is_made_from(&name, &memory.content().topic), "{}", name);
                memory.aliases.retain(|alias| *alias != name);
                memory.name = name;
            }
        }
        Ok(())
    }

    pub fn living(&self, at: usize, number: u8) -> Id {
        choose(self.models[at].live().map(|it| it.id.clone()).collect(), &self.memories[at], number)
    }

    pub fn trashed(&self, at: usize, number: u8) -> Id {
        let trashed = self.models[at].memories.iter().filter(|it| !it.is_live());
        choose(trashed.map(|it| it.id.clone()).collect(), &self.memories[at], number)
    }

    /// A run that can still be undone, newest first.
    pub fn run(&self, at: usize, number: u8) -> Id {
        let runs = self.models[at].runs.iter().rev().filter(|it| !it.is_undone && !it.is_purged);
        choose(runs.map(|it| it.id.clone()).collect(), &self.runs, number)
    }

    /// A plan that was not applied yet; sometimes any.
    pub fn plan(&self, at: usize, number: u8) -> Id {
        let plans = self.models[at].plans.iter().rev().filter(|it| it.outcome.is_none() || number > 8);
        choose(plans.map(|it| it.id.clone()).collect(), &self.plans, number)
    }

    pub fn ask(&self, at: usize, operation: &str, mut request: Value) -> Result<Value, ServiceError> {
        request["workspace_id"] = WORKSPACES[at].into();
        let answer = self.world.try_call(operation, request);
        self.world.service.flush_uses().unwrap();
        answer
    }

    pub fn take(&mut self, at: usize, step: &Step) -> Outcome {
        match step.clone() {
            Step::Add(addition) => self.add(at, step, &addition),
            Step::Rewrite { memory, content, is_expected, erase } => {
                self.rewrite(at, step, memory, content, is_expected, erase)
            }
            Step::SetSourceVersion { memory, version } => self.set_source_version(at, step, memory, version),
            Step::Retag { memory, tag, pin } => self.retag(at, step, memory, tag, pin),
            Step::Expire { memory, days } => self.expire(at, step, memory, days),
            Step::Supersede { memory, by } => self.supersede(at, step, memory, by),
            Step::Plant(planting) => {
                self.plant(at, &planting);
                Ok(())
            }
            Step::Import { first, second, describe, relate } => self.import(at, step, first, second, describe, relate),
            Step::Wait { days } => {
                self.world.advance_ms(days * DAY_MS);
                Ok(())
            }
            Step::Restart => self.restart(),
            Step::Search { word } => self.search(at, WORDS[usize::from(word)]),
            Step::Get { memory, plan } => self.get(at, step, memory, plan),
            Step::List => self.compare_lists(at),
            Step::SetRetention { target, policy } => self.set_retention(at, step, target, policy),
            Step::Plan { strategies } => self.plan_garbage(at, step, &strategies),
            Step::Forget { word, erase } => self.forget(at, step, WORDS[usize::from(word)], erase),
            Step::Prune { strategy, plan, dry_run, confirm, review } => {
                self.prune(at, step, strategy, plan, dry_run, confirm, review)
            }
            Step::Apply { plan, confirm, review } => self.apply(at, step, plan, confirm, review),
            Step::Delete { memory, undo } => self.delete(at, step, memory, undo),
            Step::UndoRun { run } => self.undo_run(at, step, run),
            Step::UndoMemory { memory } => self.undo_memory(at, step, memory),
            Step::PurgeRun { run } => self.purge_run(at, step, run),
            Step::PurgeAll => self.purge_all(at, step),
        }
    }
}
