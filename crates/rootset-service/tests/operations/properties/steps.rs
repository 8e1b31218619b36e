//! What may happen in a life: the steps, how likely each is, and the few contents that everything is about.

use proptest::prelude::*;
use rootset_model::Content;

use crate::model::{Object, OrphanKind, Policy, Target, objects_of};

/// Of single steps and scenes, after the beginning; as few as one, so that a failing life can be shortened to what
/// matters.
const PARTS_MIN: usize = 1;
const PARTS_MAX: usize = 12;
pub const WORKSPACES: [&str; 2] = ["home", "other"];
pub const THINGS: [&str; 3] = ["AlphaThing", "BetaThing", "GammaThing"];
pub const WORDS: [&str; 5] = ["zebra", "quartz", "AlphaThing", "BetaThing", "GammaThing"];
/// A word of every content: whoever asks for it asks for everything.
pub const COMMON_WORD: &str = "lantern";
pub const SOURCES: [&str; 2] = ["user", "agent"];
pub const CODE_SOURCE: &str = "code_indexer";
pub const REPO: &str = "web";
pub const STRATEGIES: [&str; 6] =
    ["stale_code", "expired", "superseded", "orphaned_chunks", "orphaned_entities", "all"];
pub const CONTENTS: u8 = 12;
/// What every life begins with.
const BEGINNING: [u8; 6] = [0, 3, 5, 8, 9, 10];

/// Small numbers stand for things that are there by then, and now and then for things that are not.
#[derive(Clone, Debug)]
pub enum Step {
    Add(Addition),
    Rewrite {
        memory: u8,
        content: u8,
        is_expected: Option<bool>,
        erase: bool,
    },
    Retag {
        memory: u8,
        tag: u8,
        pin: Option<bool>,
    },
    /// Days from now, perhaps in the past; `None` clears the date.
    Expire {
        memory: u8,
        days: Option<i64>,
    },
    SetSourceVersion {
        memory: u8,
        version: Option<i64>,
    },
    Supersede {
        memory: u8,
        by: u8,
    },
    Plant(Planting),
    Import {
        first: u8,
        second: u8,
        describe: bool,
        relate: bool,
    },
    Wait {
        days: i64,
    },
    /// The process ends without a word, and another one goes on.
    Restart,

    Search {
        word: u8,
    },
    Get {
        memory: u8,
        plan: Option<u8>,
    },
    List,

    SetRetention {
        target: Target,
        policy: Policy,
    },
    Plan {
        strategies: Vec<&'static str>,
    },
    Forget {
        word: u8,
        erase: bool,
    },
    Prune {
        strategy: &'static str,
        plan: Option<u8>,
        dry_run: Option<bool>,
        confirm: bool,
        review: Review,
    },
    Apply {
        plan: u8,
        confirm: bool,
        review: Review,
    },
    Delete {
        memory: u8,
        undo: bool,
    },
    UndoRun {
        run: u8,
    },
    UndoMemory {
        memory: u8,
    },
    PurgeRun {
        run: u8,
    },
    PurgeAll,
}

#[derive(Clone, Debug, Default)]
pub struct Addition {
    pub content: u8,
    pub tag: Option<u8>,
    pub restore: bool,
    pub supersedes: Option<u8>,
    pub source: u8,
    pub pin: bool,
    pub expires_in_days: Option<i64>,
    pub source_version: Option<i64>,
}

/// What no operation does, or nobody should: written past the service.
#[derive(Clone, Debug)]
pub enum Planting {
    /// The memory becomes that of an indexed file, which the last scan contains or not.
    File {
        memory: u8,
        is_stale: bool,
    },
    /// A time that says nothing: negative, or in the future.
    IngestedAt {
        memory: u8,
        is_future: bool,
    },
    Orphan {
        kind: OrphanKind,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Review {
    pub allow_large: bool,
    /// The reviewer keeps the first item.
    pub exclude: bool,
    /// The reviewer changes their mind at once: what is undone must be as if it had never been (I9).
    pub undo: bool,
}

/// Steps, each with the place of its workspace.
pub struct Life(pub Vec<(usize, Step)>);

/// One line per step, so that a failure can be read.
impl std::fmt::Debug for Life {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|(at, step)| write!(f, "\n    {}: {step:?}", WORKSPACES[*at]))
    }
}

