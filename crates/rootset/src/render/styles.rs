//! The few styles there are. Whether they reach a terminal is decided where it is written.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

pub fn bold(text: impl Display) -> String {
    styled(Style::new().bold(), text)
}

pub fn dim(text: impl Display) -> String {
    styled(Style::new().dimmed(), text)
}

pub fn good(text: impl Display) -> String {
    styled(AnsiColor::Green.on_default(), text)
}

pub fn bad(text: impl Display) -> String {
    styled(AnsiColor::Red.on_default(), text)
}

pub fn warning(text: impl Display) -> String {
    styled(AnsiColor::Yellow.on_default(), text)
}

fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
