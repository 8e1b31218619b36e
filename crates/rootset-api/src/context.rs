//! Context sessions: an agent's window as segments, what leaves it, and what comes back.

mod collector;
mod fit;
mod segment;
mod session;
mod stash;

pub use collector::*;
pub use fit::*;
pub use segment::*;
pub use session::*;
pub use stash::*;
