//! Tokens: secrets that are stored nowhere, rights that cannot grow, and an end that everybody notices.

use rootset_api::{Effect, TokenTrust};
use rootset_model::Timestamp;
use rootset_model::limits::TOKEN_BELIEVED_MS;
use rootset_service::{FrontEnd, Housekeeper, Service, ServiceError};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, names, text_of};

const ALL_SCOPES: [&str; 5] = ["read", "write", "destroy", "purge", "admin"];

#[track_caller]
fn create(world: &World, name: &str, scopes: &[&str], workspaces: &[&str]) -> String {
    let request = json!({"name": name, "scopes": scopes, "workspaces": workspaces});
    text_of(&world.call("create_token", request)["token"])
}

#[track_caller]
fn refused(service: &Service, secret: &str) -> ServiceError {
    match service.authenticate(secret) {
        Ok(caller) => panic!("let in: {caller:?}"),
        Err(error) => {
            assert_eq!(error.code.as_str(), "unauthorized");
            error
        }
    }
}

#[test]
fn a_secret_is_shown_once_and_stored_nowhere() {
    let world = World::new();
    let created = world.call("create_token", json!({"name": "ci", "scopes": ["read"], "workspaces": ["*"]}));
    let secret = text_of(&created["token"]);
    assert!(secret.starts_with("rst_") && secret.len() == 4 + 64, "{secret}");
    assert_eq!((&created["scopes"], &created["workspaces"]), (&json!(["read"]), &json!(["*"])));
    let other = create(&world, "ci-2", &["read"], &["*"]);
    assert_ne!(secret, other);
    let listed = world.call("list_tokens", json!({}));
    assert_eq!((names(&listed["tokens"]), &listed["total"]), (vec!["ci-2".to_owned(), "ci".to_owned()], &json!(2)));
    assert!(!listed.to_string().contains(&secret[4..]), "{listed}");
    assert_eq!(world.places_with(&secret.as_bytes()[4..]), Vec::<String>::new());
    let audit = world.call("list_audit", json!({"database": true}));
    assert_eq!((&audit["total"], &audit["entries"][0]["operation"]), (&json!(2), &json!("create_token")));
    world.assert_doctor_is_content();
}

#[test]
fn a_secret_makes_a_caller_with_the_rights_of_its_token() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    assert!(!world.service.has_tokens().unwrap());
    let secret = create(&world, "reader", &["read", "write"], &["team"]);
    assert!(world.service.has_tokens().unwrap());
    let caller = world.service.authenticate(&secret).unwrap();
    assert_eq!(
        (caller.front_end, caller.actor.as_str(), caller.workspace.named().unwrap()),
        (FrontEnd::Http, "reader", "team")
    );
    assert_eq!(caller.rights.scopes, Some([Effect::Read, Effect::Write].into()));
    assert_eq!(caller.rights.workspaces, Some(["team".to_owned()].into()));
    world.service.call(&caller, "add_memory", json!({"context": "one", "name": "one"})).unwrap();
    let seen = world.call("get_memory", json!({"workspace_id": "team", "memory_id": "one"}));
    assert_eq!(seen["written_by"], "reader");

    let everywhere = create(&world, "root", &ALL_SCOPES, &["*"]);
    let caller = world.service.authenticate(&everywhere).unwrap();
    assert_eq!((caller.workspace.named().unwrap(), caller.rights.workspaces), ("home", None));
}

