//! A tool on trial: each figure that it printed beside what the target saw, and what follows.
//!
//! True is what agrees within the figure's own rounding and within what the target cannot know, and how much that is
//! stands beside it. Not true is what contradicts the target whatever happened elsewhere. Everything else cannot be
//! told, and says why: a target sees neither requests that never reached it nor when a client began to wait.

mod counts;
mod findings;
mod latency;
mod text;
mod verdict;

pub use text::text;
pub use verdict::{ClaimVerdict, JudgedFigure, Trial, TrialFinding};

use self::latency::LatencyBounds;
use self::verdict::{Ruling, TRIAL_KIND, TRIAL_SCHEMA};
use super::claims::{Claim, ClaimFigure, Claims};
use super::seen::WitnessDocument;

/// Judges each figure of a tool.
pub fn judge(witness: &WitnessDocument, claims: &Claims) -> Trial {
    let latency = LatencyBounds::new(witness, claims);
    let figures = claims.figures.iter().map(|claim| judged(claim, witness, claims, &latency)).collect();
    let findings = findings::of(witness, claims, &latency);
    let (kind, tool) = (TRIAL_KIND.to_owned(), claims.tool.to_owned());
    Trial { kind, schema: TRIAL_SCHEMA, tool, figures, findings }
}

fn judged(claim: &Claim, witness: &WitnessDocument, claims: &Claims, latency: &LatencyBounds) -> JudgedFigure {
    let Ruling { verdict, least, most, within, why, on_schedule } = match claim.figure {
        ClaimFigure::LatencyMin | ClaimFigure::LatencyMean | ClaimFigure::LatencyMax | ClaimFigure::Latency(_) => {
            latency.ruling(claim)
        }
        _ => counts::ruling(claim, witness, claims),
    };
    let Claim { figure, printed, value, .. } = claim.clone();
    let most = most.filter(|most| most.is_finite());
    JudgedFigure { figure, name: figure.name(), printed, value, least, most, verdict, within, why, on_schedule }
}
