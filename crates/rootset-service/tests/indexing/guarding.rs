//! Which folders may be indexed by whom.

use rootset_service::FrontEnd;
use serde_json::json;

use crate::place::{Place, request, write};

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

#[test]
fn other_front_ends_index_what_is_below_the_configured_roots_and_nothing_beside() {
    let mut place = Place::new();
    write(&place.beside("cafe/menu.py"), "def menu():\n    pass\n");
    write(&place.beside("shop-annex/menu.py"), "def menu():\n    pass\n");
    let mut settings = rootset_service::Settings::default();
    settings.code.roots = Some(vec![place.root()]);
    place.world.service = place.world.process_with(settings);
    place.world.caller.front_end = FrontEnd::Mcp;
    place.index();
    place.world.call("index_codebase", request(&place.file("src"), json!({})));
    std::os::unix::fs::symlink(place.beside("cafe"), place.file("way-out")).unwrap();
    let outside = [
        place.beside("cafe"),
        place.beside("shop-annex"),
        place.file("../cafe"),
        place.file("way-out"),
        place.beside(""),
    ];
    for path in outside {
        let (code, error) = place.world.fails("index_codebase", request(&path, json!({})));
        assert_eq!(code, "forbidden", "{}: {error}", path.display());
    }
    assert!(!place.served().iter().any(|path| path.contains("menu")), "{:?}", place.served());
}
