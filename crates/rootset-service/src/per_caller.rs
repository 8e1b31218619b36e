//! One thing for each caller, for front ends that divide among callers what all of them use: turns, room, connections. What
//! nobody holds is forgotten, so it costs nothing to have been here once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// Forgetting looks at every caller: it waits until there are this many more than at the last look.
const LOOK_AFTER: usize = 64;

pub struct PerCaller<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    kept: Mutex<Kept<T>>,
}

struct Kept<T> {
    by_caller: HashMap<String, Weak<T>>,
    look_at_len: usize,
}

impl<T> std::fmt::Debug for PerCaller<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PerCaller({} kept)", self.kept.lock().by_caller.len())
    }
}

impl<T> PerCaller<T> {
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let kept = Kept { by_caller: HashMap::new(), look_at_len: LOOK_AFTER };
        Self { make: Box::new(make), kept: Mutex::new(kept) }
    }

    /// The caller's own, which lives while anybody holds it.
    pub fn of(&self, caller: &str) -> Arc<T> {
        let mut kept = self.kept.lock();
        if let Some(held) = kept.by_caller.get(caller).and_then(Weak::upgrade) {
            return held;
        }
        if kept.by_caller.len() >= kept.look_at_len {
            kept.by_caller.retain(|_, it| it.strong_count() > 0);
            kept.look_at_len = kept.by_caller.len() + LOOK_AFTER;
        }
        let made = Arc::new((self.make)());
        kept.by_caller.insert(caller.to_owned(), Arc::downgrade(&made));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_one_while_it_is_held_and_nothing_is_kept_of_the_others() {
        let shares = PerCaller::new(|| Mutex::new(0));
        let held = shares.of("held");
        *held.lock() = 7;
        for number in 0..1_000 {
            assert_eq!(*shares.of(&format!("gone {number}")).lock(), 0);
        }
        assert_eq!(*shares.of("held").lock(), 7);
        assert!(shares.kept.lock().by_caller.len() <= LOOK_AFTER + 1);
    }
}
