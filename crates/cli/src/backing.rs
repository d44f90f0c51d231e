//! What carries a fleet's messages: `--fleet URL`, for the coordinator and for its agents.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use fleet::backing::STORES;
use fleet::coordinator::Coordinator;
use fleet::drive::{AgentThread, CoordinatorThread, Keep};
use fleet::embedded::{LISTENING, TcpHub, TcpLine};
use fleet::nats::{Broker, NatsHub, NatsLine};
use fleet::objects::{ObjectsHub, ObjectsLine, StorePlace};
use fleet::{Agent, AgentEvent, Credentials, Frames, Invitation};

/// Whatever the URL names.
#[derive(Clone, Debug)]
pub enum Backing {
    /// Agents dial the coordinator.
    Embedded,
    /// The coordinator dials agents that listen at these addresses.
    Dialling(Vec<String>),
    /// Messages are objects of a store.
    Objects(StorePlace),
    /// Messages go through a broker; what is large goes to the coordinator.
    Nats(Broker),
}

/// What a coordinator's end is opened with.
pub struct Opening<'a> {
    /// What agents show, and what they know the coordinator by.
    pub credentials: &'a Credentials,
    /// Where to listen, where somebody listens.
    pub address: SocketAddr,
    /// How agents reach that address.
    pub shown: Box<dyn FnOnce(SocketAddr) -> String + Send>,
    /// The packed test.
    pub archive: Vec<u8>,
}

impl Backing {
    /// Reads a URL; the error says what was expected.
    pub fn of(url: &str) -> Result<Backing, String> {
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("s3" | "gs" | "az" | "abfs" | "abfss" | "file") => StorePlace::open(url).map(Backing::Objects),
            Some("nats" | "tls") => {
                let variables = std::env::vars().filter(|(name, _)| name.starts_with("NATS_"));
                Broker::new(url).map(|broker| Backing::Nats(broker.with_variables(variables)))
            }
            _ => Err(format!("found '{url}', expected {STORES}, nats://HOST:PORT or tls://HOST:PORT")),
        }
    }

    /// Whether agents read the archive themselves, from what carries the messages.
    pub fn stores(&self) -> bool {
        matches!(self, Backing::Objects(_))
    }

    /// Whether the coordinator is dialled.
    pub fn listens(&self) -> bool {
        match self {
            Backing::Embedded => true,
            Backing::Dialling(_) => false,
            Backing::Objects(_) => false,
            Backing::Nats(_) => true,
        }
    }

    /// As it stands in an invitation, without a password; none: the coordinator's own address does.
    pub fn url(&self) -> Option<String> {
        match self {
            Backing::Embedded => None,
            Backing::Dialling(agents) => Some(agents.join(",")),
            Backing::Objects(place) => Some(place.shown().to_owned()),
            Backing::Nats(broker) => Some(broker.shown().to_owned()),
        }
    }

    /// Starts the coordinator's thread, and tells where it listens.
    pub fn coordinate(
        self,
        coordinator: Coordinator,
        opening: Opening<'_>,
        keep: Keep,
        tell: Sender<SocketAddr>,
    ) -> Result<CoordinatorThread, String> {
        let Opening { credentials, address, shown, archive } = opening;
        let credentials = credentials.clone();
        let certificate = credentials.certificate.clone();
        let told = move |hub: &TcpHub| {
            let _ = tell.send(hub.address());
        };
        match self {
            Backing::Embedded => {
                let open = async move || {
                    let hub = TcpHub::listen(address, &certificate).await?;
                    told(&hub);
                    Ok::<_, String>(hub)
                };
                CoordinatorThread::start(coordinator, open, keep)
            }
            Backing::Dialling(agents) => {
                let open = async move || TcpHub::dial(&agents, &credentials.certificate);
                CoordinatorThread::start(coordinator, open, keep)
            }
            Backing::Objects(place) => {
                let open = async move || ObjectsHub::open(place, &credentials.token(), archive).await;
                CoordinatorThread::start(coordinator, open, keep)
            }
            Backing::Nats(broker) => {
                let open = async move || {
                    let bulk = TcpHub::listen_beside(address, &certificate, credentials.secret.clone()).await?;
                    told(&bulk);
                    let shown = shown(bulk.address());
                    NatsHub::open(&broker, &credentials, bulk, shown).await
                };
                CoordinatorThread::start(coordinator, open, keep)
            }
        }
    }
}

/// Starts an agent's thread by whatever its invitation names.
pub fn join(
    invitation: &Invitation,
    agent: Agent,
    frames: Frames,
    patience: (Duration, Duration),
) -> Result<(AgentThread, Receiver<AgentEvent>), String> {
    let address = &invitation.address;
    let is_url = address.contains("://") && !address.starts_with(LISTENING);
    match if is_url { Backing::of(address)? } else { Backing::Embedded } {
        Backing::Embedded | Backing::Dialling(_) => {
            AgentThread::start(agent, TcpLine::new(invitation)?, frames, patience)
        }
        Backing::Objects(place) => {
            AgentThread::start(agent, ObjectsLine::new(place, &invitation.token), frames, patience)
        }
        Backing::Nats(broker) => AgentThread::start(agent, NatsLine::new(broker, &invitation.token), frames, patience),
    }
}