/// The second workspace is visited less often: things have to meet.
pub fn life() -> impl Strategy<Value = Life> {
    let beginning = BEGINNING.map(|content| {
        let expires_in_days = proptest::option::weighted(0.3, 1..40_i64);
        (0..2_u8, expires_in_days).prop_map(move |(source, expires_in_days)| {
            (0, Step::Add(Addition { content, source, expires_in_days, ..Addition::default() }))
        })
    });
    let part = prop_oneof![4 => step().prop_map(|step| vec![step]), 1 => scene()];
    let rest =
        prop::collection::vec((prop_oneof![3 => Just(0_usize), 1 => Just(1_usize)], part), PARTS_MIN..=PARTS_MAX);
    (beginning, rest).prop_map(|(beginning, rest)| {
        let rest = rest.into_iter().flat_map(|(at, steps)| steps.into_iter().map(move |step| (at, step)));
        Life(beginning.into_iter().chain(rest).collect())
    })
}

/// What single steps come to too seldom.
fn scene() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![5 => late_apply(), 1 => whole_source(), 1 => forgotten_revision(), 1 => purged_successor()]
}

/// Something becomes garbage and is planned, then everything changes, and the plan is applied all the same.
fn late_apply() -> impl Strategy<Value = Vec<Step>> {
    let garbage = prop_oneof![
        5 => (target(), strict_policy(), 0..6_i64)
            .prop_map(|(target, policy, days)| vec![Step::SetRetention { target, policy }, Step::Wait { days }]),
        2 => (number(), number())
            .prop_map(|(memory, by)| vec![Step::Supersede { memory, by }, Step::Wait { days: 31 }]),
        1 => number().prop_map(|memory| vec![Step::Plant(Planting::File { memory, is_stale: true })]),
    ];
    let change = prop_oneof![
        4 => number().prop_map(|memory| Step::Retag { memory, tag: 0, pin: Some(true) }),
        4 => number().prop_map(|memory| Step::Delete { memory, undo: false }),
        4 => prop::sample::select(BEGINNING.to_vec())
            .prop_map(|content| Step::Add(Addition { content, pin: true, ..Addition::default() })),
        3 => number().prop_map(|memory| Step::Get { memory, plan: None }),
        3 => (target(), policy()).prop_map(|(target, policy)| Step::SetRetention { target, policy }),
        2 => number().prop_map(|memory| Step::Plant(Planting::File { memory, is_stale: false })),
        4 => writing(),
    ]
    .boxed();
    // A single change has to be noticed by itself.
    let changes = prop_oneof![2 => prop::collection::vec(change.clone(), 1), 1 => prop::collection::vec(change, 2..=3)];
    (garbage, changes, prop::bool::weighted(0.8), review()).prop_map(|(garbage, changes, is_planned, review)| {
        let review = Review { allow_large: true, ..review };
        let plan = is_planned.then(|| Step::Plan { strategies: vec!["all"] });
        let apply = Step::Apply { plan: 0, confirm: true, review };
        garbage.into_iter().chain(plan).chain(changes).chain([apply]).collect()
    })
}

/// A policy that would take all of a source, and a reviewer who perhaps keeps enough for the limits to agree.
fn whole_source() -> impl Strategy<Value = Vec<Step>> {
    (prop::sample::select(SOURCES.to_vec()), any::<bool>(), prop::bool::weighted(0.2)).prop_map(
        |(source, exclude, allow_large)| {
            let policy = Policy { max_count: Some(0), ..Policy::default() };
            let review = Review { allow_large, exclude, undo: false };
            vec![
                Step::SetRetention { target: Target::Source(source), policy },
                Step::Plan { strategies: vec!["expired"] },
                Step::Apply { plan: 0, confirm: false, review },
            ]
        },
    )
}

/// A text is rewritten, its old words are forgotten, and the reviewer thinks better of it.
fn forgotten_revision() -> impl Strategy<Value = Vec<Step>> {
    (number(), 0..CONTENTS, 0..5_u8, prop::bool::weighted(0.7)).prop_map(|(memory, content, word, undo)| {
        let review = Review { allow_large: true, exclude: false, undo };
        vec![
            Step::Rewrite { memory, content, is_expected: None, erase: false },
            Step::Forget { word, erase: false },
            Step::Apply { plan: 0, confirm: false, review },
        ]
    })
}

