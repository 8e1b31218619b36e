//! Tokens: secrets that are stored nowhere, rights that cannot grow, and an end that everybody notices.

use rootset_api::Effect;
use rootset_model::limits::TOKEN_BELIEVED_MS;
use rootset_service::{FrontEnd, Service, ServiceError};
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
        (caller.front_end, caller.actor.as_str(), caller.workspace.as_str()),
        (FrontEnd::Http, "reader", "team")
    );
    assert_eq!(caller.rights.scopes, Some([Effect::Read, Effect::Write].into()));
    assert_eq!(caller.rights.workspaces, Some(["team".to_owned()].into()));
    world.service.call(&caller, "add_memory", json!({"context": "one", "name": "one"})).unwrap();
    let seen = world.call("get_memory", json!({"workspace_id": "team", "memory_id": "one"}));
    assert_eq!(seen["written_by"], "reader");

    let everywhere = create(&world, "root", &ALL_SCOPES, &["*"]);
    let caller = world.service.authenticate(&everywhere).unwrap();
    assert_eq!((caller.workspace.as_str(), caller.rights.workspaces), ("default", None));
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
        [(["write"], json!(end)), (["purge"], json!(end)), (["read"], Value::Null), (["read"], json!(end + 1))]
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
        ("workspaces", json!(["*", "default"])),
        ("workspaces", json!("*")),
        ("expires_at", json!(world.now_ms() - 1)),
        ("expires_at", json!("soon")),
    ] {
        let error = world.refuses("create_token", with(field, value.clone()));
        assert!(error.to_string().contains(field), "{field} {value}: {error}");
    }
    let (code, error) = world.fails("create_token", with("workspaces", json!(["defualt"])));
    assert_eq!(code, "not_found");
    assert!(error.0.hint.unwrap().contains("`default`"));
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