#[test]
fn a_token_of_several_workspaces_names_one_and_a_token_of_all_means_home() {
    let world = World::new();
    for id in ["alpha", "beta"] {
        world.call("create_workspace", json!({"workspace_id": id}));
        world.call("add_memory", json!({"workspace_id": id, "name": "note", "context": format!("Of {id}.")}));
    }
    // `home` is one of several like any other, whatever it was called before.
    for workspaces in [["alpha", "beta"], ["default", "beta"]] {
        let name = workspaces.join("-");
        let caller = world.service.authenticate(&create(&world, &name, &["read", "write"], &workspaces)).unwrap();
        let error = world.service.call(&caller, "list_memories", json!({})).unwrap_err();
        assert_eq!(error.code.as_str(), "invalid_argument", "{error}");
        let seen: Vec<&str> = caller.rights.workspaces.iter().flatten().map(String::as_str).collect();
        assert!(error.message.contains(&seen.join(", ")), "{error}");
        assert_eq!(error.message.contains("alpha"), workspaces.contains(&"alpha"), "{error}");
        let listed = world.service.call(&caller, "list_memories", json!({"workspace_id": "beta"})).unwrap();
        assert_eq!(listed["total"], 1);
    }
    let all = world.service.authenticate(&create(&world, "root", &ALL_SCOPES, &["*"])).unwrap();
    assert_eq!(world.service.call(&all, "list_memories", json!({})).unwrap()["total"], 0);
    assert_eq!(world.service.call(&all, "get_stats", json!({})).unwrap()["workspace_id"], "home");
}

#[test]
fn unknown_revoked_and_expired_secrets_get_one_and_the_same_answer() {
    let world = World::new();
    let revoked = create(&world, "revoked", &["read"], &["*"]);
    world.service.authenticate(&revoked).unwrap();
    let request =
        json!({"name": "expiring", "scopes": ["read"], "workspaces": ["*"], "expires_at": world.now_ms() + DAY_MS});
    let expired = text_of(&world.call("create_token", request)["token"]);
    world.service.authenticate(&expired).unwrap();
    world.call("revoke_token", json!({"name": "revoked"}));
    let answer = refused(&world.service, &revoked);
    world.advance_ms(DAY_MS);
    assert!(!world.service.has_tokens().unwrap());
    for secret in [expired.as_str(), "", "rst_", "rst_0", &revoked[..67], &revoked.to_uppercase(), "x y\0"] {
        assert_eq!(refused(&world.service, secret), answer, "{secret}");
    }
    let listed = world.call("list_tokens", json!({"include_revoked": true}));
    let states: Vec<(&Value, &Value)> = array(&listed["tokens"]).iter().map(|it| (&it["name"], &it["valid"])).collect();
    assert_eq!(states, [(&json!("expiring"), &json!(false)), (&json!("revoked"), &json!(false))]);
}

#[test]
fn an_expiry_is_noticed_also_while_the_token_is_believed() {
    let world = World::new();
    let end = world.now_ms() + 3_000;
    let request = json!({"name": "short", "scopes": ["read"], "workspaces": ["*"], "expires_at": end});
    let secret = text_of(&world.call("create_token", request)["token"]);
    world.service.authenticate(&secret).unwrap();
    world.set_clock_ahead_ms(end - world.now_ms());
    refused(&world.service, &secret);
}

#[test]
fn a_token_is_believed_for_a_moment_and_a_revocation_elsewhere_is_noticed_after_it() {
    let world = World::new();
    let secret = create(&world, "ci", &["read"], &["*"]);
    let elsewhere = world.second_process();
    elsewhere.authenticate(&secret).unwrap();
    world.call("revoke_token", json!({"name": "ci"}));
    refused(&world.service, &secret);
    // The call took a second: its row was not read again.
    elsewhere.authenticate(&secret).unwrap();
    world.advance_ms(TOKEN_BELIEVED_MS);
    refused(&elsewhere, &secret);
}

