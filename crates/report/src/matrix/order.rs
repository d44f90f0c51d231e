//! In which order the runs are made: rounds outermost, so that a machine whose speed drifts does so under every cell;
//! in a round the cells in an order of its own; in a cell the variants A B, then B A, and so on.
//!
//! The order follows from the seed and from the plan's size alone. More rounds leave the earlier ones as they were.

/// One cell's turn in one round: its variants run one after the other, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// From 0.
    pub round: u32,
    /// Index of the cell.
    pub cell: usize,
    /// Indices of the variants.
    pub variants: Vec<usize>,
}

/// All turns. `variants[cell]` says which variants run in a cell; cells without any have no turn.
pub fn order(seed: u64, rounds: u32, variants: &[Vec<usize>]) -> Vec<Turn> {
    (0..rounds).flat_map(|round| turns(seed, round, variants)).collect()
}

fn turns(seed: u64, round: u32, variants: &[Vec<usize>]) -> Vec<Turn> {
    let mut cells: Vec<usize> = (0..variants.len()).filter(|&cell| !variants[cell].is_empty()).collect();
    Random::new(seed, u64::from(round)).shuffle(&mut cells);
    cells.into_iter().map(|cell| Turn { round, cell, variants: in_turn(seed, round, cell, &variants[cell]) }).collect()
}

/// Every second round goes backwards, and every second pair of rounds begins one variant later: with two variants
/// A B, B A, B A, A B, which a speed that drifts evenly cannot favour.
fn in_turn(seed: u64, round: u32, cell: usize, variants: &[usize]) -> Vec<usize> {
    let mut variants = variants.to_vec();
    // Numbers of cells and of rounds must not meet in one stream.
    Random::new(seed, (1 << 32) + cell as u64).shuffle(&mut variants);
    let by = (round as usize / 2) % variants.len();
    variants.rotate_left(by);
    if round % 2 == 1 {
        variants.reverse();
    }
    variants
}

/// SplitMix64: written out, so that a seed means the same order in every version.
struct Random(u64);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for at in (1..items.len()).rev() {
            // The bias of the remainder is below 2^-50 for any list of a plan.
            items.swap(at, (self.next() % (at as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_runs_once_a_round_in_every_cell() {
        let variants = vec![vec![0, 1, 2], vec![1], vec![], vec![0, 2]];
        let turns = order(7, 5, &variants);
        assert_eq!(turns.len(), 5 * 3);
        for turn in &turns {
            let mut ran = turn.variants.clone();
            ran.sort_unstable();
            assert_eq!(ran, variants[turn.cell]);
        }
        let rounds: Vec<u32> = turns.iter().map(|turn| turn.round).collect();
        assert!(rounds.is_sorted(), "rounds are outermost");
    }

    #[test]
    fn two_variants_run_ab_ba_ba_ab() {
        let turns = order(3, 4, &[vec![0, 1]]);
        let [a, b] = turns[0].variants[..] else { panic!("two") };
        let all: Vec<usize> = turns.iter().flat_map(|turn| turn.variants.clone()).collect();
        assert_eq!(all, [a, b, b, a, b, a, a, b]);
    }

    #[test]
    fn positions_are_shared_evenly() {
        let turns = order(1, 6, &[vec![0, 1, 2]]);
        for variant in 0..3 {
            for position in 0..3 {
                let times = turns.iter().filter(|turn| turn.variants[position] == variant).count();
                assert_eq!(times, 2, "variant {variant} at {position}: {turns:?}");
            }
        }
    }

    #[test]
    fn the_seed_decides_and_more_rounds_change_nothing() {
        let variants: Vec<Vec<usize>> = (0..9).map(|_| vec![0, 1, 2]).collect();
        assert_eq!(order(5, 3, &variants), order(5, 3, &variants));
        assert_ne!(order(5, 3, &variants), order(6, 3, &variants));
        assert_eq!(order(5, 8, &variants)[..27], order(5, 3, &variants)[..]);
        let cells =
            |round: u32| order(5, 8, &variants).iter().filter(|t| t.round == round).map(|t| t.cell).collect::<Vec<_>>();
        assert_ne!(cells(0), cells(1), "cells change places from round to round");
    }

    /// The numbers that SplitMix64's authors publish for the seed 0.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = Random(0);
        let first = [random.next(), random.next(), random.next()];
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    /// Worked out apart from this code: a result's seed has to mean the same order in every version.
    #[test]
    fn a_seed_means_this_order_for_ever() {
        let turns = order(7, 4, &[vec![0, 1, 2], vec![0, 1]]);
        let found: Vec<_> = turns.iter().map(|turn| (turn.round, turn.cell, turn.variants.as_slice())).collect();
        let expected: [(u32, usize, &[usize]); 8] = [
            (0, 1, &[0, 1]),
            (0, 0, &[1, 0, 2]),
            (1, 1, &[1, 0]),
            (1, 0, &[2, 0, 1]),
            (2, 1, &[1, 0]),
            (2, 0, &[0, 2, 1]),
            (3, 0, &[1, 2, 0]),
            (3, 1, &[0, 1]),
        ];
        assert_eq!(found, expected);
    }
}
