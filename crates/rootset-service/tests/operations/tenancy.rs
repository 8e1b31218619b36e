//! Tenants on one PostgreSQL server: what is one's cannot be read, changed, counted or guessed by another, neither by any
//! operation nor by raw SQL as the role that the program works as.

mod isolation;
mod owner;
mod raw_sql;
mod requests;
mod tenants;
