//! `cargo xtask truth`: is what a run says true? Runs against a referee that shares no line with Onrush, a server in C
//! (`xtask/truth/referee.c`) that notes when the kernel received each request and when its own answer was written.
//!
//! Not part of `cargo test`: it takes two minutes, needs a C compiler, and a busy machine widens its figures. Freezes
//! of the server must be in the percentiles, freezes of the generator in the verdict and in no timing, known delays
//! come out as they were asked for, and every request and byte that the server had is counted. The table says what was
//! found and what is wanted; a row that misses its limit fails the suite.

mod cases;
mod claim;
mod load;
mod referee;

use std::path::{Path, PathBuf};

/// Runs the cases whose name contains one of these words, all without words.
pub fn run(onrush: &Path, root: &Path, words: &[String]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("onrush-truth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let outcome = run_in(&Bench { onrush, referee: referee::build(root, &folder)?, folder: folder.clone() }, words);
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

/// What every case needs.
pub(super) struct Bench<'a> {
    onrush: &'a Path,
    referee: PathBuf,
    folder: PathBuf,
}

fn run_in(bench: &Bench<'_>, words: &[String]) -> Result<(), String> {
    println!("{}", claim::HEAD);
    let chosen = cases::ALL.iter().filter(|case| words.is_empty() || words.iter().any(|word| case.name.contains(word)));
    let (mut missed, mut made) = (0, 0);
    for case in chosen {
        for row in (case.run)(bench).map_err(|problem| format!("{}: {problem}", case.name))? {
            println!("{}", row.line(case.name));
            made += 1;
            missed += usize::from(!row.holds());
        }
    }
    match (made, missed) {
        (0, _) => Err(format!("no case is named like {}: there are {}", words.join(", "), cases::names())),
        (_, 0) => Ok(()),
        (_, missed) => Err(format!("{missed} of {made} rows miss their limit; on a busy machine run it again")),
    }
}

/// The value below which this share (0 to 1) of ascending values lies, by rank.
pub(super) fn quantile(ascending: &[f64], share: f64) -> f64 {
    let at = (ascending.len() as f64 * share).ceil() as usize;
    ascending.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The largest difference between the distributions of two samples, both ascending.
pub(super) fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut most) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        most = most.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_ranks() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.25, 0.5, 0.9, 1.0].map(|share| quantile(&values, share)), [1.0, 2.0, 4.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn distributions_differ_by_their_largest_gap() {
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 5.0, 6.0]), 0.5);
    }
}
