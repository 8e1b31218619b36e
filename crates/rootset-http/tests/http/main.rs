//! A server on a real socket, called as clients and attackers do.

mod access;
mod ending;
mod equality;
mod exhaustion;
mod harness;
mod hooks;
mod keys;
mod limits;
mod sessions;
mod surface;
