//! A network of its own for one virtual user: bandwidth, latency, jitter and loss under all of its connections.
//!
//! A connection over a link ends in this process: a relay hands its bytes on to the real socket, and back, when the
//! link has carried them. No privileges and no kernel modules, and TLS, HTTP and WebSocket lie on top as on any socket.
//! Rates count the bytes of the connections (TLS included, TCP and IP headers not). Latency is that of the round trip,
//! half of it each way, as ping shows it: connecting costs it once, a request on an open connection once more.
//! Our own, because what exists shapes a whole machine: `tc` needs root, and a proxy of another process would take CPU.
//! Invariant: bytes leave a link in the order in which they came, never before their time.

mod lane;
mod relay;
mod relay_state;
mod settings;
mod socket;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

pub use settings::LinkSettings;

pub(crate) use socket::LinkedSocket;

use lane::Lane;

/// What all connections of one virtual user share.
#[derive(Debug)]
pub struct Link {
    settings: LinkSettings,
    up: RefCell<Lane>,
    down: RefCell<Lane>,
}

impl Link {
    /// A link that nothing has gone over yet. The seed decides about jitter and loss.
    pub fn new(settings: LinkSettings, seed: u64) -> Rc<Link> {
        let lane = |rate, seed| RefCell::new(Lane::new(&settings, rate, seed));
        let (up, down) = (lane(settings.upload, seed), lane(settings.download, !seed));
        Rc::new(Link { settings, up, down })
    }

    /// What a connect waits in addition: one round trip.
    pub(crate) fn connect_delay(&self) -> Duration {
        self.settings.latency
    }
}
