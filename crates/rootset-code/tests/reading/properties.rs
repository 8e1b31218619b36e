//! Any text is valid input.