/// What superseded another is gone for good: the other is as if it had never been superseded.
fn purged_successor() -> impl Strategy<Value = Vec<Step>> {
    (number(), number()).prop_map(|(memory, by)| {
        vec![Step::Supersede { memory, by }, Step::Delete { memory: by, undo: false }, Step::PurgeRun { run: 0 }]
    })
}

/// Few places and no mercy, so that every place counts.
fn strict_policy() -> impl Strategy<Value = Policy> {
    let rules = prop_oneof![
        4 => (1..4_i64).prop_map(|count| Policy { max_count: Some(count), ..Policy::default() }),
        1 => (1..4_i64).prop_map(|days| Policy { max_age: Some(days), ..Policy::default() }),
        1 => (1..4_i64, 1..3_i64)
            .prop_map(|(count, min_keep)| Policy { max_count: Some(count), min_keep, ..Policy::default() }),
    ];
    (rules, prop::bool::weighted(0.3)).prop_map(|(policy, is_by_use)| Policy { is_by_use, ..policy })
}

fn number() -> std::ops::Range<u8> {
    0..12
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![27 => writing(), 6 => reading(), 30 => collecting()]
}

fn writing() -> impl Strategy<Value = Step> {
    let some = |chance: f64| proptest::option::weighted(chance, number());
    let addition = (
        (0..CONTENTS, some(0.3), prop::bool::weighted(0.3), some(0.2)),
        (0..2_u8, prop::bool::weighted(0.15), proptest::option::weighted(0.3, 1..40_i64)),
        proptest::option::weighted(0.3, 0..5_i64),
    );
    prop_oneof![
        8 => addition.prop_map(|((content, tag, restore, supersedes), (source, pin, expires_in_days), source_version)| {
            Step::Add(Addition { content, tag, restore, supersedes, source, pin, expires_in_days, source_version })
        }),
        4 => (number(), 0..CONTENTS, proptest::option::weighted(0.3, any::<bool>()), prop::bool::weighted(0.2))
            .prop_map(|(memory, content, is_expected, erase)| Step::Rewrite { memory, content, is_expected, erase }),
        3 => (number(), number(), proptest::option::weighted(0.6, any::<bool>()))
            .prop_map(|(memory, tag, pin)| Step::Retag { memory, tag, pin }),
        2 => (number(), proptest::option::weighted(0.8, -2..30_i64))
            .prop_map(|(memory, days)| Step::Expire { memory, days }),
        1 => (number(), proptest::option::weighted(0.8, 0..5_i64))
            .prop_map(|(memory, version)| Step::SetSourceVersion { memory, version }),
        4 => (number(), number()).prop_map(|(memory, by)| Step::Supersede { memory, by }),
        5 => planting().prop_map(Step::Plant),
        2 => (0..3_u8, 0..3_u8, any::<bool>(), any::<bool>())
            .prop_map(|(first, second, describe, relate)| Step::Import { first, second, describe, relate }),
        5 => prop_oneof![2 => Just(1_i64), 2 => 2..10_i64, 2 => Just(31_i64)].prop_map(|days| Step::Wait { days }),
        1 => Just(Step::Restart),
    ]
}

fn planting() -> impl Strategy<Value = Planting> {
    let kinds = vec![OrphanKind::Chunk, OrphanKind::Relation, OrphanKind::Entity];
    prop_oneof![
        3 => (number(), any::<bool>()).prop_map(|(memory, is_stale)| Planting::File { memory, is_stale }),
        1 => (number(), any::<bool>()).prop_map(|(memory, is_future)| Planting::IngestedAt { memory, is_future }),
        2 => prop::sample::select(kinds).prop_map(|kind| Planting::Orphan { kind }),
    ]
}

fn reading() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..5_u8).prop_map(|word| Step::Search { word }),
        3 => (number(), proptest::option::weighted(0.3, number()))
            .prop_map(|(memory, plan)| Step::Get { memory, plan }),
        1 => Just(Step::List),
    ]
}

