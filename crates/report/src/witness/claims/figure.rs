//! The figures that tools print, in one set of units: counts, seconds for how long it took, milliseconds for latencies,
//! bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which figure a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimFigure {
    /// Requests that were made.
    Requests,
    /// Requests that ended per second.
    Rate,
    /// Requests that were sent per second.
    SendRate,
    /// Seconds that the load took.
    Duration,
    /// Bytes received with their heads.
    Received,
    /// Bytes sent with their heads.
    Sent,
    /// Bytes of the responses' bodies.
    BodiesReceived,
    /// Bytes of the requests' bodies.
    BodiesSent,
    /// Responses with a status from the first to the last.
    Statuses(u16, u16),
    /// Requests without a response.
    Errors,
    /// Requests that count as failed, by the tool's own rule.
    Failures,
    /// The shortest latency, in milliseconds.
    LatencyMin,
    /// The mean latency.
    LatencyMean,
    /// The longest latency.
    LatencyMax,
    /// A percentile of the latencies.
    Latency(f64),
}

impl ClaimFigure {
    /// As tables name it.
    pub fn name(self) -> String {
        match self {
            ClaimFigure::Requests => String::from("requests"),
            ClaimFigure::Rate => String::from("rate"),
            ClaimFigure::SendRate => String::from("rate of sending"),
            ClaimFigure::Duration => String::from("duration"),
            ClaimFigure::Received => String::from("bytes received"),
            ClaimFigure::Sent => String::from("bytes sent"),
            ClaimFigure::BodiesReceived => String::from("bytes of response bodies"),
            ClaimFigure::BodiesSent => String::from("bytes of request bodies"),
            ClaimFigure::Statuses(from, to) if from == to => format!("status {from}"),
            ClaimFigure::Statuses(from, to) if from % 100 == 0 && to - from == 99 => format!("status {}xx", from / 100),
            ClaimFigure::Statuses(from, _) => format!("status {from} and above"),
            ClaimFigure::Errors => String::from("errors"),
            ClaimFigure::Failures => String::from("failed"),
            ClaimFigure::LatencyMin => String::from("latency, min"),
            ClaimFigure::LatencyMean => String::from("latency, mean"),
            ClaimFigure::LatencyMax => String::from("latency, max"),
            ClaimFigure::Latency(percent) => format!("latency, p{}", units::show::number(percent)),
        }
    }
}

/// A figure that a tool printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Which figure it is.
    pub figure: ClaimFigure,
    /// As it is in the output.
    pub printed: String,
    /// In the unit of the figure.
    pub value: f64,
    /// Half a unit of the last digit that was printed.
    pub rounding: f64,
}

/// When a tool's latencies begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatencyStart {
    /// When the request was sent.
    #[default]
    Sent,
    /// When it should have been sent.
    Planned,
}

/// What a tool printed of a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// Its name: `wrk`.
    pub tool: &'static str,
    /// In the order of the output.
    pub figures: Vec<Claim>,
    /// When its latencies begin.
    pub start: LatencyStart,
}

impl Claims {
    pub(super) fn of(tool: &'static str) -> Claims {
        Claims { tool, ..Claims::default() }
    }

    /// A figure that is printed exactly.
    pub(super) fn exact(&mut self, figure: ClaimFigure, value: f64) {
        let printed = units::show::number(value);
        self.push(Claim { figure, printed, value, rounding: 0.0 });
    }

    /// Latencies of JSON, in milliseconds.
    pub(super) fn latency(&mut self, figure: ClaimFigure, ms: f64) {
        self.push(Claim { figure, printed: units::show::time(ms), value: ms, rounding: 0.0 });
    }

    /// A figure of a text; texts that are no number are left out.
    pub(super) fn text(&mut self, figure: ClaimFigure, printed: &str, read: impl Fn(&str) -> Option<(f64, f64)>) {
        if let Some((value, rounding)) = read(printed.trim()) {
            self.push(Claim { figure, printed: printed.trim().to_owned(), value, rounding });
        }
    }

    fn push(&mut self, claim: Claim) {
        if claim.value.is_finite() && claim.rounding.is_finite() && claim.value >= 0.0 {
            self.figures.push(claim);
        }
    }

    /// What is said of a figure.
    pub fn value(&self, figure: ClaimFigure) -> Option<f64> {
        self.figures.iter().find(|claim| claim.figure == figure).map(|claim| claim.value)
    }
}
