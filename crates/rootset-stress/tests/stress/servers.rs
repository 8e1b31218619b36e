use std::time::Duration;

use rootset_stress::servers::{ServerProgram, ServerSettings, run};
use rootset_testing::TestDatabase;

use crate::{program, seed, setting};

#[test]
fn what_clients_were_told_through_servers_that_die_is_there() {
    let database = TestDatabase::new();
    let settings = ServerSettings {
        program: ServerProgram::Own(program()),
        database: database.location().clone(),
        folder: database.folder().to_owned(),
        clients: 6,
        duration: Duration::from_secs(setting("ROOTSET_STRESS_SERVER_SECONDS", 8)),
        kill_every: Duration::from_secs(2),
        seed: seed(7),
    };
    let report = run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    assert!(report.kills > 2, "two of them at the end: {report}");
    for kind in ["add", "add_many", "update", "delete", "undo", "context_add", "plan", "apply", "index"] {
        assert!(report.acknowledged.get(kind).is_some_and(|count| *count > 0), "no {kind}: {report}");
    }
}
