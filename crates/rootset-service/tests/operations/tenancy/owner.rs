//! A server where nobody is a superuser: the login owns the database and its tables, and is bound all the same. What
//! `doctor` says when somebody loosens that.

use std::sync::Arc;

use rootset_service::{Caller, FrontEnd, Service, Settings};
use rootset_store::{Location, Store};
use rootset_testing::OwnedDatabase;
use serde_json::{Value, json};

use super::raw_sql::tenant_tables;
use super::tenants;
use crate::harness::{World, array, text_of};

fn service(owned: &OwnedDatabase) -> Arc<Service> {
    let store = Store::open(&Location::parse(&owned.url()).unwrap(), None).unwrap();
    Arc::new(Service::new(store, Settings::default()).unwrap().with_embedder(tenants::embedder()))
}

#[test]
fn a_login_that_owns_the_database_and_is_no_superuser_can_do_everything() {
    let owned = OwnedDatabase::new();
    let service = service(&owned);
    let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
    let call = |operation: &str, request: Value| {
        service.call(&caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    };
    for number in 0..10 {
        call("add_memory", json!({"name": format!("n{number}"), "context": format!("Walrus{number} owns Pelican.")}));
    }
    let found = call("search_memory", json!({"query": "Walrus3"}));
    assert_eq!(found["results"][0]["name"], "n3");
    let plan = call("forget", json!({"query": "Walrus3"}));
    let applied = call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(applied["trashed"]["memories"], 1);
    assert_eq!(call("gc_undo", json!({"run_id": applied["run_id"]}))["restored"]["memories"], 1);
    let run = text_of(&call("delete_memory", json!({"memory_id": "n4"}))["run_id"]);
    call("gc_purge", json!({"run_id": run, "confirm": true}));
    call("defrag", json!({"confirm": true}));
    let answer = call("doctor", json!({}));
    let broken: Vec<&Value> = array(&answer["checks"]).iter().filter(|check| check["ok"] == false).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(call("list_memories", json!({}))["total"], 9);
    drop(service);
    drop(owned);
}

#[test]
fn a_login_of_the_application_alone_writes_and_manages_tokens_only_with_a_token() {
    let owned = OwnedDatabase::new();
    drop(service(&owned));
    let login = format!("{}_server", owned.login);
    owned.database.execute_raw(&format!("CREATE ROLE {login} LOGIN; GRANT rootset_application TO {login}"));
    let url = owned.url().replace(&format!("{}@", owned.login), &format!("{login}@"));
    let store = Store::open(&Location::parse(&url).unwrap(), None).unwrap();
    let service = Arc::new(Service::new(store, Settings::default()).unwrap());
    let cli = Caller::new(FrontEnd::CommandLine, "cli", "home");
    let memory = |number: i64| json!({"context": format!("Walrus{number} owns Pelican.")});
    let token = |name: &str, scopes: &[&str]| json!({"name": name, "scopes": scopes, "workspaces": ["*"]});
    let refused = |caller: &Caller, operation: &str, request: Value| {
        let error = service.call(caller, operation, request).unwrap_err();
        assert_eq!(error.code.as_str(), "forbidden", "{operation}: {error}");
    };
    let good = |caller: &Caller, operation: &str, request: Value| {
        service.call(caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    };
    good(&cli, "list_memories", json!({}));
    refused(&cli, "add_memory", memory(1));
    // The first token needs nobody's leave, the second does.
    let root = text_of(&good(&cli, "create_token", token("root", &["read", "write", "admin"]))["token"]);
    refused(&cli, "create_token", token("second", &["read"]));
    refused(&cli, "list_tokens", json!({}));
    let root = service.authenticate(&root).unwrap();
    good(&root, "add_memory", memory(2));
    let writer = text_of(&good(&root, "create_token", token("writer", &["read", "write"]))["token"]);
    good(&root, "rotate_token", json!({"name": "writer", "overlap": "1h"}));
    assert_eq!(good(&root, "list_tokens", json!({}))["total"], 2);
    let writer = service.authenticate(&writer).unwrap();
    good(&writer, "add_memory", memory(3));
    service.flush_token_uses().unwrap();
    good(&root, "revoke_token", json!({"name": "writer"}));
    // What runs by itself shows the last good token.
    good(&cli, "add_memory", memory(4));
    service.act_with("rst_wrong");
    refused(&cli, "add_memory", memory(5));
    assert_eq!(good(&cli, "list_memories", json!({}))["total"], 3);
    drop(service);
    owned.database.execute_raw(&format!("DROP OWNED BY {login}; DROP ROLE {login}"));
}

#[test]
fn the_owner_itself_sees_no_row_before_it_names_a_tenant() {
    let owned = OwnedDatabase::new();
    let service = service(&owned);
    let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
    service.call(&caller, "add_memory", json!({"context": "Walrus owns Pelican."})).unwrap();
    let sql = owned.database.sql();
    sql.execute_batch(&format!("SET SESSION AUTHORIZATION {}", owned.login)).unwrap();
    for (table, _) in tenant_tables(&sql) {
        if table == "search_rows" {
            continue; // The search functions read it as the owner, and name the tenant themselves.
        }
        let seen: i64 = sql.scalar(&format!("SELECT COUNT(*) FROM {table}"), &[]).unwrap();
        assert_eq!(seen, 0, "{table}");
    }
    drop(sql);
    drop(service);
}

#[test]
fn doctor_tells_of_a_table_that_shows_rows_of_everybody_and_of_an_index_that_is_not_whole() {
    let world = tenants::world();
    world.add("Walrus owns Pelican.");
    let details = || {
        let answer = world.call("doctor", json!({}));
        array(&answer["checks"]).iter().filter(|check| check["ok"] == false).map(Value::to_string).collect::<Vec<_>>()
    };
    assert_eq!(details(), [""; 0]);
    for (broken, mended, named) in [
        (
            "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE memories ENABLE ROW LEVEL SECURITY",
            "`memories`",
        ),
        ("ALTER TABLE audit NO FORCE ROW LEVEL SECURITY", "ALTER TABLE audit FORCE ROW LEVEL SECURITY", "`audit`"),
        ("CREATE POLICY more ON uses USING (TRUE)", "DROP POLICY more ON uses", "`uses`"),
        (
            "ALTER TABLE search_terms DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE search_terms ENABLE ROW LEVEL SECURITY",
            "`search_terms`",
        ),
        (
            "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'memories_updated'::regclass",
            "UPDATE pg_index SET indisvalid = TRUE WHERE indexrelid = 'memories_updated'::regclass",
            "`memories_updated`",
        ),
    ] {
        world.database.execute_raw(broken);
        let told = details();
        assert!(told.len() == 1 && told[0].contains(named), "{broken}: {told:?}");
        world.database.execute_raw(mended);
        assert_eq!(details(), [""; 0], "{mended}");
    }
}

#[test]
fn without_pgvector_searches_go_by_words_and_once_it_is_there_by_all_vectors_that_were_stored_before() {
    let owned = OwnedDatabase::new();
    let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
    let early = service(&owned);
    let call = |service: &Arc<Service>, operation: &str, request: Value| {
        service.call(&caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    };
    let search = |service: &Arc<Service>, query: &str| call(service, "search_memory", json!({ "query": query }));
    call(&early, "add_memory", json!({"name": "one", "context": "abcdefgh"}));
    assert_eq!(search(&early, "abcdefgh")["results"][0]["name"], "one");
    assert_eq!(search(&early, "abcdefgh")["signals"], json!(["lexical", "graph"]));
    // Letters in another order are another word, and the same direction.
    assert_eq!(search(&early, "hgfedcba")["results"], json!([]));
    owned.database.execute_raw("CREATE EXTENSION vector");
    let late = service(&owned);
    let found = search(&late, "hgfedcba");
    assert_eq!(found["signals"], json!(["lexical", "graph", "vectors"]));
    assert_eq!(found["results"][0]["name"], "one");
    // Whoever began before goes on without, but what it writes is found by the others.
    call(&early, "add_memory", json!({"name": "two", "context": "xxyyzzxx"}));
    assert_eq!(search(&late, "zzyyxxxx")["results"][0]["name"], "two");
    assert_eq!(search(&early, "zzyyxxxx")["signals"], json!(["lexical", "graph"]));
    drop((early, late));
}

/// For whoever reads a failure of the tests above.
#[test]
fn the_role_of_the_application_is_bound_and_owns_nothing() {
    let world: World = tenants::world();
    let sql = world.sql();
    let attributes: Vec<bool> = sql
        .rows(
            "SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles
             WHERE rolname = 'rootset_application'",
            &[],
            |row| (0..6).map(|at| row.get(at)).collect::<Result<Vec<bool>, _>>(),
        )
        .unwrap()
        .concat();
    assert_eq!(attributes, [false; 6]);
    let owned = "SELECT COUNT(*) FROM pg_class WHERE relowner = 'rootset_application'::regrole";
    assert_eq!(sql.scalar::<i64>(owned, &[]).unwrap(), 0);
    let member = "SELECT COUNT(*) FROM pg_auth_members WHERE member = 'rootset_application'::regrole";
    assert_eq!(sql.scalar::<i64>(member, &[]).unwrap(), 0);
}
