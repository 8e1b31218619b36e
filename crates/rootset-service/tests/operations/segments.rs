//! Context segments in the protocol: forgotten with everything else, in the trash, back again, gone for good.

use rootset_gc::context::{SegmentState, SegmentType};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{PlanId, SegmentKey, Timestamp};
use rootset_store::driver::SearchIndex;
use rootset_store::{
    EraseIds, NewPlan, NewSegmentRow, SegmentChange, SegmentRow, SessionChange, SessionState, Stamp, Store, Workspace,
};
use rootset_text::terms;
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, ids, names, text_of};

/// Words that occur nowhere else.
const SECRET: &str = "the zyxwaardvark met a quuxflamingo on the way";

/// The store of another process on the world's database.
struct Sessions<'a> {
    world: &'a World,
    store: Store,
    workspace: Workspace,
}

impl<'a> Sessions<'a> {
    fn of(world: &'a World) -> Self {
        let store = world.store();
        let workspace = store.workspace("home").unwrap();
        Self { world, store, workspace }
    }

    fn stamp(&self) -> Stamp<'static> {
        Stamp::new(Timestamp(self.world.now_ms()), "cli")
    }

    fn rows(&self, session: &str) -> Vec<SegmentRow> {
        let loaded = self.store.load_session(&self.workspace, session, None).unwrap();
        loaded.map_or_else(Vec::new, |loaded| loaded.segments)
    }

    fn row(&self, session: &str, id: &str) -> SegmentRow {
        self.rows(session).into_iter().find(|row| row.segment_id == id).unwrap()
    }

    fn states(&self, session: &str) -> Vec<(String, SegmentState)> {
        self.rows(session).into_iter().map(|row| (row.segment_id, row.state)).collect()
    }

    fn change(&self, session: &str, added: Vec<NewSegmentRow>, changed: Vec<SegmentChange>) {
        let known = self.store.load_session(&self.workspace, session, None).unwrap().map(|it| it.head);
        let state = SessionState { settings: "{}".into(), focus: "{}".into(), collections: 0, next_step: 0 };
        let session_id = session.to_owned();
        let change =
            SessionChange { session_id, known, state, added, added_terms: Vec::new(), changed, ledger: Vec::new() };
        self.store.change_session(&self.workspace, &change, self.stamp()).unwrap();
    }

    fn add(&self, session: &str, id: &str, text: &str) -> String {
        self.add_pinned(session, id, text, false)
    }

    /// The id under which the protocol knows it.
    fn add_pinned(&self, session: &str, id: &str, text: &str, is_pinned: bool) -> String {
        let now = self.stamp().now;
        let row = SegmentRow {
            segment: 0,
            segment_id: id.into(),
            segment_type: SegmentType::Message,
            role: None,
            tool_call_id: None,
            tokens: 10,
            created_at: now,
            created_step: 0,
            touched_at: now,
            touched_step: 0,
            is_pinned,
            pin_reason: None,
            is_invariant: false,
            file_path: Some("src/deploy.rs".into()),
            lines: None,
            tags: Vec::new(),
            topic_id: None,
            task_id: None,
            references: Vec::new(),
            reply_to: None,
            derived_from: None,
            names: Vec::new(),
            text_hash: [text.len() as u8; 16],
            text_chars: text.chars().count() as i64,
            state: SegmentState::Active,
            stashed_at: None,
            stash_reason: None,
            entered_collection: 0,
            version: 0,
            written_by: String::new(),
        };
        self.change(session, vec![NewSegmentRow { row, text: text.into(), raw: None }], Vec::new());
        SegmentKey(self.row(session, id).segment).external().to_string()
    }

    fn stash(&self, session: &str, id: &str) {
        let row = self.row(session, id);
        let text = self.store.segment_texts(&self.workspace, &[row.segment]).unwrap().remove(0).text;
        let change = SegmentChange {
            segment: row.segment,
            state: SegmentState::Stashed,
            stashed_at: Some(self.stamp().now),
            stash_reason: Some("cold".into()),
            is_pinned: row.is_pinned,
            pin_reason: row.pin_reason,
            is_invariant: row.is_invariant,
            touched_at: row.touched_at,
            touched_step: row.touched_step,
            entered_collection: row.entered_collection,
            terms: Some(terms::index_terms(&text)),
        };
        self.change(session, Vec::new(), vec![change]);
    }

    fn stashed(&self, word: &str) -> Vec<String> {
        let terms: Vec<String> = terms::index_terms(word).split(' ').map(str::to_owned).collect();
        let hits = self.store.search_stash(&self.workspace, &terms, &Default::default(), 10).unwrap();
        hits.into_iter().map(|hit| hit.segment_id).collect()
    }
}

