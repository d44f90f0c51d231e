//! The connection under a client's calls: of its user alone, or one of those that the users of a worker share.
//!
//! One that is lost, or that the server ended with GOAWAY, is dialled anew by the next call, as gRPC for Go does: a
//! server that limits the age of connections fails no call. Invariant: nobody holds a borrow while it waits.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::sync::Mutex;
use wire::client::{Http2Connection, Http2Dial, TlsConfigs};
use wire::{Failure, FailureKind, Step, Url};

use super::carrier::count;
use super::connect::TlsParams;
use script::Vu;

/// Where a channel goes and how.
pub struct GrpcTarget {
    /// The address.
    pub url: Url,
    /// Trust and identity of its own.
    pub tls: Option<Rc<TlsConfigs>>,
    /// The name in the server's certificate, when it is not the address's.
    pub server_name: Option<String>,
}

/// A connection that is there when it is needed.
pub struct GrpcChannel {
    /// Where it goes.
    pub target: GrpcTarget,
    open: RefCell<Option<Http2Connection>>,
    /// Held by the one who dials: the others want the same connection.
    dialing: Mutex<()>,
}

impl GrpcChannel {
    /// A channel that is not open yet.
    pub fn new(target: GrpcTarget) -> Rc<GrpcChannel> {
        Rc::new(GrpcChannel { target, open: RefCell::default(), dialing: Mutex::default() })
    }

    /// The connection, while it carries one more call.
    pub fn current(&self) -> Option<Http2Connection> {
        self.open.borrow().as_ref().filter(|connection| connection.is_usable()).cloned()
    }

    /// The connection, dialled if it has to be.
    pub async fn connection(&self, vu: &Vu, timeout: Duration) -> Result<Http2Connection, Failure> {
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let Ok(_turn) = tokio::time::timeout(timeout, self.dialing.lock()).await else {
            let message = String::from("the connection that others wait for too was not open in time");
            return Err(Failure { step: Step::Connect, kind: FailureKind::Timeout, message });
        };
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let GrpcTarget { url, tls, server_name } = &self.target;
        let dial = Http2Dial { url, tls: tls.as_deref(), server_name: server_name.as_deref(), timeout };
        let opened = vu.client().connect_http2(&dial).await?;
        if let Some(lost) = self.open.replace(Some(opened.clone())) {
            count(vu, &lost);
        }
        Ok(opened)
    }

    /// Counts what went over it since the last time.
    pub fn count(&self, vu: &Vu) {
        if let Some(connection) = &*self.open.borrow() {
            count(vu, connection);
        }
    }
}

/// Channels that the users of a worker share, by where they go and how.
#[derive(Default)]
pub struct SharedChannels {
    groups: RefCell<FxHashMap<String, Group>>,
}

/// Channels to one place. Whoever connects gets the next.
struct Group {
    channels: Vec<Rc<GrpcChannel>>,
    next: Cell<usize>,
}

impl SharedChannels {
    /// One of `count` channels.
    pub fn next(&self, key: String, count: usize, target: impl Fn() -> GrpcTarget) -> Rc<GrpcChannel> {
        let mut groups = self.groups.borrow_mut();
        let group = groups.entry(key).or_insert_with(|| Group { channels: Vec::new(), next: Cell::new(0) });
        let at = group.next.replace(group.next.get() + 1) % count;
        if at == group.channels.len() {
            group.channels.push(GrpcChannel::new(target()));
        }
        Rc::clone(&group.channels[at])
    }
}

/// Configurations that are remembered before scripts that make ever new ones have all forgotten.
const MOST_CONFIGURATIONS: usize = 1_000;

/// TLS of clients that have some of their own, for a worker: reading keys and roots takes longer than a handshake.
#[derive(Default)]
pub struct KnownTls {
    made: RefCell<FxHashMap<TlsParams, Rc<TlsConfigs>>>,
}

impl KnownTls {
    /// The configuration of these params; the error says what is wrong with them.
    pub fn of(&self, vu: &Vu, params: &TlsParams) -> Result<Rc<TlsConfigs>, String> {
        if let Some(known) = self.made.borrow().get(params) {
            return Ok(Rc::clone(known));
        }
        let settings = params.settings(&vu.options().network_settings().tls)?;
        let configs = Rc::new(TlsConfigs::new(&settings));
        let mut made = self.made.borrow_mut();
        if made.len() >= MOST_CONFIGURATIONS {
            made.clear();
        }
        made.insert(params.clone(), Rc::clone(&configs));
        Ok(configs)
    }
}
