//! Which folders may be indexed by whom.

use rootset_service::FrontEnd;
use serde_json::json;

use crate::place::Place;

#[test]
fn other_front_ends_index_nothing_outside_the_servers_folder_by_default() {
    let mut place = Place::new();
    for front_end in [FrontEnd::Mcp, FrontEnd::Http] {
        place.world.caller.front_end = front_end;
        let (code, error) = place.world.fails("index_codebase", place.request(json!({})));
        assert_eq!(code, "forbidden", "{error}");
        assert!(error.to_json().to_string().contains("code.roots"), "it says which setting allows it: {error}");
        // Nor does it tell what is there.
        let (code, _) = place.world.fails("index_codebase", json!({"path": "/nowhere/at/all"}));
        assert_eq!(code, "forbidden");
        let (code, _) = place.world.fails("index_codebase", json!({"path": "/"}));
        assert_eq!(code, "forbidden");
    }
    assert_eq!(place.served(), [""; 0]);
    place.world.caller.front_end = FrontEnd::CommandLine;
    place.index();
}
