//! The `onrush` binary.
fn main() {}
