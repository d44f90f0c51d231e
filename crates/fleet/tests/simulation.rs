//! Coordinator and agents under whatever can go wrong, in simulated time. `cargo xtask fleet simulate` tries a hundred
//! thousand seeds.

use onrush_fleet::simulation::try_seed;

#[test]
fn whatever_goes_wrong_nothing_is_counted_twice_or_missed_in_silence() {
    let (mut starts, mut losses, mut leads) = (0, 0, 0);
    for seed in 0..400 {
        let outcome = try_seed(seed).unwrap_or_else(|what| panic!("{what}"));
        starts += usize::from(outcome.start.is_some());
        losses += outcome.losses;
        leads += outcome.leads;
    }
    // The seeds do what they are for.
    assert!(starts > 300 && losses > 30 && leads > 10_000, "{starts} {losses} {leads}");
}
