//! What must hold in any world: each exchange as it ends, and at the end counts, figures, the journal and outputs.

pub(crate) mod counts;
pub(crate) mod exchange;
pub(crate) mod figures;
pub(crate) mod written;
