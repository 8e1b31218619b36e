//! A server on a real socket, called as clients and attackers do.

mod access;
mod ending;
mod equality;
mod harness;
mod keys;
mod limits;
mod surface;
