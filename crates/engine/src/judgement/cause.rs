//! Why figures are in doubt, by name.

use serde::{Deserialize, Serialize};

macro_rules! causes {
    ($($cause:ident = $name:literal, $title:literal;)*) => {
        /// Why figures are in doubt. The first ones explain the later ones, and are told first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "their titles say what they are; the guide has each")]
        pub enum Cause { $($cause),* }

        impl Cause {
            /// All, in their order.
            pub const ALL: &[Cause] = &[$(Cause::$cause),*];

            /// As JSON has it.
            pub const fn name(self) -> &'static str {
                match self { $(Cause::$cause => $name),* }
            }

            /// As people read it.
            pub const fn title(self) -> &'static str {
                match self { $(Cause::$cause => $title),* }
            }
        }
    };
}

causes! {
    AgentsLost = "agents_lost", "agents lost";
    Throttled = "throttled", "CPU limit";
    Steal = "steal", "stolen CPU time";
    ClockStepped = "clock_stepped", "clock stepped";
    FilesExhausted = "files_exhausted", "open files exhausted";
    PortsExhausted = "ports_exhausted", "local ports exhausted";
    Cpu = "cpu", "CPU";
    SharedCore = "shared_core", "core shared with the target";
    RunQueue = "run_queue", "no free core";
    EventLoopGap = "event_loop_gap", "event loop stood still";
    UsersExhausted = "users_exhausted", "users exhausted";
    BelowRate = "below_rate", "below the planned rate";
    LateStarts = "late_starts", "late starts";
    GeneratorBias = "generator_bias", "times too long by the generator";
    StampsMissing = "stamps_missing", "no kernel stamps";
    OutputBackpressure = "output_backpressure", "output too slow";
    TooFewSamples = "too_few_samples", "too few samples";
    FiguresDisagree = "figures_disagree", "figures disagree";
}
