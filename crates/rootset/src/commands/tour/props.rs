//! The files that the tour plays with.

#![expect(clippy::disallowed_types, reason = "a message list as an API takes it is JSON")]

use std::fmt::Write;

use serde_json::{Value, json};

/// Path below the folder of the tour, and text.
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("shop/cart.py", CART.to_owned()),
        ("shop/checkout.py", CHECKOUT.to_owned()),
        ("shop/legacy.py", LEGACY.to_owned()),
        ("session.json", session().to_string()),
    ]
}

const CART: &str = r#""""The cart."""


def total(items):
    """Sum of all prices, in cents."""
    return sum(item.price for item in items)
"#;

const CHECKOUT: &str = r#""""Paying for a cart."""

from shop.cart import total


def pay(items, card):
    return card.charge(total(items))
"#;

const LEGACY: &str = r#""""The old way to pay."""


def pay_by_fax(items):
    return f"please charge {len(items)} items"
"#;

/// A message list as an API takes it. The log is most of it, and nothing refers to it any more at the end.
fn session() -> Value {
    let call = |id: &str, text: &str, name: &str, input: Value| {
        json!({"role": "assistant", "content": [
            {"type": "text", "text": text},
            {"type": "tool_use", "id": id, "name": name, "input": input},
        ]})
    };
    let result = |id: &str, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]});
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    json!([
        said("user", "Logins time out since Monday. Find out why; the code is in shop/login.py."),
        call("t1", "The log first.", "Bash", json!({"command": "tail -n 160 login.log"})),
        result("t1", &log()),
        call("t2", "Nothing slow in there. Now the code.", "Read", json!({"file_path": "shop/login.py"})),
        result("t2", "def login(user):\n    return sessions.open(user, timeout=0.1)\n"),
        said("assistant", "The timeout of 0.1 seconds is too short: sessions.open needs 0.3. It is 2 now."),
        said("user", "Good. Is there a test?"),
        said("assistant", "There is one now, in tests/test_login.py: a session that takes half a second to open."),
        said("user", "Does it pass?"),
        call("t3", "I run it.", "Bash", json!({"command": "pytest tests/test_login.py"})),
        result("t3", "1 passed in 0.61s"),
        said("assistant", "It passes, and fails with the old timeout."),
        said("user", "Then write the entry for the changelog."),
        said("assistant", "Done: `Logins no longer time out while sessions are slow to open.`"),
        said("user", "Thanks."),
        said("assistant", "You are welcome."),
    ])
}

fn log() -> String {
    let mut log = String::new();
    for line in 0..160 {
        let (minute, second, worker, took) = (line / 60, line % 60, line % 4, line % 37 + 3);
        writeln!(log, "2026-05-04 10:{minute:02}:{second:02} worker-{worker} GET /login 200 {took}ms")
            .expect("writing to a string cannot fail");
    }
    log.push_str("2026-05-04 10:02:40 slow worker: none\n");
    log
}
