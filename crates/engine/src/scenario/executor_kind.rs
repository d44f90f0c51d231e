//! The executors by name: k6's six, and traces.

/// An executor without its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExecutorKind {
    SharedIterations,
    PerVuIterations,
    ConstantVus,
    RampingVus,
    ConstantArrivalRate,
    RampingArrivalRate,
    Trace,
}

impl ExecutorKind {
    const ALL: [ExecutorKind; 7] = [
        ExecutorKind::SharedIterations,
        ExecutorKind::PerVuIterations,
        ExecutorKind::ConstantVus,
        ExecutorKind::RampingVus,
        ExecutorKind::ConstantArrivalRate,
        ExecutorKind::RampingArrivalRate,
        ExecutorKind::Trace,
    ];

    /// k6's name; ours where k6 has no such executor.
    pub(super) fn name(self) -> &'static str {
        match self {
            ExecutorKind::SharedIterations => "shared-iterations",
            ExecutorKind::PerVuIterations => "per-vu-iterations",
            ExecutorKind::ConstantVus => "constant-vus",
            ExecutorKind::RampingVus => "ramping-vus",
            ExecutorKind::ConstantArrivalRate => "constant-arrival-rate",
            ExecutorKind::RampingArrivalRate => "ramping-arrival-rate",
            ExecutorKind::Trace => "trace",
        }
    }

    /// Of the field `executor`; the error says which scenario and what was expected.
    pub(super) fn read(place: &str, name: Option<&str>) -> Result<ExecutorKind, String> {
        let names = ExecutorKind::ALL.map(ExecutorKind::name);
        let expected = names.join(", ");
        let name = name.ok_or_else(|| format!("{place}: executor is missing, expected any of {expected}"))?;
        let hint = units::suggest::hint(name, names);
        let found = ExecutorKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("{place}: unknown executor '{name}'{hint} (expected any of {expected})"))
    }
}
