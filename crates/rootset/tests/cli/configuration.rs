//! Files, environment, flags: which one wins, and what is refused.

use serde_json::Value;

use crate::sandbox::{Outcome, Sandbox};

#[track_caller]
fn setting(outcome: &Outcome, key: &str) -> (Value, String) {
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let setting = outcome.json()["settings"][key].clone();
    (setting["value"].clone(), setting["origin"].as_str().unwrap_or_default().to_owned())
}

#[track_caller]
fn refused(outcome: &Outcome, says: &[&str]) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(1), ""), "{outcome:?}");
    for part in says {
        assert!(outcome.stderr.contains(part), "`{part}` is not in {outcome:?}");
    }
}

#[test]
fn flag_beats_environment_beats_working_folder_beats_own_file() {
    let sandbox = Sandbox::new();
    let show = ["config", "show", "--json"];
    assert_eq!(setting(&sandbox.run(show), "workspace"), (Value::Null, "default".into()));
    sandbox.write(sandbox.own_configuration(), "workspace = \"own\"\n[gc]\ngrace = \"1d\"\n");
    assert_eq!(setting(&sandbox.run(show), "workspace").0, "own");
    sandbox.write("rootset.toml", "workspace = \"here\"\n[code]\nexclude = [\"x\"]\n");
    let (value, origin) = setting(&sandbox.run(show), "code.exclude");
    assert_eq!((value, origin.as_str()), (["x"].as_slice().into(), "`rootset.toml` in the working folder"));
    assert_eq!(
        setting(&sandbox.run(show), "workspace").0,
        "own",
        "a project names its workspace only where it is trusted"
    );
    let variable = [("ROOTSET_WORKSPACE", "variable"), ("ROOTSET_GC__GRACE", "2d")];
    let outcome = sandbox.run_with_variables(&variable, show);
    let (value, origin) = setting(&outcome, "workspace");
    assert_eq!((value, origin.as_str()), ("variable".into(), "the variable `ROOTSET_WORKSPACE`"));
    assert_eq!(setting(&outcome, "gc.grace").0, "2d");
    let outcome = sandbox.run_with_variables(&variable, ["config", "show", "--json", "-w", "flag"]);
    let (value, origin) = setting(&outcome, "workspace");
    assert_eq!((value, origin.as_str()), ("flag".into(), "the flag `--workspace`"));
}

#[test]
fn file_is_found_by_flag_then_variable_then_folder() {
    let sandbox = Sandbox::new();
    sandbox.write(sandbox.own_configuration(), "workspace = \"own\"");
    sandbox.write("by-variable.toml", "workspace = \"variable\"");
    sandbox.write("by-flag.toml", "workspace = \"flag\"");
    let variable = [("ROOTSET_CONFIG", "by-variable.toml")];
    let workspace = |outcome: Outcome| setting(&outcome, "workspace").0;
    assert_eq!(workspace(sandbox.run(["config", "show", "--json"])), "own");
    assert_eq!(workspace(sandbox.run_with_variables(&variable, ["config", "show", "--json"])), "variable");
    let with_flag = ["config", "show", "--json", "--config", "by-flag.toml"];
    assert_eq!(workspace(sandbox.run_with_variables(&variable, with_flag)), "flag");
    refused(&sandbox.run(["list", "--config", "nowhere.toml"]), &["`--config` names `nowhere.toml`"]);
}

