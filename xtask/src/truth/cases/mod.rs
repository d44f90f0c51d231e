//! The cases: what is done to server and generator, and what must come of it.

mod bounds;
mod clock;
mod counts;
mod delays;
mod freezes;
mod limits;
mod poisson;
mod schedule;
mod verdicts;

use super::trial::bench::Case;

/// All of them; the full list has more.
pub fn all(is_full: bool) -> Vec<Case> {
    let mut all = freezes::cases(is_full);
    all.extend(delays::cases());
    all.extend(counts::cases());
    all.extend(schedule::cases());
    all.extend(poisson::cases());
    all.extend(clock::cases());
    all.extend(verdicts::cases());
    all.extend(limits::cases());
    all.extend(bounds::cases());
    all
}

/// For a message.
pub fn names(all: &[Case]) -> String {
    all.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join(", ")
}