fn active(id: &str) -> (String, SegmentState) {
    (id.to_owned(), SegmentState::Active)
}

fn bystanders(world: &World) {
    for number in 0..10 {
        world.add(&format!("bystander number {number}"));
    }
}

#[test]
fn a_forget_takes_memories_and_segments_and_an_undo_brings_both_back() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    bystanders(&world);
    world.add_named("note", "falcon in a memory");
    let falcon = sessions.add("morning", "m1", "falcon in a window");
    sessions.add("morning", "m2", "an owl");
    sessions.add("evening", "e1", "falcon in the stash");
    sessions.stash("evening", "e1");
    let before = (sessions.states("morning"), sessions.states("evening"), world.dump("home"));

    let plan = world.call("forget", json!({"query": "falcon"}));
    let shown: Vec<Value> =
        array(&plan["items"]).iter().map(|it| json!([it["kind"], it["name"], it["topic"]])).collect();
    let wanted = [
        json!(["memory", "note", "falcon in a memory"]),
        json!(["segment", "e1", "evening"]),
        json!(["segment", "m1", "morning"]),
    ];
    assert_eq!(shown, wanted);
    assert_eq!((&plan["items"][2]["id"], &plan["items"][2]["file_path"]), (&json!(falcon), &json!("src/deploy.rs")));
    assert_eq!((&plan["totals"]["segments"], &plan["matched"]), (&json!(2), &json!(3)));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!((&applied["trashed"]["memories"], &applied["trashed"]["segments"]), (&json!(1), &json!(2)));
    assert_eq!(sessions.states("morning"), [("m1".to_owned(), SegmentState::Deleted), active("m2")]);
    assert_eq!(sessions.stashed("falcon"), Vec::<String>::new());

    let trash = world.call("list_trash", json!({}));
    assert_eq!(names(&trash["items"]), ["note", "m1", "e1"]);
    let status = world.call("gc_status", json!({}));
    assert_eq!((&status["trash"]["segments"], &status["live"]["segments"]), (&json!(2), &json!(1)));
    let explained = world.call("gc_explain", json!({"id": falcon}));
    assert_eq!((&explained["kind"], &explained["alive"]), (&json!("segment"), &json!(false)));
    let again = world.call("forget", json!({"query": "falcon"}));
    assert_eq!(again["in_plan"], 0);

    let undone = world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(undone["restored"], json!({"memories": 1, "segments": 2}));
    assert_eq!((sessions.states("morning"), sessions.states("evening"), world.dump("home")), before);
    assert_eq!(sessions.stashed("falcon"), ["e1"]);
    world.assert_doctor_is_content();
}