#[test]
fn settings_reach_the_service() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let grace = [("ROOTSET_GC__GRACE", "3650d")];
    let outcome = sandbox.run_with_variables(&grace, ["rm", "falcon", "--yes"]);
    assert!(outcome.stdout.contains("(in 10y)"), "{outcome:?}");
    for n in 0..3 {
        sandbox.call("add_memory", &format!(r#"{{"text": "eagle {n}", "name": "eagle-{n}"}}"#));
    }
    sandbox.run(["add", "heron"]);
    let strict = [("ROOTSET_LIMITS__PLAN_COUNT_FREE", "0"), ("ROOTSET_LIMITS__PLAN_FRACTION_MAX", "0.5")];
    let outcome = sandbox.run_with_variables(&strict, ["forget", "eagle", "--yes"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("exceeds a limit"), "{outcome:?}");
    assert_eq!(sandbox.run(["forget", "eagle", "--yes"]).status, Some(0));
}

#[test]
fn working_folder_may_set_workspace_and_excludes_only() {
    let sandbox = Sandbox::new();
    sandbox.write("rootset.toml", "workspace = \"default\"\n[code]\nexclude = [\"target/**\"]\n");
    assert_eq!(sandbox.run(["list"]).status, Some(0));
    for (text, key) in [
        ("db = \"/tmp/elsewhere.db\"", "`db`"),
        ("[gc]\ngrace = \"0s\"", "`gc.grace`"),
        ("[gc]\nauto_delete = true", "`gc.auto_delete`"),
        ("[gc.retention]\nmax_age = \"1d\"", "`gc.retention.max_age`"),
        ("[gc.workspaces.default]\nauto_delete = true", "`gc.workspaces.default.auto_delete`"),
        ("[backup]\ndir = \"elsewhere\"", "`backup.dir`"),
        ("[extract]\nbase_url = \"http://evil.example/v1\"", "`extract.base_url`"),
        ("[limits]\nplan_fraction_max = 1.0", "`limits.plan_fraction_max`"),
    ] {
        sandbox.write("rootset.toml", text);
        refused(&sandbox.run(["list"]), &[key, "working folder", "only `workspace` and `code.exclude`"]);
    }
    sandbox.write("rootset.toml", "[gc]\ngrace = \"1d\"");
    assert_eq!(sandbox.run(["list", "--config", "rootset.toml"]).status, Some(0), "named, it is trusted");
}

#[test]
fn unknown_keys_and_bad_values_name_key_value_origin_and_what_is_allowed() {
    let sandbox = Sandbox::new();
    let own = sandbox.own_configuration();
    for (text, says) in [
        ("wrkspace = \"x\"", vec!["unknown key `wrkspace`", "rootset.toml`", "did you mean `workspace`?"]),
        ("[gc]\ngrce = \"1d\"", vec!["unknown key `gc.grce`", "did you mean `gc.grace`?"]),
        ("[gc]\ngrace = true", vec!["`gc.grace` is `true`", "allowed: a duration"]),
        ("[gc]\ngrace = \"soon\"", vec!["`gc.grace` is `\"soon\"`", "allowed: a duration"]),
        ("gc = 5", vec!["`gc`", "is a section"]),
        ("workspace = 5", vec!["`workspace` is `5`", "allowed:"]),
        ("[limits]\nplan_count_free = \"5\"", vec!["`limits.plan_count_free` is `\"5\"`", "a whole number from 0"]),
        ("[limits]\nplan_fraction_max = 1.5", vec!["is `1.5`", "a number from 0 to 1"]),
        ("[memory]\nkeep_revisions = -1", vec!["is `-1`", "a whole number from 0"]),
        ("[embed]\nprovider = \"statc\"", vec!["is `\"statc\"`", "`none`, `openai`, `static`, `local`"]),
        ("[embed]\nprovider = \"local\"\nmodel = \"../x\"", vec!["`../x` is not the name of a model", "`embed.path`"]),
        ("[embed]\nprovider = \"static\"", vec!["`embed.provider` is `static`, which needs `embed.path`"]),
        ("[code]\nexclude = \"target\"", vec!["`code.exclude`", "a list of strings"]),
        ("[gc]\nenabled = \"yes\"", vec!["`gc.enabled` is `\"yes\"`", "allowed: true or false"]),
        ("[gc]\ninterval = \"0s\"", vec!["`gc.interval` is `\"0s\"`", "from 1s up to 3650d"]),
        ("[gc]\ndefrag_threshold = 2", vec!["`gc.defrag_threshold` is `2`", "a number from 0 to 1"]),
        ("[gc]\ntime_limit_ms = 0", vec!["`gc.time_limit_ms` is `0`", "a whole number from 1"]),
        ("[backup]\ninterval = \"never\"", vec!["`backup.interval` is `\"never\"`", "or `off`"]),
        ("[backup]\nkeep_last = 0", vec!["`backup.keep_last` is `0`", "a whole number from 1"]),
        ("[gc.workspaces.\"Team A\"]\nauto_delete = true", vec!["unknown key `gc.workspaces.Team A"]),
        ("[gc.workspaces.team]\nauto_delet = true", vec!["did you mean `gc.workspaces.NAME.auto_delete`?"]),
        ("gc.workspaces.team = true", vec!["`gc.workspaces.team`", "is a section"]),
        ("not toml at all", vec!["is not TOML"]),
    ] {
        sandbox.write(&own, text);
        refused(&sandbox.run(["list"]), &says);
    }
    std::fs::remove_file(own).unwrap();
    let outcome = sandbox.run_with_variables(&[("ROOTSET_GC__GRCE", "1d")], ["list"]);
    refused(
        &outcome,
        &["unknown key `gc.grce` in the variable `ROOTSET_GC__GRCE`", "did you mean `ROOTSET_GC__GRACE`?"],
    );
    assert!(!sandbox.has_database(), "a wrong setting leaves no database behind");
    let outcome = sandbox.run_with_variables(&[("ROOTSET_TEST_POSTGRES", "postgres://nowhere")], ["list"]);
    assert_eq!(outcome.status, Some(0), "the tests' own variables are no settings: {}", outcome.stderr);
}

#[test]
fn keys_come_from_the_named_variable_and_are_never_shown() {
    let sandbox = Sandbox::new();
    let own = sandbox.own_configuration();
    sandbox.write(&own, "[extract]\napi_key = \"sk-hunter2\"");
    let outcome = sandbox.run(["list"]);
    refused(&outcome, &["unknown key `extract.api_key`", "name the variable in `extract.api_key_env`"]);
    assert!(!outcome.stderr.contains("hunter2"));
    sandbox.write(&own, "[extract]\napi_key_env = \"sk-hunter2\"");
    let outcome = sandbox.run(["list"]);
    refused(&outcome, &["`extract.api_key_env`", "the name of an environment variable"]);
    assert!(!outcome.stderr.contains("hunter2"));
    let endpoint = "[extract]\nprovider = \"openai\"\nbase_url = \"http://localhost:9/v1\"\nmodel = \"m\"\n";
    sandbox.write(&own, format!("{endpoint}api_key_env = \"ROOTSET_MODEL_KEY\""));
    refused(&sandbox.run(["list"]), &["names `ROOTSET_MODEL_KEY`, which is not set"]);
    let key = [("ROOTSET_MODEL_KEY", "hunter2")];
    assert_eq!(sandbox.run_with_variables(&key, ["list"]).status, Some(0));
    let outcome = sandbox.run_with_variables(&key, ["config", "show"]);
    assert!(outcome.stdout.contains("ROOTSET_MODEL_KEY") && !outcome.stdout.contains("hunter2"), "{outcome:?}");
    sandbox.write(&own, "[extract]\nbase_url = \"http://user:hunter2@host/v1\"");
    let outcome = sandbox.run(["list"]);
    refused(&outcome, &["`extract.base_url` is (hidden)"]);
    assert!(!outcome.stderr.contains("hunter2"));
}

#[test]
fn example_loads_back_as_the_defaults() {
    let sandbox = Sandbox::without_server();
    let values = |outcome: &Outcome| -> Vec<(String, Value)> {
        let settings = outcome.json()["settings"].as_object().expect("settings").clone();
        settings.into_iter().map(|(key, setting)| (key, setting["value"].clone())).collect()
    };
    let defaults = sandbox.run(["config", "show", "--json"]);
    let example = sandbox.run(["config", "example"]).stdout;
    sandbox.write(sandbox.own_configuration(), &example);
    let loaded = sandbox.run(["config", "show", "--json"]);
    assert_eq!(values(&loaded), values(&defaults));
    assert_eq!(sandbox.run(["list"]).status, Some(0));
    let is_setting = |rest: &&str| {
        let name = rest.split_once(" = ").map_or("", |(name, _)| name);
        rest.starts_with('[') || (!name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    let commented_in: String = example
        .lines()
        .map(|line| line.strip_prefix("# ").filter(is_setting).unwrap_or(line).replace("NAME", "team") + "\n")
        .collect();
    sandbox.write(sandbox.own_configuration(), commented_in);
    let every_key = sandbox.run(["config", "show", "--json"]);
    assert!(values(&every_key).iter().all(|(_, value)| !value.is_null()), "{every_key:?}");
    assert_eq!(setting(&every_key, "gc.workspaces.team.retention.max_age").0, "90d");
}

#[test]
fn retention_that_is_not_understood_is_an_error_that_names_the_key() {
    let sandbox = Sandbox::new();
    let own = sandbox.own_configuration();
    for (field, value) in [
        ("max_age", "0"),
        ("max_age", "-5"),
        ("max_age", "nan"),
        ("max_age", "2.5"),
        ("max_age", "\"abc\""),
        ("max_age", "true"),
        ("max_age", "[1]"),
        ("max_count", "2.5"),
        ("max_count", "-1"),
        ("max_count", "\"abc\""),
        ("max_version_gap", "0"),
        ("min_keep", "-1"),
        ("keep_within", "\"-1d\""),
        ("basis", "\"created_at\""),
    ] {
        for section in ["gc.retention", "gc.workspaces.team.retention"] {
            sandbox.write(&own, format!("[{section}]\n{field} = {value}\n"));
            let outcome = sandbox.run(["list"]);
            refused(&outcome, &[&format!("`{section}.{field}` is `"), "rootset.toml`"]);
        }
    }
    for (text, says) in [
        ("[gc]\nretention = \"90d\"", "`gc.retention` in"),
        ("[gc]\nretention = 5", "`gc.retention` in"),
        ("[gc.retention]\nmax_agee = \"1d\"", "did you mean `gc.retention.max_age`?"),
        ("[gc.retention.max_age]\ndays = 3", "`gc.retention.max_age` is"),
    ] {
        sandbox.write(&own, text);
        refused(&sandbox.run(["list"]), &[says]);
    }
    std::fs::remove_file(own).unwrap();
    for value in ["0", "-1", "NaN", "2.5", "abc"] {
        let outcome = sandbox.run_with_variables(&[("ROOTSET_GC__RETENTION__MAX_COUNT", value)], ["list"]);
        match value {
            "0" => assert_eq!(outcome.status, Some(0), "{outcome:?}"),
            _ => {
                refused(&outcome, &["`gc.retention.max_count` is `", "the variable `ROOTSET_GC__RETENTION__MAX_COUNT`"])
            }
        }
    }
}

#[test]
fn collector_is_off_and_harmless_by_default() {
    let sandbox = Sandbox::without_server();
    sandbox.write(sandbox.own_configuration(), "workspace = \"home\"\n");
    let shown = sandbox.run(["config", "show", "--json"]);
    for (key, value) in [
        ("gc.enabled", Value::from(false)),
        ("gc.interval", "24h".into()),
        ("gc.auto_delete", false.into()),
        ("gc.defrag_threshold", 0.1.into()),
        ("gc.auto_defrag", false.into()),
        ("gc.grace", "7d".into()),
        ("gc.purge_trash", true.into()),
        ("gc.retention.max_age", Value::Null),
        ("backup.interval", "24h".into()),
        ("backup.keep_last", 3.into()),
        ("backup.max_age", "7d".into()),
    ] {
        assert_eq!(setting(&shown, key), (value, "default".to_owned()), "{key}");
    }
}

#[test]
fn variables_set_the_collector_and_workspaces_override_it() {
    let sandbox = Sandbox::without_server();
    let own =
        "[gc.retention]\nmax_age = \"90d\"\n[gc.workspaces.team-a]\nauto_delete = true\n[backup]\ndir = \"kept\"\n";
    sandbox.write(sandbox.own_configuration(), own);
    let variables = [
        ("ROOTSET_GC__ENABLED", "true"),
        ("ROOTSET_GC__RETENTION__MAX_AGE", "30d"),
        ("ROOTSET_GC__RETENTION__MAX_COUNT", "500"),
        ("ROOTSET_GC__WORKSPACES__TEAM_B__RETENTION__MAX_AGE", "1000"),
        ("ROOTSET_BACKUP__INTERVAL", "off"),
    ];
    let shown = sandbox.run_with_variables(&variables, ["config", "show", "--json"]);
    assert_eq!(setting(&shown, "gc.enabled").0, true);
    assert_eq!(setting(&shown, "gc.retention.max_age").0, "30d");
    assert_eq!(setting(&shown, "gc.retention.max_count").0, 500);
    assert_eq!(setting(&shown, "gc.workspaces.team-a.auto_delete").0, true);
    assert_eq!(setting(&shown, "gc.workspaces.team_b.retention.max_age").0, 1000);
    assert_eq!(setting(&shown, "backup.interval").0, "off");
    let folder = setting(&shown, "backup.dir").0;
    assert!(folder.as_str().is_some_and(|path| path.ends_with(".config/rootset/kept")), "{folder}");
}

#[test]
fn relative_paths_in_a_file_start_at_its_folder() {
    let sandbox = Sandbox::without_server();
    sandbox.write("conf/own.toml", "db = \"memory.db\"");
    assert_eq!(sandbox.run(["list", "--config", "conf/own.toml"]).status, Some(0));
    assert!(sandbox.work().join("conf/memory.db").is_file());
}

#[test]
fn classes_drains_strategies_and_events_are_read_and_their_faults_named() {
    let sandbox = Sandbox::new();
    let own = sandbox.own_configuration();
    let file = "[gc]\ndrain = \"at once\"\nstrategies = [\"expired\", \"stale_code\"]\n[gc.retention]\nmay_empty = true\n\
                [gc.classes.pro]\ndrain = \"never\"\n[gc.classes.pro.quota]\nmemories = 500\n\
                [gc.classes.pro.retention]\nmax_age = \"365d\"\nfinal = true\n\
                [events]\nfile = \"events.jsonl\"\n[events.webhook]\nurl = \"https://ops.example.org/hook\"\nsecret_env = \"HOOK\"\n";
    sandbox.write(&own, file);
    let shown = sandbox.run_with_variables(&[("HOOK", "hunter2")], ["config", "show", "--json"]);
    let value = |key: &str| setting(&shown, key).0;
    assert_eq!((value("gc.drain"), value("gc.classes.pro.drain")), ("at once".into(), "never".into()));
    assert_eq!(value("gc.classes.pro.retention.final"), true);
    assert_eq!(value("events.file"), own.with_file_name("events.jsonl").to_str().expect("a path"));
    assert!(!shown.stdout.contains("hunter2"), "{shown:?}");
    // A class has a say in what its workspaces may store.
    sandbox.run(["workspace", "create", "team", "--class", "pro"]);
    let workspaces = sandbox.call("list_workspaces", "{}")["workspaces"].clone();
    let team = workspaces.as_array().expect("a list").iter().find(|it| it["workspace_id"] == "team").expect("the team");
    assert_eq!((&team["class"], &team["quota"]["memories"]), (&"pro".into(), &500.into()));
    for (text, says) in [
        ("[gc]\ndrain = \"soon\"", vec!["`gc.drain`", "`announce`, `at once`, `never`"]),
        ("[gc]\nstrategies = [\"everything\"]", vec!["`gc.strategies`", "`expired`", "`orphaned_chunks`"]),
        ("[gc]\nstrategies = []", vec!["`gc.strategies`"]),
        ("[gc.retention]\nmay_empty = 1", vec!["`gc.retention.may_empty`", "`true`, `false`"]),
        ("[gc.classes.pro.quota]\nmemories = 0", vec!["`gc.classes.pro.quota.memories`"]),
        ("[events.webhook]\nurl = \"https://ops.example.org\"", vec!["needs `events.webhook.secret_env`"]),
        ("[events.webhook]\nsecret = \"hunter2\"", vec!["name the variable in `events.webhook.secret_env`"]),
    ] {
        sandbox.write(&own, text);
        let outcome = sandbox.run(["list"]);
        refused(&outcome, &says);
        assert!(!outcome.stderr.contains("hunter2"), "{outcome:?}");
    }
}
