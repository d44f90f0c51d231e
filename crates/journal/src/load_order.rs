//! A change of the load as a coordinator orders it and an agent follows it.
//!
//! Both apply it to the plan of the whole test from the same moment of it; what of that is an agent's own follows from
//! its segment. So it does not matter for the counts when an agent hears of it, and how late it was is told.

use std::time::Duration;

use engine::{LoadWish, RunState};
use serde::{Deserialize, Serialize};

use crate::second::{decode, encode};

/// What an agent has to follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadOrder {
    /// After the start of the scenarios.
    pub at: Duration,
    /// Of a scenario that is named.
    pub wish: LoadWish,
}

impl LoadOrder {
    /// From a change to the moment from which it holds: agents have heard of it by then, also by a store that is looked
    /// at five times a second.
    pub const LEAD: Duration = Duration::from_millis(500);

    /// As it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// From such bytes; the error says what else they are.
    pub fn read(bytes: &[u8]) -> Result<LoadOrder, String> {
        decode(bytes)
    }

    /// Has the workers of this process follow it, of a test that so many agents run.
    pub fn apply(&self, state: &RunState, agents: u32) -> Result<(), String> {
        state.change_load_from(&self.wish, self.at, agents).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use engine::ChangedBy;
    use engine::pacer::Rate;

    use super::*;

    #[test]
    fn an_order_comes_back_and_a_damaged_one_is_refused() {
        let rate = Some(Rate { iterations: 15, per: Duration::from_secs(10) });
        let (scenario, by) = (Some(String::from("a")), ChangedBy::Scale);
        let wish = LoadWish { scenario, users: None, most: Some(7), rate, by };
        let order = LoadOrder { at: Duration::from_millis(1_500), wish };
        let bytes = order.to_bytes();
        assert_eq!(LoadOrder::read(&bytes), Ok(order));
        assert!(LoadOrder::read(&bytes[..bytes.len() - 1]).is_err());
        assert!(LoadOrder::read(&[bytes, vec![0]].concat()).unwrap_err().ends_with("1 bytes behind its end"));
    }
}
