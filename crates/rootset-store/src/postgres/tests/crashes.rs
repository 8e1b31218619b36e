//! Servers of a test's own.

use rootset_testing::OwnServer;

use super::*;

#[test]
fn settings_of_the_server_that_lose_acknowledged_writes_are_reported() {
    let mut server = OwnServer::new(&["synchronous_commit = local"]).unwrap();
    let engine = open_url(&server.url("postgres"), &settings()).unwrap();
    let told = |settings: &[crate::driver::DurabilitySetting]| -> Vec<(String, bool)> {
        settings.iter().map(|it| (format!("{} = {}", it.name, it.value), it.risk.is_some())).collect()
    };
    let raised = "synchronous_commit = on (`local` on the server; Rootset sets it for its own writes)".to_owned();
    let safe = [("fsync = on".to_owned(), false), ("full_page_writes = on".to_owned(), false), (raised.clone(), false)];
    assert_eq!(told(engine.durability_at_start()), safe);
    server.stop().unwrap();
    server.set("fsync = off\nfull_page_writes = off").unwrap();
    server.start().unwrap();
    let risky = [("fsync = off".to_owned(), true), ("full_page_writes = off".to_owned(), true), (raised, false)];
    let engine = open_url(&server.url("postgres"), &settings()).unwrap();
    assert_eq!(told(engine.durability_at_start()), risky);
    assert_eq!(told(&engine.durability().unwrap()), risky);
    let store = crate::Store::over(engine);
    let check = store.check().unwrap().into_iter().find(|check| check.id == "durability").unwrap();
    assert_eq!((check.is_ok(), check.count), (false, 2), "{check:?}");
}
