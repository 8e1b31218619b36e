//! The store's half of the code index, at its border: files in, states, symbols and text out.

mod harness;
mod reading;
mod scanning;
mod writing;
