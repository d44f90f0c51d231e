//! Membership in a consumer group: joining, sharing partitions, heartbeats, and what was consumed.
//!
//! Heartbeats go over a connection of their own, beside the script, so that a member that computes stays one. A
//! membership ends with its value; the group hears of that from `leave`, or when its session runs out.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, GroupId, HeartbeatRequest, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
};
use kafka_protocol::protocol::{Encodable, StrBytes};
use script::Vu;
use tokio::task::JoinHandle;

use super::broker::{KafkaBroker, error_text};
use super::cluster::{KafkaCluster, topic_name};
use super::member_message::{read_assignment, read_subscription};
use super::options::Access;
use super::partitioner::{self, Shares};
use crate::client::dial::Place;

/// Errors by their numbers in the protocol.
const NOT_COORDINATOR: [i16; 3] = [14, 15, 16];
const ILLEGAL_GENERATION: i16 = 22;
const UNKNOWN_MEMBER: i16 = 25;
const REBALANCE: i16 = 27;
const MEMBER_ID_REQUIRED: i16 = 79;
/// Joinings that a group may upset before it is an error.
const ATTEMPTS: u32 = 10;

/// What a member wants.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// The group's name.
    pub group: String,
    /// Topics that its members share.
    pub topics: Vec<String>,
    /// How: names of the protocol's, the preferred first.
    pub protocols: Vec<&'static str>,
    /// Without a heartbeat for so long a member is out.
    pub session: Duration,
    /// For joining, while others do.
    pub rebalance: Duration,
    /// Between heartbeats.
    pub heartbeat: Duration,
}

/// Partitions and where to go on; nothing where nobody has consumed yet.
pub type Positions = BTreeMap<(String, i32), Option<i64>>;

/// A membership.
pub struct Membership {
    group: String,
    node: i32,
    generation: i32,
    member: String,
    /// The group wants its members to join anew.
    is_upset: Rc<Cell<bool>>,
    _heart: Heart,
}

/// A task that ends with this.
struct Heart(JoinHandle<()>);

