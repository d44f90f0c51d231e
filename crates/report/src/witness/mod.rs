//! What a target saw of a load, and whether what a tool printed of the same load is true.
//!
//! Pure: `onrush serve --witness` tells an `Account` what happens and writes its `WitnessDocument` (`seen`); `onrush
//! witness` reads that and a tool's output (`claims`), and `trial` says figure by figure what is true, what is not, and
//! what cannot be told from the target's side. A target sees arrivals, its own time and bytes. It does not see when a
//! client began to wait, nor a request that never reached it; what follows from the order of requests on a connection
//! is all it knows of a client's time.

mod claims;
mod seen;
mod trial;

#[cfg(feature = "fuzzing")]
pub(crate) use claims::parse as parse_claims;
pub use claims::{Claim, ClaimFigure, Claims, LatencyStart, read as read_claims};
#[cfg(feature = "fuzzing")]
pub(crate) use seen::parse as parse_witness;
pub use seen::{Account, AnswerSeen, RequestSeen, Served, WitnessDocument, read as read_witness};
pub use trial::{ClaimVerdict, JudgedFigure, Trial, TrialFinding, judge, text};
