use super::*;

fn updates(old: &str, new: &str) -> bool {
    update(&claims(old), &claims(new)).is_some()
}

#[test]
fn a_newer_value_of_the_same_attribute_replaces_the_older() {
    for (old, new) in [
        ("Alice lives in Berlin.", "Alice moved to Hamburg."),
        ("The backend uses Node 18.", "The backend was upgraded to Node 22."),
        ("The standup is on Monday at 10.", "The standup moved to Tuesday at 14:00."),
        ("Test coverage is at 65 %.", "Test coverage is now at 78 %."),
        ("The rate limit is 100 requests per minute.", "The rate limit was raised to 500 requests per minute."),
        ("Bob owns the billing service.", "Carol now owns the billing service."),
        ("Bob's email is bob@acme.io.", "Bob's email is bob@umbrella.io."),
        ("The project status is active.", "The project status is now paused."),
        ("The API listens on port 8080.", "The API now listens on port 9090."),
        ("Dana is vegetarian.", "Dana is vegan now."),
        ("The licence costs 20 dollars.", "The licence now costs 25 dollars."),
        ("The owner of the wiki is Priya.", "The owner of the wiki is now Omar."),
    ] {
        assert!(updates(old, new), "{old} {new}\n{:#?}\n{:#?}", claims(old), claims(new));
    }
}

#[test]
fn what_may_hold_beside_it_is_no_update() {
    for (old, new) in [
        ("Alice lives in Berlin.", "Bob lives in Hamburg."),
        ("Alice lives in Berlin.", "Alice works in Hamburg."),
        ("The staging database runs on port 5432.", "The production database runs on port 5433."),
        ("Alice speaks French.", "Alice also speaks German."),
        ("The API timeout is 30 seconds.", "The API limit is 50 requests."),
        ("Alice lives in Berlin.", "Alice plans to move to Hamburg."),
        ("Sprint 12 ends on May 3.", "Sprint 13 ends on May 17."),
        ("Alice lived in Paris in 2015.", "Alice lives in Berlin."),
        ("Bob's birthday is on May 3.", "Bob's exam is on May 5."),
        ("The team uses Redis for caching.", "The team uses Postgres for storage."),
        ("Bystander number 3 lives in a tree.", "Bystander number 4 lives in a tree."),
        ("This is note 7 about walruses.", "This is note 8 about walruses."),
        ("The user drinks tea.", "The user drinks coffee."),
        ("Memory 12 tells of the harbour.", "Memory 13 tells of the harbour."),
    ] {
        assert!(!updates(old, new), "{old} {new}\n{:#?}\n{:#?}", claims(old), claims(new));
    }
}