#[test]
fn nobody_hands_on_more_than_they_have() {
    let mut world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    let end = world.now_ms() + DAY_MS;
    let request = json!({"name": "boss", "scopes": ["read", "admin"], "workspaces": ["*"], "expires_at": end});
    let secret = text_of(&world.call("create_token", request)["token"]);
    let of_team = create(&world, "lead", &ALL_SCOPES, &["team"]);
    world.caller = world.service.authenticate(&secret).unwrap();
    let attempt = |scopes: &[&str], expires_at: Value| {
        world.try_call(
            "create_token",
            json!({"name": "next", "scopes": scopes, "workspaces": ["*"], "expires_at": expires_at}),
        )
    };
    for (scopes, expires_at) in
        [(["write"], json!(end)), (["purge"], json!(end)), (["read"], json!("never")), (["read"], json!(end + 1))]
    {
        assert_eq!(attempt(&scopes, expires_at).unwrap_err().code.as_str(), "forbidden", "{scopes:?}");
    }
    attempt(&["read", "admin"], json!(end)).unwrap();
    world.caller = world.service.authenticate(&of_team).unwrap();
    for (operation, request) in [
        ("create_token", json!({"name": "x", "scopes": ["read"], "workspaces": ["team"]})),
        ("list_tokens", json!({})),
        ("revoke_token", json!({"name": "boss"})),
    ] {
        assert_eq!(world.fails(operation, request).0, "forbidden", "{operation}");
    }
}

#[test]
fn a_name_is_free_again_when_its_token_is_revoked_or_has_run_out() {
    let world = World::new();
    let first = world.call(
        "create_token",
        json!({"name": "ci", "scopes": ["read"], "workspaces": ["*"], "expires_at": world.now_ms() + DAY_MS}),
    );
    let again = json!({"name": "ci", "scopes": ["read"], "workspaces": ["*"]});
    let (code, error) = world.fails("create_token", again.clone());
    assert_eq!((code, &error.0.details.unwrap()["token_id"]), ("conflict", &first["token_id"]));
    world.advance_ms(DAY_MS);
    let second = world.call("create_token", again.clone());
    let revoked = world.call("revoke_token", json!({"token_id": second["token_id"]}));
    assert_eq!((&revoked["token_id"], &revoked["name"]), (&second["token_id"], &json!("ci")));
    // Revoking it again changes nothing.
    assert_eq!(world.call("revoke_token", json!({"token_id": second["token_id"]})), revoked);
    assert_eq!(world.fails("revoke_token", json!({"name": "ci"})).0, "not_found");
    world.call("create_token", again);
    assert_eq!(world.call("list_tokens", json!({}))["total"], 1);
    assert_eq!(world.call("list_tokens", json!({"include_revoked": true}))["total"], 3);
}

#[test]
fn tokens_that_make_no_sense_are_refused() {
    let world = World::new();
    let with = |field: &str, value: Value| {
        let mut request = json!({"name": "ci", "scopes": ["read"], "workspaces": ["*"]});
        request[field] = value;
        request
    };
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("Upper Case")),
        ("name", json!("cli")),
        ("name", json!("rootset")),
        ("scopes", json!([])),
        ("scopes", json!(["everything"])),
        ("scopes", json!("read")),
        ("workspaces", json!([])),
        ("workspaces", json!([""])),
        ("workspaces", json!(["*", "home"])),
        ("workspaces", json!("*")),
        ("expires_at", json!(world.now_ms() - 1)),
        ("expires_at", json!("soon")),
    ] {
        let error = world.refuses("create_token", with(field, value.clone()));
        assert!(error.to_string().contains(field), "{field} {value}: {error}");
    }
    let (code, error) = world.fails("create_token", with("workspaces", json!(["hoem"])));
    assert_eq!(code, "not_found");
    assert!(error.0.hint.unwrap().contains("`home`"));
    world.refuses("revoke_token", json!({}));
    world.refuses("revoke_token", json!({"token_id": "nothing"}));
    assert!(!world.service.has_tokens().unwrap());
}

#[test]
fn a_restore_neither_revives_a_revoked_token_nor_loses_a_living_one() {
    let world = World::new();
    for format in World::backup_formats() {
        let early = create(&world, "early", &["read"], &["*"]);
        let backup = world.call("backup_create", json!({ "format": format }));
        world.call("revoke_token", json!({"name": "early"}));
        let late = create(&world, "late", &["read"], &["*"]);
        world.call("backup_restore", json!({"backup_id": backup["backup_id"], "confirm": true}));
        refused(&world.service, &early);
        world.service.authenticate(&late).unwrap();
        world.call("revoke_token", json!({"name": "late"}));
    }
    world.assert_doctor_is_content();
}

