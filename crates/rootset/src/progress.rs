//! A progress bar on the terminal, for work that takes long.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rootset_service::Progress;

/// Bars are talk: on stderr, and only where somebody watches.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub fn new(is_shown: bool) -> Self {
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} files, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self { bar }
    }

    /// Of a file that is fetched.
    #[cfg(feature = "local-model")]
    pub fn of_bytes(is_shown: bool) -> Self {
        let bar = Self::new(is_shown);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}, {eta} left") {
            bar.bar.set_style(style);
        }
        bar
    }

    #[cfg(feature = "local-model")]
    pub fn show(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// What is done of what there is to do, for somebody who asks from another thread.
    pub fn counts(&self) -> impl Fn() -> (u64, u64) + Send + 'static {
        let bar = self.bar.clone();
        move || (bar.position(), bar.length().unwrap_or_default())
    }

    pub fn progress(&self) -> Progress {
        let bar = self.bar.clone();
        Progress::to(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
            bar.enable_steady_tick(Duration::from_millis(200));
        })
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
