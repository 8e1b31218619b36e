//! What systems do in different ways about a program that is told to end. The rest of the crate is the same everywhere.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The first Ctrl-C or SIGTERM sets `is_asked` and calls `tell` soon after, on a thread of its own; the second ends the
/// process with `status`.
pub fn on_end_signals(status: i32, is_asked: &Arc<AtomicBool>, tell: impl FnOnce() + Send + 'static) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, status, is_asked.clone())?;
        flag::register(signal, is_asked.clone())?;
    }
    listen(is_asked.clone(), tell)
}

#[cfg(unix)]
fn listen(_: Arc<AtomicBool>, tell: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            tell();
        }
    });
    Ok(())
}

/// Elsewhere nothing waits for a signal: the flag is looked at again and again.
#[cfg(not(unix))]
fn listen(is_asked: Arc<AtomicBool>, tell: impl FnOnce() + Send + 'static) -> io::Result<()> {
    const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(50);
    std::thread::spawn(move || {
        while !is_asked.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        tell();
    });
    Ok(())
}
