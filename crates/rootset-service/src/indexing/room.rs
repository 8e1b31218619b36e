//! The space for what is in transit between two threads, counted in bytes: files differ in size by a factor of a
//! thousand.

use parking_lot::{Condvar, Mutex};

pub struct Room {
    bytes_max: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: usize,
    is_closed: bool,
}

impl Room {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until there is room; whatever is too large for it gets in alone. `false` when it is closed.
    pub fn enter(&self, bytes: usize) -> bool {
        let mut state = self.state.lock();
        while state.bytes > 0 && state.bytes + bytes > self.bytes_max && !state.is_closed {
            self.changed.wait(&mut state);
        }
        state.bytes += bytes;
        !state.is_closed
    }

    pub fn leave(&self, bytes: usize) {
        let mut state = self.state.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        self.changed.notify_all();
    }

    /// Nobody waits any more.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_a_thing_gets_in_alone_and_closing_ends_the_waiting() {
        let room = Room::new(10);
        assert!(room.enter(100));
        std::thread::scope(|scope| {
            let second = scope.spawn(|| room.enter(1));
            room.leave(100);
            assert!(second.join().unwrap());
            let third = scope.spawn(|| room.enter(50));
            room.close();
            assert!(!third.join().unwrap());
        });
    }
}
