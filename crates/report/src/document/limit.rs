//! Who was the limit of a run, and what shows it. What names it is `crate::limit`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// Onrush itself: its CPU, or what held it up.
    Generator,
    /// All virtual users were busy waiting: more of them would have made more load.
    Users,
    /// The link that the option `network` gives each user.
    Link,
    /// Local ports or file descriptors for connections.
    Connections,
    /// The target's CPU.
    TargetCpu,
    /// The target's answers wait for something that is not its CPU: a pool, a lock, what stands behind it.
    TargetQueue,
    /// The target refuses: connections, or answers such as 429 and 503.
    TargetRefuses,
    /// Generator, target or others shared processors.
    Machine,
    /// The plan: what was asked for was made and answered.
    Nothing,
    /// Two of these, which the facts do not tell apart.
    Undecidable,
}

impl LimitName {
    /// As an answer ends.
    pub const fn sentence(self) -> &'static str {
        match self {
            LimitName::Generator => "the generator was the limit",
            LimitName::Users => "the virtual users are the limit",
            LimitName::Link => "the link is the limit",
            LimitName::Connections => "connections of the generator's machine are the limit",
            LimitName::TargetCpu => "its CPU is the limit",
            LimitName::TargetQueue => "a queue in it, not its CPU, is the limit",
            LimitName::TargetRefuses => "beyond, it refuses",
            LimitName::Machine => "the shared machine is the limit",
            LimitName::Nothing => "nothing but the plan was the limit",
            LimitName::Undecidable => "what the limit is cannot be decided",
        }
    }

    /// In front of what shows it.
    pub const fn title(self) -> &'static str {
        match self {
            LimitName::Generator => "the generator",
            LimitName::Users => "the virtual users",
            LimitName::Link => "the link",
            LimitName::Connections => "connections of the generator's machine",
            LimitName::TargetCpu => "the target's CPU",
            LimitName::TargetQueue => "a queue in the target",
            LimitName::TargetRefuses => "the target refuses",
            LimitName::Machine => "the shared machine",
            LimitName::Nothing => "nothing but the plan",
            LimitName::Undecidable => "undecidable",
        }
    }
}

/// The limit of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunLimit {
    /// What it is.
    pub name: LimitName,
    /// Of an undecidable one, those that it may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<LimitName>,
    /// What shows it, in one line.
    pub evidence: String,
}

impl RunLimit {
    /// In one line: the name, and what shows it.
    pub fn line(&self) -> String {
        let between: Vec<&str> = self.between.iter().map(|name| name.title()).collect();
        match self.name {
            LimitName::Undecidable => format!("undecidable between {}: {}", between.join(" and "), self.evidence),
            name => format!("{}: {}", name.title(), self.evidence),
        }
    }
}
