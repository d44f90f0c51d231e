//! The brokers of a cluster: who leads which partition, and connections to them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use host::Phase;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{FindCoordinatorRequest, MetadataRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use script::Vu;

use super::broker::{KafkaBroker, error_text};
use super::options::Access;
use crate::client::dial::Place;

/// What is known of a topic is asked again after this long, so that new partitions are found.
const FRESH: Duration = Duration::from_secs(60);

/// A topic's partitions and the brokers that lead them.
#[derive(Clone, Debug, Default)]
pub struct TopicState {
    /// By their numbers.
    pub leaders: BTreeMap<i32, i32>,
    asked: Option<Instant>,
}

/// A cluster, and the connections of one user to it.
pub struct KafkaCluster {
    seeds: Vec<Place>,
    access: Rc<Access>,
    places: BTreeMap<i32, Place>,
    topics: BTreeMap<String, TopicState>,
    /// By the numbers of brokers; -1 has whoever answered first.
    open: BTreeMap<i32, KafkaBroker>,
    /// Connections of init code do not have the run's network.
    is_of_init: bool,
    /// Connections opened, and the time it took, since somebody looked.
    pub dials: Vec<Duration>,
}

/// A name as the protocol has it.
pub fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

impl KafkaCluster {
    /// A cluster that nobody has been asked of yet.
    pub fn new(seeds: Vec<Place>, access: Rc<Access>) -> KafkaCluster {
        KafkaCluster {
            seeds,
            access,
            places: BTreeMap::new(),
            topics: BTreeMap::new(),
            open: BTreeMap::new(),
            is_of_init: false,
            dials: Vec::new(),
        }
    }

    /// How brokers are reached.
    pub fn access(&self) -> &Rc<Access> {
        &self.access
    }

    /// Takes the connection to a broker out; give it back when the call went well.
    pub async fn take(&mut self, vu: &Vu, node: i32) -> Result<KafkaBroker, String> {
        let is_init = vu.phase() == Phase::Init;
        if std::mem::replace(&mut self.is_of_init, is_init) != is_init {
            self.open.clear();
        }
        if let Some(mut broker) = self.open.remove(&node)
            && broker.is_usable()
        {
            return Ok(broker);
        }
        let place = self.places.get(&node).cloned();
        let places = if node < 0 { self.seeds.clone() } else { place.into_iter().collect() };
        let mut failures = Vec::new();
        for place in &places {
            match KafkaBroker::open(vu, place, &self.access).await {
                Ok(broker) => {
                    self.dials.push(broker.dialled);
                    return Ok(broker);
                }
                Err(why) => failures.push(why),
            }
        }
        match failures.is_empty() {
            true => Err(format!("broker {node} is not known")),
            false => Err(failures.join("; ")),
        }
    }

    /// Gives a connection back.
    pub fn give(&mut self, node: i32, broker: KafkaBroker) {
        self.open.insert(node, broker);
    }

    /// Where a broker is.
    pub fn place(&self, node: i32) -> Option<&Place> {
        self.places.get(&node)
    }

    /// What is known of a topic has turned out to be wrong.
    pub fn forget(&mut self, topic: &str) {
        self.topics.remove(topic);
    }

    /// The partitions of a topic.
    pub async fn topic(&mut self, vu: &Vu, name: &str, creates: bool) -> Result<TopicState, String> {
        if let Some(state) = self.topics.get(name)
            && state.asked.is_some_and(|asked| asked.elapsed() < FRESH)
        {
            return Ok(state.clone());
        }
        let found = self.metadata(vu, Some(name), creates).await?;
        found.get(name).cloned().ok_or_else(|| format!("topic {name:?}: the brokers do not know it"))
    }

    /// Asks for a topic, or for all.
    pub async fn metadata(
        &mut self,
        vu: &Vu,
        name: Option<&str>,
        creates: bool,
    ) -> Result<BTreeMap<String, TopicState>, String> {
        let mut request = MetadataRequest::default();
        request.allow_auto_topic_creation = creates;
        request.topics = name.map(|name| {
            let mut topic = MetadataRequestTopic::default();
            topic.name = Some(topic_name(name));
            vec![topic]
        });
        let mut broker = self.take(vu, -1).await?;
        let timeout = self.access.timeout;
        let found = broker.call(vu, &request, 9, timeout).await?;
        self.give(-1, broker);
        self.places = found
            .brokers
            .iter()
            .map(|broker| {
                let port = u16::try_from(broker.port).unwrap_or(0);
                (broker.node_id.0, Place { host: broker.host.as_str().to_owned(), port })
            })
            .collect();
        let mut topics = BTreeMap::new();
        for topic in found.topics {
            let of = topic.name.as_ref().map(|name| name.0.as_str().to_owned()).unwrap_or_default();
            if let Some(why) = error_text(topic.error_code).filter(|_| name.is_some()) {
                return Err(format!("topic {of:?}: {why}"));
            }
            let leaders = topic.partitions.iter().map(|part| (part.partition_index, part.leader_id.0)).collect();
            topics.insert(of, TopicState { leaders, asked: Some(Instant::now()) });
        }
        self.topics.extend(topics.clone());
        Ok(topics)
    }

    /// The broker that looks after a group.
    pub async fn coordinator(&mut self, vu: &Vu, group: &str) -> Result<i32, String> {
        let mut request = FindCoordinatorRequest::default();
        request.key = StrBytes::from_string(group.to_owned());
        let mut broker = self.take(vu, -1).await?;
        let timeout = self.access.timeout;
        let found = broker.call(vu, &request, 3, timeout).await?;
        self.give(-1, broker);
        if let Some(why) = error_text(found.error_code) {
            return Err(format!("group {group:?}: no coordinator: {why}"));
        }
        let port = u16::try_from(found.port).unwrap_or(0);
        self.places.insert(found.node_id.0, Place { host: found.host.as_str().to_owned(), port });
        Ok(found.node_id.0)
    }
}
