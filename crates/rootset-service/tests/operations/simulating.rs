//! `set_retention` with `dry_run`: what would go on the coming days, with nothing stored.

use serde_json::{Value, json};

use crate::harness::{DAY_MS, HOUR_MS, World, array};

/// Notes `n0` (oldest) to `n5`, a day apart; the last is a day and an hour old.
fn world_with_days() -> World {
    let world = World::new();
    for number in 0..6 {
        world.add_named(&format!("n{number}"), &format!("Note number {number}."));
        world.advance_ms(DAY_MS);
    }
    world.advance_ms(HOUR_MS);
    world
}

fn simulated(world: &World, request: Value) -> Value {
    let mut request = request;
    request["dry_run"] = true.into();
    world.call("set_retention", request)["simulation"].clone()
}

/// Day and memories of each day on which something goes.
fn days(simulation: &Value) -> Vec<(i64, i64)> {
    let number = |day: &Value, field: &str| day[field].as_i64().expect("a number");
    array(&simulation["days"]).iter().map(|day| (number(day, "day"), number(day, "memories"))).collect()
}

#[test]
fn dry_run_tells_what_goes_on_which_day_and_how_much_of_it_is_in_use() {
    let world = world_with_days();
    world.call("get_memory", json!({"memory_id": "n1"}));
    let answer = world.call("set_retention", json!({"max_age": "5d", "dry_run": true, "horizon": "3d"}));
    assert_eq!(answer["policy"], json!({"max_age": "5d"}));
    assert_eq!(answer["replaces"], json!({}));
    assert_eq!(answer["would_expire"]["memories"], 2);
    let simulation = &answer["simulation"];
    assert_eq!(days(simulation), [(0, 2), (1, 1), (2, 1), (3, 1)]);
    assert_eq!(simulation["horizon"], "3d");
    let user = |memories: i64, used: i64| json!([{"source": "user", "memories": memories, "recently_used": used}]);
    let first = &simulation["days"][0];
    assert_eq!((&first["recently_used"], &first["by_source"]), (&json!(1), &user(2, 1)));
    let total = &simulation["total"];
    assert_eq!((&total["memories"], &total["recently_used"], &total["by_source"]), (&json!(5), &json!(1), &user(5, 1)));
}

#[test]
fn dry_run_stores_nothing_and_leaves_no_trace() {
    let world = world_with_days();
    world.call("set_retention", json!({"max_age": "90d"}));
    let before = (world.dump("home"), world.call("list_audit", json!({})));
    let answer = world.call("set_retention", json!({"max_count": 0, "dry_run": true}));
    assert_eq!(answer["replaces"], json!({"max_age": "90d"}));
    assert_eq!(answer["simulation"]["total"]["memories"], 6);
    assert_eq!((world.dump("home"), world.call("list_audit", json!({}))), before);
    assert_eq!(world.call("get_retention", json!({}))["policy"], json!({"max_age": "90d"}));
}

#[test]
fn other_policies_of_the_workspace_count_as_they_are() {
    let world = world_with_days();
    world.call("add_memory", json!({"name": "agent", "context": "Of an agent.", "source": "agent"}));
    world.call("set_retention", json!({"source": "agent", "max_age": "20d"}));
    // The policy of its source stays in force for the agent's memory.
    let simulation = simulated(&world, json!({"max_age": "10d", "min_keep": 4, "horizon": "40d"}));
    assert_eq!(days(&simulation), [(4, 1), (5, 1), (20, 1)]);
    assert_eq!(simulation["days"][2]["by_source"][0]["source"], "agent");
    // Now that of its source is the one in question.
    let simulation = simulated(&world, json!({"source": "agent", "max_age": "2d", "horizon": "40d"}));
    assert_eq!(days(&simulation), [(2, 1)]);
}

#[test]
fn what_a_dry_run_tells_happens_when_the_days_pass() {
    let world = world_with_days();
    let policy = json!({"max_age": "8d", "max_count": 5, "keep_within": "2d", "min_keep": 1});
    let told = days(&simulated(&world, policy.clone()));
    world.call("set_retention", policy);
    let mut happened = Vec::new();
    for day in 0..20 {
        let plan = world.call("gc_plan", json!({"strategies": ["expired"]}));
        let memories = plan["totals"]["memories"].as_i64().unwrap_or_default();
        if memories > 0 {
            happened.push((day, memories));
            world.call("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
        }
        world.let_pass_ms(DAY_MS);
    }
    assert_eq!(told, happened);
    assert_eq!(told.iter().map(|(_, memories)| memories).sum::<i64>(), 5, "the newest stays");
}

#[test]
fn own_dates_of_memories_are_not_part_of_a_simulation() {
    let world = world_with_days();
    let expires_at = world.now_ms() + 3 * DAY_MS;
    world.call("update_memory", json!({"memory_id": "n5", "expires_at": expires_at}));
    assert_eq!(days(&simulated(&world, json!({"max_age": "300d"}))), []);
}

#[test]
fn horizon_is_whole_days_within_ten_years_and_for_dry_runs_only() {
    let world = world_with_days();
    for (horizon, shown) in [
        (json!("0d"), "`\"0d\"`"),
        (json!("3651d"), "`\"3651d\"`"),
        (json!("36h"), "`\"36h\"`"),
        (json!("soon"), "`\"soon\"`"),
        (json!(-86_400_000), "`-86400000`"),
        (json!(i64::MAX), "`9223372036854775807`"),
        (json!(1.5), "`1.5`"),
    ] {
        let error = world.refuses("set_retention", json!({"max_age": "1d", "dry_run": true, "horizon": horizon}));
        let expected = format!("`horizon` is {shown}; allowed: whole days from `1d` to `3650d`");
        assert_eq!(error.message, expected);
    }
    let error = world.refuses("set_retention", json!({"max_age": "1d", "horizon": "5d"}));
    assert_eq!(error.message, "`horizon` is given without `dry_run: true`");
    assert_eq!(simulated(&world, json!({}))["horizon"], "90d");
    assert_eq!(simulated(&world, json!({"horizon": 86_400_000}))["horizon"], "1d");
    assert_eq!(simulated(&world, json!({"max_age": "3650d", "horizon": "3650d"}))["total"]["memories"], 6);
}