impl Drop for Heart {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group_id(name: &str) -> GroupId {
    GroupId(text(name))
}

/// Joins, and gives the partitions that are now ours.
pub async fn join(
    vu: &Rc<Vu>,
    cluster: &mut KafkaCluster,
    plan: &GroupPlan,
) -> Result<(Membership, Positions), String> {
    let mut member = String::new();
    for _ in 0..ATTEMPTS {
        let node = cluster.coordinator(vu, &plan.group).await;
        let Ok(node) = node else {
            // The group's first member has its coordinator made.
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let joined = request_join(vu, cluster, plan, node, &member).await?;
        match joined.error_code {
            0 => {}
            MEMBER_ID_REQUIRED => {
                joined.member_id.as_str().clone_into(&mut member);
                continue;
            }
            code => {
                if code == UNKNOWN_MEMBER {
                    member.clear();
                } else if code != REBALANCE && !NOT_COORDINATOR.contains(&code) {
                    let why = error_text(code).unwrap_or_default();
                    return Err(format!("group {:?}: cannot join: {why}", plan.group));
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            }
        }
        joined.member_id.as_str().clone_into(&mut member);
        let Some(assigned) = synchronize(vu, cluster, plan, node, &joined).await? else { continue };
        let positions = committed(vu, cluster, &plan.group, node, assigned).await?;
        let is_upset = Rc::new(Cell::new(false));
        let place = cluster.place(node).cloned().ok_or("the coordinator has no address")?;
        let access = Rc::clone(cluster.access());
        let beats = Beats { vu: vu.weak(), place, access, plan: plan.clone(), is_upset: Rc::clone(&is_upset) };
        let heart = tokio::task::spawn_local(beats.run(member.clone(), joined.generation_id));
        let group = plan.group.clone();
        let generation = joined.generation_id;
        return Ok((Membership { group, node, generation, member, is_upset, _heart: Heart(heart) }, positions));
    }
    Err(format!("group {:?}: {ATTEMPTS} attempts to join were upset by other members", plan.group))
}

async fn request_join(
    vu: &Vu,
    cluster: &mut KafkaCluster,
    plan: &GroupPlan,
    node: i32,
    member: &str,
) -> Result<JoinGroupResponse, String> {
    let ms = |time: Duration| i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let mut subscription = ConsumerProtocolSubscription::default();
    subscription.topics = plan.topics.iter().map(|topic| text(topic)).collect();
    let metadata = versioned(|bytes| subscription.encode(bytes, 0))?;
    let mut request = JoinGroupRequest::default();
    request.group_id = group_id(&plan.group);
    request.session_timeout_ms = ms(plan.session);
    request.rebalance_timeout_ms = ms(plan.rebalance);
    request.member_id = text(member);
    request.protocol_type = StrBytes::from_static_str("consumer");
    request.protocols = plan
        .protocols
        .iter()
        .map(|name| {
            let mut protocol = JoinGroupRequestProtocol::default();
            protocol.name = StrBytes::from_static_str(name);
            protocol.metadata = metadata.clone();
            protocol
        })
        .collect();
    let timeout = cluster.access().timeout + plan.rebalance;
    let mut broker = cluster.take(vu, node).await?;
    let answer = broker.call(vu, &request, 5, timeout).await?;
    cluster.give(node, broker);
    Ok(answer)
}

/// Bytes of the embedded protocol: its version comes first.
fn versioned<E: std::fmt::Display>(write: impl FnOnce(&mut BytesMut) -> Result<(), E>) -> Result<Bytes, String> {
    let mut bytes = BytesMut::new();
    bytes.put_i16(0);
    write(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes.freeze())
}

/// Hears which partitions are ours, and tells the others where we lead; nothing when the group begins anew.
async fn synchronize(
    vu: &Vu,
    cluster: &mut KafkaCluster,
    plan: &GroupPlan,
    node: i32,
    joined: &JoinGroupResponse,
) -> Result<Option<Vec<(String, i32)>>, String> {
    let mut request = SyncGroupRequest::default();
    request.group_id = group_id(&plan.group);
    request.generation_id = joined.generation_id;
    request.member_id = joined.member_id.clone();
    if joined.leader == joined.member_id {
        let shares = lead(vu, cluster, joined).await?;
        for (member, share) in shares {
            let mut assignment = ConsumerProtocolAssignment::default();
            for (topic, partitions) in share {
                let mut of_topic = TopicPartition::default();
                of_topic.topic = topic_name(&topic);
                of_topic.partitions = partitions;
                assignment.assigned_partitions.push(of_topic);
            }
            let mut entry = SyncGroupRequestAssignment::default();
            entry.member_id = text(&member);
            entry.assignment = versioned(|bytes| assignment.encode(bytes, 0))?;
            request.assignments.push(entry);
        }
    }
    let timeout = cluster.access().timeout + plan.rebalance;
    let mut broker = cluster.take(vu, node).await?;
    let answer = broker.call(vu, &request, 3, timeout).await?;
    cluster.give(node, broker);
    match answer.error_code {
        0 => {}
        ILLEGAL_GENERATION | UNKNOWN_MEMBER | REBALANCE => return Ok(None),
        code => {
            let why = error_text(code).unwrap_or_default();
            return Err(format!("group {:?}: no partitions: {why}", plan.group));
        }
    }
    read_assignment(answer.assignment).map(Some)
}

/// The leader's work: shares the partitions of all topics that somebody wants.
async fn lead(vu: &Vu, cluster: &mut KafkaCluster, joined: &JoinGroupResponse) -> Result<Shares, String> {
    let mut members = BTreeMap::new();
    for member in &joined.members {
        let name = member.member_id.as_str();
        let topics = read_subscription(member.metadata.clone());
        let topics = topics.map_err(|what| format!("what member {name} wants cannot be read: {what}"))?;
        members.insert(name.to_owned(), topics);
    }
    let mut topics = BTreeMap::new();
    let mut names: Vec<String> = members.values().flatten().cloned().collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        cluster.forget(&name);
        let found = cluster.topic(vu, &name, false).await?;
        topics.insert(name, found.leaders.into_keys().collect());
    }
    let protocol = joined.protocol_name.as_ref().map_or("range", |name| name.as_str());
    Ok(partitioner::share(protocol, &members, &topics))
}

/// Where the group has come to in these partitions.
async fn committed(
    vu: &Vu,
    cluster: &mut KafkaCluster,
    group: &str,
    node: i32,
    assigned: Vec<(String, i32)>,
) -> Result<Positions, String> {
    let mut by_topic: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for (topic, partition) in assigned {
        by_topic.entry(topic).or_default().push(partition);
    }
    let mut request = OffsetFetchRequest::default();
    request.group_id = group_id(group);
    let topics = by_topic.iter().map(|(name, partitions)| {
        let mut topic = OffsetFetchRequestTopic::default();
        topic.name = topic_name(name);
        topic.partition_indexes.clone_from(partitions);
        topic
    });
    request.topics = Some(topics.collect());
    let timeout = cluster.access().timeout;
    let mut broker = cluster.take(vu, node).await?;
    let answer = broker.call(vu, &request, 5, timeout).await?;
    cluster.give(node, broker);
    let mut positions = Positions::new();
    for topic in &answer.topics {
        for part in &topic.partitions {
            let name = topic.name.0.as_str().to_owned();
            if let Some(why) = error_text(part.error_code).or_else(|| error_text(answer.error_code)) {
                return Err(format!("group {group:?}: partition {} of {name:?}: {why}", part.partition_index));
            }
            let offset = (part.committed_offset >= 0).then_some(part.committed_offset);
            positions.insert((name, part.partition_index), offset);
        }
    }
    Ok(positions)
}

impl Membership {
    /// Whether the group wants its members to join anew.
    pub fn is_upset(&self) -> bool {
        self.is_upset.get()
    }

    /// Tells the group where this member has come to.
    pub async fn commit(
        &self,
        vu: &Vu,
        cluster: &mut KafkaCluster,
        positions: &BTreeMap<(String, i32), i64>,
    ) -> Result<(), String> {
        let mut by_topic: BTreeMap<&str, Vec<OffsetCommitRequestPartition>> = BTreeMap::new();
        for ((topic, partition), offset) in positions {
            let mut part = OffsetCommitRequestPartition::default();
            part.partition_index = *partition;
            part.committed_offset = *offset;
            by_topic.entry(topic).or_default().push(part);
        }
        let mut request = OffsetCommitRequest::default();
        request.group_id = group_id(&self.group);
        request.generation_id_or_member_epoch = self.generation;
        request.member_id = text(&self.member);
        request.topics = by_topic
            .into_iter()
            .map(|(name, partitions)| {
                let mut topic = OffsetCommitRequestTopic::default();
                topic.name = topic_name(name);
                topic.partitions = partitions;
                topic
            })
            .collect();
        let timeout = cluster.access().timeout;
        let mut broker = cluster.take(vu, self.node).await?;
        let answer = broker.call(vu, &request, 7, timeout).await?;
        cluster.give(self.node, broker);
        let codes = answer.topics.iter().flat_map(|topic| &topic.partitions).map(|part| part.error_code);
        match codes.filter(|code| *code != 0).min() {
            None => Ok(()),
            // Others have these partitions now, and begin where the last commit was.
            Some(ILLEGAL_GENERATION | UNKNOWN_MEMBER | REBALANCE) => {
                self.is_upset.set(true);
                Ok(())
            }
            Some(code) => Err(format!("group {:?}: commit: {}", self.group, error_text(code).unwrap_or_default())),
        }
    }

    /// Leaves, so that the others need not wait for the session's end.
    pub async fn leave(self, vu: &Vu, cluster: &mut KafkaCluster) -> Result<(), String> {
        let mut request = LeaveGroupRequest::default();
        request.group_id = group_id(&self.group);
        request.member_id = text(&self.member);
        let timeout = cluster.access().timeout;
        let mut broker = cluster.take(vu, self.node).await?;
        broker.call(vu, &request, 2, timeout).await?;
        cluster.give(self.node, broker);
        Ok(())
    }
}

/// The task that says that a member is alive.
struct Beats {
    vu: Weak<Vu>,
    place: Place,
    access: Rc<Access>,
    plan: GroupPlan,
    is_upset: Rc<Cell<bool>>,
}

impl Beats {
    async fn run(self, member: String, generation: i32) {
        let mut request = HeartbeatRequest::default();
        request.group_id = group_id(&self.plan.group);
        request.generation_id = generation;
        request.member_id = text(&member);
        let mut open: Option<KafkaBroker> = None;
        loop {
            tokio::time::sleep(self.plan.heartbeat).await;
            let Some(vu) = self.vu.upgrade() else { return };
            let broker = match open.take() {
                Some(broker) => Ok(broker),
                None => KafkaBroker::open(&vu, &self.place, &self.access).await,
            };
            let Ok(mut broker) = broker else { continue };
            let Ok(answer) = broker.call(&vu, &request, 3, self.access.timeout).await else { continue };
            open = Some(broker);
            if answer.error_code != 0 {
                self.is_upset.set(true);
                return;
            }
        }
    }
}