fn collecting() -> impl Strategy<Value = Step> {
    let strategies = prop_oneof![
        2 => Just(vec!["all"]),
        3 => prop::sample::subsequence(STRATEGIES.to_vec(), 1..=2),
    ];
    let prune = (
        prop_oneof![1 => Just("all"), 2 => prop::sample::select(STRATEGIES.to_vec())],
        proptest::option::weighted(0.5, number()),
        proptest::option::weighted(0.9, prop::bool::weighted(0.2)),
        prop::bool::weighted(0.8),
        review(),
    );
    prop_oneof![
        5 => (target(), policy()).prop_map(|(target, policy)| Step::SetRetention { target, policy }),
        5 => strategies.prop_map(|strategies| Step::Plan { strategies }),
        2 => (0..5_u8, prop::bool::weighted(0.3)).prop_map(|(word, erase)| Step::Forget { word, erase }),
        6 => prune.prop_map(|(strategy, plan, dry_run, confirm, review)| {
            Step::Prune { strategy, plan, dry_run, confirm, review }
        }),
        9 => (number(), prop::bool::weighted(0.8), review())
            .prop_map(|(plan, confirm, review)| Step::Apply { plan, confirm, review }),
        3 => (number(), prop::bool::weighted(0.2)).prop_map(|(memory, undo)| Step::Delete { memory, undo }),
        3 => number().prop_map(|run| Step::UndoRun { run }),
        2 => number().prop_map(|memory| Step::UndoMemory { memory }),
        3 => number().prop_map(|run| Step::PurgeRun { run }),
        1 => Just(Step::PurgeAll),
    ]
}

fn review() -> impl Strategy<Value = Review> {
    (prop::bool::weighted(0.8), prop::bool::weighted(0.2), prop::bool::weighted(0.2))
        .prop_map(|(allow_large, exclude, undo)| Review { allow_large, exclude, undo })
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        3 => Just(Target::Workspace),
        2 => prop::sample::select(vec![SOURCES[0], SOURCES[1], CODE_SOURCE]).prop_map(Target::Source),
        1 => Just(Target::Repo(REPO)),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    let rule = |chance: f64, values: std::ops::Range<i64>| proptest::option::weighted(chance, values);
    (rule(0.4, 1..12), rule(0.5, 0..6), rule(0.3, 1..4), rule(0.3, 0..4), rule(0.3, 1..9), prop::bool::weighted(0.3))
        .prop_map(|(max_age, max_count, max_version_gap, min_keep, keep_within, is_by_use)| Policy {
            max_age,
            max_count,
            max_version_gap,
            min_keep: min_keep.unwrap_or_default(),
            keep_within: keep_within.unwrap_or_default(),
            is_by_use,
        })
}

/// Two of three things, one of two words, and a word of its own: contents collide and entities are shared all the time,
/// and still every content can be told from the others in a file.
pub fn content(number: u8) -> Content {
    let (pair, word) = (number / 2 % 6, number % 2);
    let (first, second) = [(0, 1), (1, 0), (0, 2), (2, 1), (1, 1), (2, 2)][usize::from(pair)];
    let own = own_word(number);
    let text =
        format!("{} uses {} near {} {COMMON_WORD} {own}.", THINGS[first], THINGS[second], WORDS[usize::from(word)]);
    Content { topic: text.clone(), context: text, decisions: Vec::new(), rationale: Vec::new() }
}

fn own_letter(number: u8) -> char {
    char::from(b"bcdfghjkmnpr"[usize::from(number % CONTENTS)])
}

fn own_word(number: u8) -> String {
    format!("plumb{}", own_tail(number))
}

/// What is left of the own word in a full-text index, whose terms are stored without what they share with their
/// neighbours: own words share no more than their beginning.
pub fn own_tail(number: u8) -> String {
    let letter = own_letter(number);
    format!("{letter}{letter}zkvx{letter}q{letter}")
}

pub fn kind_of(thing: &str) -> String {
    let text = format!("{thing} is here.");
    let content = Content { topic: text.clone(), context: text, decisions: Vec::new(), rationale: Vec::new() };
    let kind = objects_of(&content).into_iter().find_map(|object| match object {
        Object::Entity { name, kind, .. } if name == thing => Some(kind),
        _ => None,
    });
    kind.expect("the extractor knows identifiers")
}
