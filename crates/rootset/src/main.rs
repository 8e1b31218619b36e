//! The `rootset` binary, see the library beside it.

use std::process::ExitCode;

/// Parsing and storing allocate little pieces by the million; the system's allocator costs a tenth of the time of both.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    rootset_program::run_program()
}
