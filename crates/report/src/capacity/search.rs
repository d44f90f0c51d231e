//! Which load to try next, and what the probes so far say of the highest that is held.
//!
//! Loads grow by doubling until one breaks, then the middle of the bracket is tried, then the edges are repeated. The
//! more load, the less is held: of all cuts below which all is held and above which all breaks, those count that
//! contradict the probes the least, or by one probe more. So an edge has to be shown twice, and one probe that was
//! unlucky widens the answer instead of moving it. A probe that stayed open counts for less than half of a certain one.

use super::judge::Standing;

/// What is searched for, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The first load.
    pub from: f64,
    /// No load above this one; none: as far as it goes.
    pub most: Option<f64>,
    /// Half of the answer's width, as a share of it: 0.03.
    pub precision: f64,
    /// Whether loads are whole numbers, as of users.
    pub is_whole: bool,
}

/// What a probe said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// Of the target.
    Target(Standing),
    /// Nothing: the generator did not make the load.
    Nothing,
}

/// A load that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Iterations per second, or a factor.
    pub load: f64,
    /// What it said.
    pub said: Said,
    /// What of it was served for certain, if it was held: at most `load`.
    pub sustained: f64,
    /// Whether it was far from breaking: the next may be four times as much.
    pub is_calm: bool,
}

/// Why a load is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// More than was held so far, or less than broke.
    Reaching,
    /// Between held and broken.
    Narrowing,
    /// An edge once more.
    Repeating,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextProbe {
    /// Try this load.
    Try(f64, Purpose),
    /// The answer is as precise as wanted, or as it can be.
    Done,
}

/// Loads between which the highest that is held lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bracket {
    /// Held; none where nothing was.
    pub low: Option<f64>,
    /// Broken; none where nothing was.
    pub high: Option<f64>,
}

/// A search under way.
#[derive(Debug)]
pub struct Search {
    aim: Aim,
    tried: Vec<Tried>,
}

/// What an open probe counts for; a certain one counts 1.
const OPEN_WEIGHT: f64 = 0.4;
/// Cuts that contradict so much more than the best one count, too.
const ALLOWED: f64 = 1.0;
/// Loads this close are the same one.
const SAME: f64 = 1e-9;
/// Below so small a part of the first load nothing is tried.
const LEAST: f64 = 1.0 / 64.0;
/// How often a load is tried without evidence before the generator is the limit.
const PATIENCE: usize = 2;
/// A bracket narrower than this share of the wanted width is not divided again.
const NARROW: f64 = 0.8;

impl Bracket {
    /// Half of its width, as a share of its middle; none where a side is open.
    pub fn half_width(self) -> Option<f64> {
        let (low, high) = (self.low?, self.high?);
        Some((high - low) / (high + low))
    }

    /// The middle between its sides.
    pub fn middle(self) -> Option<f64> {
        Some((self.low? + self.high?) / 2.0)
    }
}

impl Search {
    /// Nothing was tried yet.
    pub fn new(aim: Aim) -> Search {
        debug_assert!(aim.from > 0.0 && aim.precision > 0.0, "{aim:?}");
        Search { aim, tried: Vec::new() }
    }

    /// Adds what was tried.
    pub fn add(&mut self, tried: Tried) {
        self.tried.push(tried);
    }

    /// All that was tried, in order.
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    /// What is certain, with the edges shown twice.
    pub fn bracket(&self) -> Bracket {
        self.bracket_with(ALLOWED)
    }

    /// What the probes say, taken at their word.
    pub fn best(&self) -> Bracket {
        self.bracket_with(0.0)
    }

    /// The lowest load that the generator could not make.
    pub fn generator_limit(&self) -> Option<f64> {
        let without: Vec<f64> =
            self.tried.iter().filter(|tried| tried.said == Said::Nothing).map(|tried| tried.load).collect();
        let is_often = |load: &f64| without.iter().filter(|other| same(**other, *load)).count() >= PATIENCE;
        without.iter().copied().filter(is_often).reduce(f64::min)
    }

    /// What to try next.
    pub fn next(&self) -> NextProbe {
        let Some(last) = self.tried.last() else {
            return NextProbe::Try(self.capped(self.aim.from), Purpose::Reaching);
        };
        let limit = self.generator_limit();
        if last.said == Said::Nothing && limit.is_none_or(|limit| last.load < limit) {
            return NextProbe::Try(last.load, Purpose::Repeating);
        }
        match self.best() {
            Bracket { low: Some(low), high: Some(high) } => self.between(low, high),
            Bracket { low: Some(low), high: None } => self.above(low, limit),
            Bracket { low: None, high: Some(high) } if self.can_go_below(high) => {
                NextProbe::Try(self.rounded(high / 4.0), Purpose::Reaching)
            }
            Bracket { low: None, high: Some(_) } => NextProbe::Done,
            // The generator could not make the first load.
            Bracket { low: None, high: None } => {
                let least = self.tried.iter().map(|tried| tried.load).fold(f64::INFINITY, f64::min);
                match self.can_go_below(least) {
                    true => NextProbe::Try(self.rounded(least / 4.0), Purpose::Reaching),
                    false => NextProbe::Done,
                }
            }
        }
    }

