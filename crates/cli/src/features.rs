//! The features of k6 that `--features` names: one list for the flag and the command.

/// What `--features` takes: name, lifecycle, description.
pub const FEATURES: [[&str; 3]; 4] = [
    ["async-metric-context", "Experimental", "Tags, groups and metadata stay with asynchronous code"],
    ["freeze-env", "Experimental", "Scripts cannot write to __ENV"],
    ["merge-run-tags", "Experimental", "Tags of the config file, the script and flags are put together"],
    ["native-histograms", "Always on", "Trends keep histograms, not samples"],
];
