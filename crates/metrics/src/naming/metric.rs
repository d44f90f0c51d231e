//! What a metric is: a name, a kind that says how samples add up, and what its values mean.
//!
//! The words are k6's. A metric is spoken of by its `MetricId`; names are looked up once, never while samples are
//! added.

/// How the samples of a metric are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Sum of the values, and its rate per second.
    Counter,
    /// Last, lowest and highest value.
    Gauge,
    /// Share of the samples that were not zero.
    Rate,
    /// Distribution of the values.
    Trend,
}

/// What the values of a metric are, which decides how they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contains {
    /// Plain numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Kind {
    /// k6's name: `counter`, `gauge`, `rate`, `trend`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        }
    }
}

impl Contains {
    /// k6's name: `default`, `time`, `data`.
    pub const fn name(self) -> &'static str {
        match self {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        }
    }

    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Contains::Default => "plain numbers",
            Contains::Time => "milliseconds",
            Contains::Data => "bytes",
        }
    }
}

/// Index of a metric in its `Registry`. Built-in metrics have fixed ids (see `builtin`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub u32);