    fn capped(&self, load: f64) -> f64 {
        self.rounded(self.aim.most.map_or(load, |most| load.min(most)))
    }

    fn can_go_below(&self, load: f64) -> bool {
        if self.aim.is_whole { load > 1.0 } else { load / 4.0 >= self.aim.from * LEAST }
    }

    fn rounded(&self, load: f64) -> f64 {
        if self.aim.is_whole { load.round().max(1.0) } else { load }
    }

    fn above(&self, low: f64, limit: Option<f64>) -> NextProbe {
        if let Some(limit) = limit {
            // Between what was made and what could not be: once or twice, no more.
            let middle = (low * limit).sqrt();
            let is_near = limit / low <= 1.3;
            return if is_near { NextProbe::Done } else { NextProbe::Try(middle, Purpose::Reaching) };
        }
        if self.aim.most.is_some_and(|most| low >= most * (1.0 - SAME)) {
            let is_shown = self.bracket().low.is_some_and(|shown| shown >= low * (1.0 - self.aim.precision));
            return if is_shown { NextProbe::Done } else { NextProbe::Try(low, Purpose::Repeating) };
        }
        let is_calm = self.tried.iter().any(|tried| same(tried.load, low) && tried.is_calm);
        NextProbe::Try(self.capped(low * if is_calm { 4.0 } else { 2.0 }), Purpose::Reaching)
    }

    fn between(&self, low: f64, high: f64) -> NextProbe {
        let wanted = 1.0 + 2.0 * self.aim.precision * NARROW;
        // Between neighbouring whole numbers there is nothing to try.
        let can_narrow = !self.aim.is_whole || high - low > 1.5;
        if high / low > wanted && can_narrow {
            return NextProbe::Try(self.between_whole(low, high), Purpose::Narrowing);
        }
        let shown = self.bracket();
        let is_narrow = shown.half_width().is_some_and(|half| half <= self.aim.precision);
        if is_narrow || !can_narrow && shown.high == Some(high) && shown.low == Some(low) {
            return NextProbe::Done;
        }
        let below = shown.low.map_or(f64::INFINITY, |shown| low / shown);
        let above = shown.high.map_or(f64::INFINITY, |shown| shown / high);
        NextProbe::Try(if below >= above { low } else { high }, Purpose::Repeating)
    }

    fn between_whole(&self, low: f64, high: f64) -> f64 {
        let middle = (low * high).sqrt();
        if self.aim.is_whole { middle.round().clamp(low + 1.0, high - 1.0) } else { middle }
    }

    /// The cuts that contradict at most `allowed` more than the best one.
    fn bracket_with(&self, allowed: f64) -> Bracket {
        let mut votes: Vec<(f64, f64, f64)> = Vec::new();
        for tried in &self.tried {
            let (held, broken) = match tried.said {
                Said::Nothing => continue,
                Said::Target(Standing::Held) => (1.0, 0.0),
                Said::Target(Standing::Broken(_)) => (0.0, 1.0),
                Said::Target(Standing::LeansHeld) => (OPEN_WEIGHT, 0.0),
                Said::Target(Standing::LeansBroken(_)) => (0.0, OPEN_WEIGHT),
            };
            match votes.iter_mut().find(|(load, ..)| same(*load, tried.load)) {
                Some((_, all_held, all_broken)) => {
                    *all_held += held;
                    *all_broken += broken;
                }
                None => votes.push((tried.load, held, broken)),
            }
        }
        votes.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The cut before each load, and behind the last: broken ones below it and held ones above it contradict it.
        let against = |cut: usize| {
            let below: f64 = votes[..cut].iter().map(|(.., broken)| broken).sum();
            let above: f64 = votes[cut..].iter().map(|(_, held, _)| held).sum();
            below + above
        };
        let cuts: Vec<f64> = (0..=votes.len()).map(against).collect();
        let best = cuts.iter().copied().fold(f64::INFINITY, f64::min);
        let counts = |cut: &usize| cuts[*cut] <= best + allowed + SAME;
        let (Some(first), Some(last)) = ((0..cuts.len()).find(counts), (0..cuts.len()).rfind(counts)) else {
            return Bracket::default();
        };
        let load = |index: usize| votes.get(index).map(|(load, ..)| *load);
        let low = first.checked_sub(1).and_then(load);
        Bracket { low: low.map(|low| if allowed > 0.0 { self.sustained(low) } else { low }), high: load(last) }
    }

