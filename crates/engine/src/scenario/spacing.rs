//! How starts follow each other: the fields `arrivals` and `seed` of a rate, and `speed` of a trace. Ours, unknown to
//! k6.

use std::time::Duration;

use serde_json::{Value, json};

use super::fields::Fields;

/// How the starts of a rate follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// In equal intervals, as in k6.
    #[default]
    Even,
    /// As visitors who know nothing of each other come: in exponentially distributed intervals (ours, unknown to k6).
    Poisson {
        /// Equal seeds give equal starts.
        seed: u64,
    },
}

impl Spacing {
    pub(super) fn to_json(self) -> Value {
        match self {
            Spacing::Even => json!({}),
            Spacing::Poisson { seed } => json!({ "arrivals": "poisson", "seed": seed }),
        }
    }
}

/// A factor above 0, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(u64);

impl Speed {
    /// As recorded.
    pub const ONE: Speed = Speed(1_000_000);

    /// From a number; none when it is not between a millionth and a million.
    pub fn from_number(number: f64) -> Option<Speed> {
        (1e-6..=1e6).contains(&number).then(|| Speed((number * 1e6).round() as u64))
    }

    /// As a number.
    pub fn number(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// A recorded time at this speed.
    pub(super) fn of(self, time: Duration) -> Duration {
        debug_assert!(self.0 > 0, "a speed is above 0");
        let ns = time.as_nanos() * u128::from(Speed::ONE.0) / u128::from(self.0);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// Reads `arrivals` and `seed`. Without a seed, the starts are those of the scenario's name: the same in every run, and
/// others in another scenario.
pub(super) fn read_spacing(fields: &mut Fields<'_>, place: &str) -> Spacing {
    let kind = fields.text("arrivals");
    let given = fields.value("seed").is_some();
    let seed = fields.count("seed", 0, Some(fnv1a(place)));
    match kind.as_deref() {
        Some("poisson") => return Spacing::Poisson { seed },
        None | Some("even") if given => fields.problem("seed has a meaning with arrivals: 'poisson' alone"),
        None | Some("even") => {}
        Some(other) => fields.problem(format_args!("arrivals is '{other}', expected 'even' or 'poisson'")),
    }
    Spacing::Even
}

pub(super) fn read_speed(fields: &mut Fields<'_>) -> Speed {
    let Some(value) = fields.value("speed") else { return Speed::ONE };
    value.as_f64().and_then(Speed::from_number).unwrap_or_else(|| {
        fields.problem(format_args!("speed is {value}, expected a number between 0.000001 and 1000000"));
        Speed::ONE
    })
}

/// A number for a text (Fowler, Noll and Vo), cut to what JSON's numbers hold exactly.
fn fnv1a(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash >> 11
}