#[test]
fn a_workspace_made_again_under_the_name_of_a_purged_one_is_not_reached_by_the_old_token() {
    let world = World::new();
    for id in ["team", "other"] {
        world.call("create_workspace", json!({"workspace_id": id}));
    }
    let only = create(&world, "only", &ALL_SCOPES, &["team"]);
    let both = create(&world, "both", &ALL_SCOPES, &["team", "other"]);
    let elsewhere = world.second_process();
    // Whoever was let in a moment ago is believed: the number decides all the same.
    let believed = [elsewhere.authenticate(&only).unwrap(), elsewhere.authenticate(&both).unwrap()];
    world.call("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    world.call("gc_purge", json!({"workspace_id": "team", "older_than": "0", "confirm": true}));
    world.call("create_workspace", json!({"workspace_id": "team"}));
    let secret = "The zyxwaardvark is of the new tenant.";
    world.call("add_memory", json!({"workspace_id": "team", "name": "new", "context": secret}));
    refused(&world.service, &only);
    let of_other = world.service.authenticate(&both).unwrap();
    assert_eq!(of_other.rights.workspaces, Some(["other".to_owned()].into()));
    for caller in believed.iter().chain([&of_other]) {
        for service in [&world.service, &elsewhere] {
            let request = json!({"workspace_id": "team", "memory_id": "new"});
            let error = service.call(caller, "get_memory", request).unwrap_err();
            assert_eq!((error.code.as_str(), error.message.as_str()), ("not_found", "no workspace `team`"));
            let listed = service.call(caller, "list_workspaces", json!({})).unwrap();
            assert!(!listed.to_string().contains("team"), "{listed}");
        }
    }
    let listed = world.call("list_tokens", json!({"include_revoked": true}));
    let states: Vec<_> =
        array(&listed["tokens"]).iter().map(|it| (text_of(&it["name"]), it["valid"].clone())).collect();
    assert_eq!(states, [("both".to_owned(), json!(true)), ("only".to_owned(), json!(false))]);
    world.assert_doctor_is_content();
}

#[test]
fn a_backup_of_an_earlier_workspace_of_the_same_name_is_not_restored_for_the_new_one() {
    let mut world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    world.call("add_memory", json!({"workspace_id": "team", "name": "old", "context": "The zyxwaardvark was here."}));
    let backup = world.call("backup_create", json!({"format": "jsonl"}));
    world.call("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    world.call("gc_purge", json!({"workspace_id": "team", "older_than": "0", "confirm": true}));
    world.call("create_workspace", json!({"workspace_id": "team"}));
    let secret = create(&world, "new", &ALL_SCOPES, &["team"]);
    world.caller = world.service.authenticate(&secret).unwrap();
    let request = json!({"backup_id": backup["backup_id"], "workspace_id": "team", "confirm": true});
    assert_eq!(world.fails("backup_restore", request).0, "not_found");
    let own = world.call("backup_create", json!({"workspace_id": "team", "format": "jsonl"}));
    world.call("backup_restore", json!({"backup_id": own["backup_id"], "workspace_id": "team", "confirm": true}));
    assert_eq!(world.call("list_memories", json!({"lifecycle": "all"}))["total"], 0);
}

#[test]
fn a_workspace_that_was_trashed_and_restored_keeps_its_tokens() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    let secret = create(&world, "ci", &["read"], &["team"]);
    world.call("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    world.advance_ms(TOKEN_BELIEVED_MS);
    world.call("gc_undo", json!({"workspace_id": "team"}));
    world.advance_ms(TOKEN_BELIEVED_MS);
    let caller = world.service.authenticate(&secret).unwrap();
    assert_eq!(caller.rights.workspaces, Some(["team".to_owned()].into()));
    world.service.call(&caller, "list_memories", json!({})).unwrap();
}

#[test]
fn a_token_ends_after_ninety_days_unless_somebody_says_otherwise() {
    let world = World::new();
    let token = |name: &str, expires_at: Value| {
        let mut request = json!({"name": name, "scopes": ["read"], "workspaces": ["*"]});
        if !expires_at.is_null() {
            request["expires_at"] = expires_at;
        }
        world.call("create_token", request)
    };
    let default = token("home", Value::Null);
    let never = token("never", json!("never"));
    let ends = |answer: &Value| Timestamp::parse(&text_of(&answer["expires_at"])).unwrap().0;
    assert_eq!(never["expires_at"], "never");
    assert!((ends(&default) - world.now_ms() - 90 * DAY_MS).abs() < 10_000, "{default}");
    let listed = world.call("list_tokens", json!({}));
    assert_eq!(
        (&listed["tokens"][0]["expires_at"], &listed["tokens"][1]["expires_at"]),
        (&json!("never"), &default["expires_at"])
    );
    world.advance_ms(90 * DAY_MS);
    refused(&world.service, &text_of(&default["token"]));
    world.service.authenticate(&text_of(&never["token"])).unwrap();
}

#[test]
fn a_token_that_ends_soon_is_told_once_as_an_event_and_by_doctor_until_it_is_rotated() {
    let world = World::new();
    let secret = create(&world, "ci", &["read"], &["*"]);
    let events = || world.call("list_audit", json!({"database": true, "kinds": ["token_expiring"]}));
    let told = || array(&world.call("doctor", json!({}))["checks"]).iter().any(|it| it["id"] == "tokens");
    world.advance_ms(75 * DAY_MS);
    world.service.housekeep(Housekeeper::Writer).unwrap();
    assert_eq!((&events()["total"], told()), (&json!(0), false));
    assert_eq!(world.service.ends_soon(&world.service.authenticate(&secret).unwrap()), None);
    for _ in 0..3 {
        world.advance_ms(DAY_MS);
        world.service.housekeep(Housekeeper::Writer).unwrap();
    }
    let seen = events();
    assert_eq!((&seen["total"], &seen["entries"][0]["details"]["name"]), (&json!(1), &json!("ci")));
    assert!(told() && world.call("doctor", json!({}))["ok"] == true);
    assert!(world.service.ends_soon(&world.service.authenticate(&secret).unwrap()).is_some());
    assert!(world.service.soonest_token_end_ms().unwrap().is_some_and(|left| left < 14 * DAY_MS));
    assert_eq!(world.call("list_tokens", json!({}))["tokens"][0]["expires_soon"], true);
    world.call("rotate_token", json!({"name": "ci"}));
    assert!(!told());
    world.advance_ms(80 * DAY_MS);
    world.service.housekeep(Housekeeper::Writer).unwrap();
    assert_eq!(events()["total"], 2, "of the new end, too");
}

#[test]
fn a_rotated_token_has_a_new_secret_and_the_old_one_ends_after_the_overlap() {
    let world = World::new();
    let first = create(&world, "ci", &["read"], &["*"]);
    let rotated = world.call("rotate_token", json!({"name": "ci", "overlap": "1h"}));
    let second = text_of(&rotated["token"]);
    let ids = [&first, &second].map(|secret| world.service.authenticate(secret).unwrap().token.unwrap().id);
    assert_eq!((ids[0], ids[0].to_string()), (ids[1], text_of(&rotated["token_id"])));
    world.advance_ms(3_600_000);
    refused(&world.service, &first);
    world.service.authenticate(&second).unwrap();
    let third = text_of(&world.call("rotate_token", json!({"token_id": rotated["token_id"], "overlap": 0}))["token"]);
    refused(&world.service, &second);
    world.service.authenticate(&third).unwrap();
    let audit = world.call("list_audit", json!({"database": true, "operation": "rotate_token"}));
    assert_eq!((&audit["total"], &audit["entries"][0]["details"]["name"]), (&json!(2), &json!("ci")));
    for secret in [&first, &second, &third] {
        assert_eq!(world.places_with(&secret.as_bytes()[4..]), Vec::<String>::new());
    }
    world.call("revoke_token", json!({"name": "ci"}));
    refused(&world.service, &third);
    assert_eq!(world.fails("rotate_token", json!({"token_id": rotated["token_id"]})).0, "conflict");
    world.refuses("rotate_token", json!({"name": "ci", "overlap": "8d"}));
    world.refuses("rotate_token", json!({}));
}

#[test]
fn nobody_rotates_a_token_into_more_rights_or_a_longer_life_than_they_have() {
    let mut world = World::new();
    create(&world, "root", &ALL_SCOPES, &["*"]);
    let end = world.now_ms() + DAY_MS;
    let request = json!({"name": "helper", "scopes": ["read", "admin"], "workspaces": ["*"], "expires_at": end});
    let secret = text_of(&world.call("create_token", request)["token"]);
    world.caller = world.service.authenticate(&secret).unwrap();
    assert_eq!(world.fails("rotate_token", json!({"name": "root"})).0, "forbidden");
    for expires_at in [json!("never"), json!(end + 1)] {
        assert_eq!(world.fails("rotate_token", json!({"name": "helper", "expires_at": expires_at})).0, "forbidden");
    }
    let rotated = world.call("rotate_token", json!({"name": "helper"}));
    assert_eq!(Timestamp::parse(&text_of(&rotated["expires_at"])).unwrap().0, end);
    for (field, value) in [("trust", json!("person")), ("scopes", json!(["purge"]))] {
        let mut request = json!({"name": "next", "scopes": ["read"], "workspaces": ["*"]});
        request[field] = value;
        assert_eq!(world.fails("create_token", request).0, "forbidden", "{field}");
    }
}

#[test]
fn owner_roots_and_trust_are_kept_shown_and_part_of_the_rights() {
    let mut world = World::new();
    let request = json!({"name": "ci", "scopes": ["read", "admin"], "workspaces": ["*"], "owner": "alice",
                         "roots": ["/srv/code", "/srv/docs"], "trust": "untrusted"});
    let created = world.call("create_token", request);
    let listed = world.call("list_tokens", json!({}));
    for answer in [&created, &listed["tokens"][0]] {
        assert_eq!((&answer["owner"], &answer["trust"]), (&json!("alice"), &json!("untrusted")));
        assert_eq!(answer["roots"], json!(["/srv/code", "/srv/docs"]));
    }
    let caller = world.service.authenticate(&text_of(&created["token"])).unwrap();
    assert_eq!(caller.rights.roots.as_deref(), Some(["/srv/code".to_owned(), "/srv/docs".to_owned()].as_slice()));
    let token = caller.token.clone().unwrap();
    assert_eq!((token.owner.as_deref(), token.trust), (Some("alice"), TokenTrust::Untrusted));
    assert_eq!(
        world.call("create_token", json!({"name": "plain", "scopes": ["read"], "workspaces": ["*"]}))["trust"],
        "agent"
    );
    for (field, value) in [
        ("roots", json!(["relative"])),
        ("roots", json!(["/srv/../etc"])),
        ("roots", json!(vec!["/x"; 65])),
        ("owner", json!("Not A Name")),
        ("trust", json!("everybody")),
    ] {
        let mut request = json!({"name": "x", "scopes": ["read"], "workspaces": ["*"]});
        request[field] = value.clone();
        let error = world.refuses("create_token", request);
        assert!(error.to_string().contains(field), "{field} {value}: {error}");
    }
    world.caller = caller;
    for roots in [Value::Null, json!(["/srv"]), json!(["/srv/code", "/etc"])] {
        let request =
            json!({"name": "x", "scopes": ["read"], "workspaces": ["*"], "trust": "untrusted", "roots": roots});
        assert_eq!(world.fails("create_token", request).0, "forbidden", "{roots}");
    }
    let within =
        json!({"name": "x", "scopes": ["read"], "workspaces": ["*"], "trust": "untrusted", "roots": ["/srv/code/a"]});
    world.call("create_token", within);
}

#[test]
fn the_last_use_of_a_token_is_written_once_an_hour_and_never_with_a_request() {
    let world = World::new();
    let secret = create(&world, "ci", &["read"], &["*"]);
    let stored = || {
        let statement = "SELECT COALESCE(MAX(last_used_at), 0) FROM tokens";
        world.sql().scalar::<i64>(statement, &[]).unwrap()
    };
    let use_it = || {
        let caller = world.service.authenticate(&secret).unwrap();
        world.service.call(&caller, "list_memories", json!({})).unwrap();
    };
    use_it();
    assert_eq!(stored(), 0, "a request writes nothing");
    world.service.flush_token_uses().unwrap();
    let first = stored();
    assert_eq!(first, world.now_ms());
    world.advance_ms(3_599_000);
    use_it();
    world.service.flush_token_uses().unwrap();
    assert_eq!(stored(), first);
    world.advance_ms(1_000);
    use_it();
    world.service.flush_token_uses().unwrap();
    assert_eq!(stored(), first + 3_600_000);
    let listed = world.call("list_tokens", json!({}));
    assert_eq!(listed["tokens"][0]["last_used_at"], json!(Timestamp(first + 3_600_000).to_string()));
}

#[test]
fn the_audit_says_which_token_it_was_from_where_and_what_was_denied() {
    let mut world = World::new();
    for id in ["team", "other"] {
        world.call("create_workspace", json!({"workspace_id": id}));
    }
    let secret = create(&world, "ci", &["read", "write", "destroy"], &["team"]);
    let address = "192.0.2.7".parse().ok();
    let mut caller = world.service.authenticate_from(&secret, address, "add_memory").unwrap();
    let id = caller.token.as_ref().unwrap().id.to_string();
    std::mem::swap(&mut world.caller, &mut caller);
    world.add_named("one", "The zyxwaardvark is here.");
    world.delete("one");
    let entry = world.call("list_audit", json!({"operation": "delete_memory"}))["entries"][0].clone();
    assert_eq!(
        (&entry["token_id"], &entry["origin"], &entry["actor"]),
        (&json!(id), &json!("http 192.0.2.7"), &json!("ci"))
    );
    // A scope, the database, and a workspace that is another's.
    world.fails("doctor", json!({}));
    for _ in 0..1_000 {
        world.service.call(&world.caller, "list_memories", json!({"workspace_id": "other"})).unwrap_err();
    }
    for guess in 0..1_000 {
        world.service.authenticate_from(&format!("rst_{guess}"), address, "search_memory").unwrap_err();
    }
    let written = || {
        let statement = "SELECT COUNT(*) FROM audit WHERE operation = 'access_denied'";
        world.sql().scalar::<i64>(statement, &[]).unwrap()
    };
    world.service.flush_denials().unwrap();
    assert_eq!(written(), 0, "they wait until their minute is over");
    world.let_pass_ms(60_000);
    world.service.flush_denials().unwrap();
    assert_eq!(written(), 3, "many denials of one kind are one entry");
    std::mem::swap(&mut world.caller, &mut caller);
    let answer = world.call("list_audit", json!({"database": true, "operation": "access_denied"}));
    let mut told: Vec<String> = array(&answer["entries"])
        .iter()
        .map(|it| {
            let token = it["token_id"].as_str().map_or("nobody", |token| if token == id { "ci" } else { "?" });
            let details = &it["details"];
            format!(
                "{} {token} {} {} {} {}",
                it["actor"], it["origin"], details["operation"], details["code"], it["counts"]["denials"]
            )
        })
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            r#""ci" ci "http 192.0.2.7" "doctor" "forbidden" 1"#,
            r#""ci" ci "http 192.0.2.7" "list_memories" "not_found" 1000"#,
            r#""unknown" nobody "http 192.0.2.7" "search_memory" "unauthorized" 1000"#,
        ]
    );
    assert!(!answer.to_string().contains("rst_") && !answer.to_string().contains("other"), "{answer}");
    world.assert_doctor_is_content();
}