    /// The most that was served for certain at a load that was held.
    fn sustained(&self, load: f64) -> f64 {
        let held = self.tried.iter().filter(|tried| same(tried.load, load));
        let held = held.filter(|tried| matches!(tried.said, Said::Target(Standing::Held | Standing::LeansHeld)));
        held.map(|tried| tried.sustained).reduce(f64::max).unwrap_or(load).min(load)
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::super::judge::Breach;
    use super::*;

    const AIM: Aim = Aim { from: 20.0, most: None, precision: 0.03, is_whole: false };
    const BROKEN: Standing = Standing::Broken(Breach::FallsBehind);

    fn tried(load: f64, said: Standing) -> Tried {
        Tried { load, said: Said::Target(said), sustained: load, is_calm: false }
    }

    /// Runs a search; `say` is told which probe it is and at which load.
    fn run(aim: Aim, mut say: impl FnMut(usize, f64) -> Said) -> Search {
        let mut search = Search::new(aim);
        while let NextProbe::Try(load, _) = search.next() {
            let probe = search.tried().len();
            assert!(probe < 60, "{:?}", search.tried());
            search.add(Tried { load, said: say(probe, load), sustained: load, is_calm: false });
        }
        search
    }

    fn truly(load: f64, capacity: f64) -> Said {
        Said::Target(if load <= capacity { Standing::Held } else { BROKEN })
    }

    #[test]
    fn a_sharp_limit_is_found_with_both_edges_shown_twice() {
        for capacity in [1.4, 33.0, 300.0, 2140.0, 15_000.0] {
            let search = run(AIM, |_, load| truly(load, capacity));
            let bracket = search.bracket();
            assert!(bracket.low.unwrap() <= capacity && capacity < bracket.high.unwrap(), "{bracket:?}");
            assert!(bracket.half_width().unwrap() <= AIM.precision);
            assert!(search.tried().len() <= 22, "{} probes for {capacity}", search.tried().len());
        }
    }

    #[test]
    fn one_unlucky_probe_widens_the_answer_and_does_not_move_it() {
        for unlucky in 0..18 {
            let search = run(AIM, |probe, load| {
                let is_held = (load <= 300.0) != (probe == unlucky);
                Said::Target(if is_held { Standing::Held } else { BROKEN })
            });
            let bracket = search.bracket();
            let (low, high) = (bracket.low.unwrap(), bracket.high.unwrap());
            assert!(low <= 300.0 && 300.0 <= high, "probe {unlucky}: {bracket:?} after {:?}", search.tried());
        }
    }

    #[test]
    fn a_generator_that_cannot_make_more_leaves_a_lower_bound() {
        let search = run(AIM, |_, load| if load > 5000.0 { Said::Nothing } else { Said::Target(Standing::Held) });
        let bracket = search.bracket();
        assert!(bracket.high.is_none() && search.generator_limit().is_some());
        assert!(bracket.low.unwrap() >= 2500.0, "{bracket:?}");
        // Once is no evidence.
        let search = run(AIM, |probe, load| if probe == 3 { Said::Nothing } else { truly(load, 300.0) });
        assert_eq!(search.generator_limit(), None);
        assert!(search.bracket().half_width().unwrap() <= 0.03);
    }

    #[test]
    fn no_load_is_above_the_one_asked_for() {
        let search = run(Aim { most: Some(100.0), ..AIM }, |_, _| Said::Target(Standing::Held));
        assert_eq!(search.bracket(), Bracket { low: Some(100.0), high: None });
        assert!(search.tried().iter().all(|tried| tried.load <= 100.0));
    }

    #[test]
    fn a_target_that_holds_nothing_has_an_upper_bound() {
        let search = run(AIM, |_, _| Said::Target(BROKEN));
        let bracket = search.bracket();
        assert_eq!(bracket.low, None);
        assert!(bracket.high.unwrap() < 5.1, "{bracket:?}");
    }

    #[test]
    fn users_are_whole() {
        let search = run(Aim { from: 1.0, is_whole: true, ..AIM }, |_, load| truly(load, 7.0));
        assert_eq!(search.bracket(), Bracket { low: Some(7.0), high: Some(8.0) });
        assert!(search.tried().iter().all(|tried| tried.load.fract() == 0.0));
        let none = run(Aim { from: 1.0, is_whole: true, ..AIM }, |_, _| Said::Target(BROKEN));
        assert_eq!(none.bracket().low, None);
    }

    #[test]
    fn open_probes_count_for_less() {
        let mut search = Search::new(AIM);
        for (load, said) in [(100.0, Standing::Held), (100.0, Standing::Held), (200.0, BROKEN), (200.0, BROKEN)] {
            search.add(tried(load, said));
        }
        assert_eq!(search.bracket(), Bracket { low: Some(100.0), high: Some(200.0) });
        search.add(tried(150.0, Standing::LeansHeld));
        assert_eq!(search.best(), Bracket { low: Some(150.0), high: Some(200.0) });
        assert_eq!(search.bracket(), Bracket { low: Some(100.0), high: Some(200.0) });
        search.add(tried(150.0, Standing::LeansHeld));
        search.add(tried(150.0, Standing::LeansHeld));
        assert_eq!(search.bracket(), Bracket { low: Some(150.0), high: Some(200.0) });
    }
}