#[test]
fn a_forget_that_erases_leaves_no_word_of_a_segment_in_any_file() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", SECRET);
    sessions.add("morning", "m2", "something else");
    sessions.stash("morning", "m1");
    let plan = world.call("forget", json!({"query": "zyxwaardvark", "purge": true}));
    assert_eq!(world.fails("gc_apply", json!({"plan_id": plan["plan_id"]})).0, "confirmation_required");
    assert!(!world.places_with(b"quuxflamingo").is_empty());
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(applied["receipt"]["rows"]["segments"], 1);
    assert_eq!(applied["receipt"]["byte_scan"], World::clean_scan());
    for word in ["zyxwaardvark", "quuxflamingo", "aardvark", "flamingo"] {
        assert_eq!(world.places_with(word.as_bytes()), Vec::<String>::new(), "{word}");
    }
    assert_eq!(sessions.states("morning"), [active("m2")]);
    assert_eq!(world.fails("gc_undo", json!({"run_id": applied["run_id"]})).0, "conflict");
    world.assert_doctor_is_content();
}

#[test]
fn an_erasure_takes_what_is_in_the_trash_too() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", SECRET);
    let plan = world.call("forget", json!({"query": "zyxwaardvark"}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    let plan = world.call("forget", json!({"query": "zyxwaardvark", "purge": true}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(applied["receipt"]["rows"]["segments"], 1);
    assert_eq!(world.places_with(b"zyxwaardvark"), Vec::<String>::new());
    world.assert_doctor_is_content();
}

#[test]
fn only_the_kinds_asked_for_are_looked_among() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    bystanders(&world);
    world.add_named("note", "falcon");
    sessions.add("morning", "m1", "falcon");
    let kinds = |kinds: Value| names(&world.call("forget", json!({"query": "falcon", "kinds": kinds}))["items"]);
    assert_eq!(kinds(json!(["segments"])), ["m1"]);
    assert_eq!(kinds(json!(["memories"])), ["note"]);
    assert_eq!(kinds(json!([])), ["note", "m1"]);
}

#[test]
fn a_pinned_segment_stays_and_is_named_unless_asked_for() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    let id = sessions.add_pinned("morning", "m1", "falcon", true);
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!((&plan["matched"], &plan["in_plan"]), (&json!(1), &json!(0)));
    assert_eq!(ids(&plan["kept_pinned"]), [id]);
    let plan = world.call("forget", json!({"query": "falcon", "include_pinned": true}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["segments"], 1);
}

#[test]
fn a_segment_that_changed_or_is_excluded_stays() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    let changed = sessions.add("morning", "changed", "falcon 1");
    let excluded = sessions.add("morning", "excluded", "falcon 2");
    sessions.add("morning", "goes", "falcon 3");
    let plan = world.call("forget", json!({"query": "falcon"}));
    sessions.stash("morning", "changed");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "exclude": [excluded]}));
    let mut skipped: Vec<(String, String)> =
        array(&applied["skipped"]["first"]).iter().map(|it| (text_of(&it["id"]), text_of(&it["reason"]))).collect();
    skipped.sort();
    assert_eq!(skipped, [(changed, "changed".to_owned()), (excluded, "excluded".to_owned())]);
    assert_eq!(applied["trashed"]["segments"], 1);
}

fn ids_of_erasure(first: u8) -> EraseIds {
    let id = |more: u8| [first + more; 16];
    EraseIds { plan: PlanId(id(0)), run: rootset_model::RunId(id(1)), erasure: rootset_model::ErasureId(id(2)) }
}

#[test]
fn a_deleted_session_is_undone_and_purged_by_its_run() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", SECRET);
    sessions.stash("morning", "m1");
    let delete = |first| {
        let (ids, stamp) = (ids_of_erasure(first), sessions.stamp());
        sessions.store.delete_session(&sessions.workspace, "morning", ids, DAY_MS, stamp).unwrap().id
    };
    let run = delete(0xA0);
    assert_eq!(world.call("get_stats", json!({}))["counts"]["sessions"], 1);
    let runs = world.call("gc_undo", json!({}));
    assert_eq!(runs["runs"][0]["trashed"]["sessions"], 1);
    let undone = world.call("gc_undo", json!({"run_id": run.to_string()}));
    assert_eq!(undone["restored"], json!({"memories": 0, "sessions": 1}));
    assert_eq!(sessions.stashed("zyxwaardvark"), ["m1"]);
    let run = delete(0xB0);
    let purged = world.call("gc_purge", json!({"run_id": run.to_string(), "confirm": true}));
    assert_eq!((&purged["purged"]["segments"], &purged["purged"]["sessions"]), (&json!(1), &json!(1)));
    assert_eq!(purged["receipt"]["byte_scan"], World::clean_scan());
    assert_eq!(world.places_with(b"quuxflamingo"), Vec::<String>::new());
    assert_eq!(world.call("get_stats", json!({}))["counts"]["segments"], 0);
    world.assert_doctor_is_content();
}

