//! `cargo xtask fleet …`: fleets under what `cargo test` has no time or no programs for.

pub(crate) mod crowd;
pub(crate) mod kube;
pub(crate) mod outages;
pub(crate) mod simulate;
