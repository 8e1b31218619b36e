//! What a writer says about its commit, whatever the server, the database or the login say.

use super::*;

const ASK: Statement = Statement {
    name: "tests.synchronous_commit",
    sqlite: "",
    scans: None,
    postgres: "SELECT current_setting('synchronous_commit')",
};

#[test]
fn writers_wait_for_the_disk_and_never_ask_for_less_than_the_server_gives() {
    let database = database();
    let sql = database.sql();
    let name: String = sql.scalar("SELECT current_database()::TEXT", &[]).unwrap();
    for (inherited, expected) in [
        ("off", "on"),
        ("local", "on"),
        ("on", "on"),
        ("remote_write", "remote_write"),
        ("remote_apply", "remote_apply"),
    ] {
        sql.execute_batch(&format!("ALTER DATABASE {name} SET synchronous_commit = {inherited}")).unwrap();
        let engine = open(&database, &PostgresSettings { pool_size: 1, ..settings() });
        let asked = |work: &dyn Fn(crate::driver::Work<'_>) -> Result<(), StoreError>| {
            let mut found = String::new();
            work(&mut |tx| tx.scalar(&ASK, &[]).map(|value| found = value)).unwrap();
            found
        };
        let (one, all) = (Tenant::Workspace(WorkspaceKey(1)), Tenant::Database);
        assert_eq!(asked(&|work| engine.write(one, work)), expected, "{inherited}");
        assert_eq!(asked(&|work| engine.touch(all, work)), expected, "{inherited}");
        // For one transaction only: a pooler hands the session on.
        assert_eq!(asked(&|work| engine.read(one, work)), inherited);
    }
}
