//! The `onrush` binary: the library `cli` with the allocator of programs that run users.

use std::process::ExitCode;

/// A VU makes many small allocations; see the dependency's comment for the measured difference.
#[global_allocator]
static ALLOCATOR: host::allocator::RustAllocator = host::allocator::RustAllocator;

fn main() -> ExitCode {
    cli::main()
}
