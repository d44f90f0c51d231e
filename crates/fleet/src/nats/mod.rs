//! Messages through a broker, NATS, for machines that reach it and are not told each other's addresses.
//!
//! ```text
//! onrush.ROOM.find               agents ask here who coordinates
//! onrush.ROOM.HUB.up             reports
//! onrush.ROOM.HUB.down.LINE      orders to one connection
//! ```
//!
//! A broker is shared: what is large does not go through it. The archive and the seconds of a test take a connection of
//! their own to the coordinator (`embedded`), whose address comes with the answer to who coordinates (`ways`). NATS
//! delivers at most once, so messages of a connection are numbered; a gap ends it, and the agent makes another, as it
//! does when a socket breaks. Each message is sealed with the token's secret (`sealed`).

mod broker;
mod client;
mod hub;
#[cfg(feature = "nats")]
mod library;
mod line;
mod ways;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use broker::Broker;
pub use hub::NatsHub;
pub use line::NatsLine;

use crate::coordinator::Link;

/// Pings come every five seconds: whoever says nothing for so long is not there.
const SILENCE: Duration = Duration::from_secs(13);
/// The broker may be away for so long until a message is out.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// A message on its way.
#[derive(Serialize, Deserialize)]
struct Parcel<T> {
    line: Link,
    /// From 0 on without gaps.
    number: u64,
    /// None: the connection ends.
    message: Option<T>,
}

/// The names.
mod subjects {
    use crate::coordinator::Link;

    pub(super) fn find(room: &str) -> String {
        format!("onrush.{room}.find")
    }

    pub(super) fn up(room: &str, hub: u64) -> String {
        format!("onrush.{room}.{hub:016x}.up")
    }

    pub(super) fn down(room: &str, hub: u64, line: Link) -> String {
        format!("onrush.{room}.{hub:016x}.down.{line:016x}")
    }
}