#[test]
fn segments_are_purged_when_their_time_in_the_trash_is_over() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", SECRET);
    let plan = world.call("forget", json!({"query": "zyxwaardvark"}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    let purge = || world.call("gc_purge", json!({"older_than": "7d", "confirm": true}));
    assert_eq!(purge()["purged"], json!({"memories": 0}));
    world.advance_ms(8 * DAY_MS);
    assert_eq!(purge()["purged"], json!({"memories": 0, "segments": 1}));
    assert_eq!(world.places_with(b"quuxflamingo"), Vec::<String>::new());
}

#[test]
fn what_was_erased_does_not_come_back_with_a_backup() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", SECRET);
    sessions.add("morning", "m2", "something else");
    let backup = world.call("backup_create", json!({"format": "jsonl"}));
    let plan = world.call("forget", json!({"query": "zyxwaardvark", "purge": true}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    let restored = world.call("backup_restore", json!({"backup_id": backup["backup_id"], "confirm": true}));
    assert_eq!(restored["replayed_erasures"], 1);
    assert_eq!(sessions.states("morning"), [active("m2")]);
    world.assert_doctor_is_content();
}

#[test]
fn a_plan_that_stashes_is_applied_like_any_other_and_undone_as_a_run() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", "falcon");
    let row = sessions.row("morning", "m1");
    let item = PlanItem {
        kind: ItemKind::SEGMENT,
        object: SegmentKey(row.segment).object(),
        revision: 0,
        version: row.version,
        action: Action::Stash,
        reason: Reason::COLD,
    };
    let plan = NewPlan {
        id: PlanId([0xC0; 16]),
        policy: r#"{"operation":"context_gc_analyze","session":1}"#.into(),
        items: vec![item],
        erases: false,
        include_pinned: false,
        is_named: false,
        marker: None,
    };
    sessions.store.store_segment_plan(&sessions.workspace, &plan, sessions.stamp()).unwrap();
    let shown = world.call("get_plan", json!({"plan_id": plan.id.to_string()}));
    assert_eq!((&shown["items"][0]["action"], &shown["items"][0]["name"]), (&json!("stash"), &json!("m1")));
    let applied = world.call("gc_apply", json!({"plan_id": plan.id.to_string()}));
    assert_eq!((&applied["trashed"]["stashed"], applied.get("undo_until")), (&json!(1), None));
    assert_eq!(sessions.stashed("falcon"), ["m1"]);
    world.call("gc_undo", json!({"run_id": applied["run_id"]}));
    assert_eq!(sessions.stashed("falcon"), [] as [&str; 0]);
    assert_eq!(sessions.states("morning"), [active("m1")]);
    world.assert_doctor_is_content();
}

#[test]
fn a_repair_makes_the_stash_searchable_again() {
    let world = World::new();
    let sessions = Sessions::of(&world);
    sessions.add("morning", "m1", "falcons are deployed");
    sessions.stash("morning", "m1");
    assert_eq!(sessions.stashed("deploying"), ["m1"]);
    world.sql().delete_search_rows(1, SearchIndex::Stash, |_| true).unwrap();
    assert_eq!(world.complaints(), ["I8.search_missing"]);
    world.call("doctor", json!({"repair": true}));
    world.assert_doctor_is_content();
    assert_eq!(sessions.stashed("deploying"), ["m1"]);
}
