//! Heavier suites than `cargo test`.
fn main() {}
