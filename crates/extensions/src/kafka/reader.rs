//! `Reader`: takes messages out of a partition, or as a member of a group.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use host::Phase;
use host::js::function::{Constructor, Func, Opt, This};
use host::js::{Array, Coerced, Ctx, Exception, FromJs, Object, Result, Value};
use host::native::{self, NativeClass};
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::PartitionData;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, FetchRequest, ListOffsetsRequest};
use script::Vu;
use script::arguments::member;
use script::go_error;

use super::broker::error_text;
use super::cluster::{KafkaCluster, topic_name};
use super::group::{self, GroupPlan, Membership};
use super::message::{Incoming, records};
use super::options::{self, Access, ReaderConfig};
use super::samples::Measure;
use crate::client::dial::Place;

/// What k6's extension does unless it is told otherwise.
const MAX_WAIT: Duration = Duration::from_millis(200);
const MAX_BYTES: i32 = 1_000_000;
/// In the place of an offset: the first there is, the next to come (ListOffsets).
const EARLIEST: i64 = -2;
const LATEST: i64 = -1;
/// What was asked for is not there, or not any more.
const OUT_OF_RANGE: i16 = 1;
const MOVED: [i16; 6] = [3, 5, 6, 9, 74, 75];

/// A partition of a topic, and what is fetched next of it.
type Position = ((String, i32), i64);

struct ReaderPlan {
    places: Vec<Place>,
    access: Rc<Access>,
    topic: String,
    partition: i32,
    /// Where to begin: an offset, `EARLIEST` or `LATEST`.
    start: i64,
    group: Option<GroupPlan>,
    commit_interval: Duration,
    max_wait: Duration,
    min_bytes: i32,
    max_bytes: i32,
    isolation: i8,
    queue: usize,
}

/// What a reader keeps. It is taken out while it is used, so that a call that is cut short leaves none.
struct ReaderState {
    cluster: KafkaCluster,
    membership: Option<Membership>,
    /// What is fetched next.
    positions: BTreeMap<(String, i32), i64>,
    /// What the script got, and the group has not heard of.
    consumed: BTreeMap<(String, i32), i64>,
    committed: Instant,
    fetched: VecDeque<Incoming>,
}

struct KafkaReader {
    plan: Rc<ReaderPlan>,
    state: Rc<RefCell<Option<ReaderState>>>,
}

impl NativeClass for KafkaReader {
    const NAME: &'static str = "Reader";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("consume", Func::from(consume))?;
        prototype.set("close", Func::from(close))
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, config: Opt<Value<'js>>| {
        let config: ReaderConfig = options::read(&ctx, "new Reader", config.0)?;
        let plan = plan(&Vu::of(&ctx), config).map_err(|why| go_error::throw(&ctx, &format!("new Reader: {why}")))?;
        native::object(&ctx, KafkaReader { plan: Rc::new(plan), state: Rc::default() })
    };
    let constructor = Constructor::new_prototype(ctx, native::prototype::<KafkaReader>(ctx)?, make)?;
    constructor.set_name("Reader")?;
    Ok(constructor)
}

fn plan(vu: &Vu, config: ReaderConfig) -> std::result::Result<ReaderPlan, String> {
    let or = |given: Duration, absent: Duration| if given.is_zero() { absent } else { given };
    let start_text = config.start_offset.as_ref().map(ToString::to_string).unwrap_or_default();
    let is_last = start_text.contains("last") || start_text == "-1";
    let isolation = config.isolation_level.as_ref().map(ToString::to_string).unwrap_or_default();
    let is_committed = isolation.contains("read_committed") || isolation == "1";
    let topics = match (config.topic.is_empty(), config.group_topics.is_empty()) {
        (true, true) => return Err(String::from("topic: expected a name, or groupTopics with a groupID")),
        (false, _) => vec![config.topic.clone()],
        (true, false) => config.group_topics.clone(),
    };
    let group = match (config.group_id.is_empty(), config.group_topics.is_empty()) {
        (true, false) => return Err(String::from("groupTopics needs a groupID")),
        (true, true) => None,
        (false, _) if config.partition != 0 => {
            return Err(String::from("partition and groupID exclude each other: a group shares all partitions"));
        }
        (false, _) => Some(GroupPlan {
            group: config.group_id.clone(),
            topics,
            protocols: protocols(&config.group_balancers)?,
            session: or(config.session_timeout, Duration::from_secs(30)),
            rebalance: or(config.rebalance_timeout, Duration::from_secs(30)),
            heartbeat: or(config.heartbeat_interval, Duration::from_secs(3)),
        }),
    };
    let start = match (config.offset, is_last, &group) {
        (_, true, Some(_)) | (0, true, None) => LATEST,
        (_, false, Some(_)) => EARLIEST,
        (offset, _, None) if offset < EARLIEST => return Err(format!("offset: found {offset}, expected -2 or more")),
        (offset, _, None) => offset,
    };
    Ok(ReaderPlan {
        places: options::places(&config.brokers)?,
        access: Rc::new(options::access(vu, config.sasl, config.tls, Duration::ZERO)?),
        topic: config.topic,
        partition: config.partition,
        start,
        group,
        commit_interval: config.commit_interval,
        max_wait: or(config.max_wait, MAX_WAIT),
        min_bytes: config.min_bytes.max(1),
        max_bytes: if config.max_bytes > 0 { config.max_bytes } else { MAX_BYTES },
        isolation: i8::from(is_committed),
        queue: config.queue_capacity.max(1),
    })
}

fn protocols(names: &[String]) -> std::result::Result<Vec<&'static str>, String> {
    if names.is_empty() {
        return Ok(vec!["range", "roundrobin"]);
    }
    let protocol = |name: &String| match name.as_str() {
        "group_balancer_range" => Ok("range"),
        "group_balancer_round_robin" => Ok("roundrobin"),
        other => Err(format!(
            "groupBalancers: {other} is not supported yet, expected group_balancer_range or group_balancer_round_robin"
        )),
    };
    names.iter().map(protocol).collect()
}

/// Options of `consume`.
struct Wanted {
    limit: usize,
    is_precise: bool,
    /// What there is at the end of the time is enough.
    takes_less: bool,
}

fn wanted<'js>(ctx: &Ctx<'js>, config: Option<Value<'js>>) -> Result<Wanted> {
    let config = config.and_then(Value::into_object);
    let get = |name: &str| config.as_ref().map_or(Ok(None), |config| member(config, name));
    let flag =
        |name: &str| get(name)?.map_or(Ok(false), |value| Coerced::<bool>::from_js(ctx, value).map(|flag| flag.0));
    let limit = match get("limit")? {
        Some(limit) => Some(limit),
        None => get("maxMessages")?,
    };
    let limit = limit.map_or(Ok(1.0), |limit| Coerced::<f64>::from_js(ctx, limit).map(|limit| limit.0))?;
    if limit.is_nan() || limit > 1e9 {
        return Err(go_error::throw(ctx, "consume: limit: expected a number of messages"));
    }
    let limit = if limit < 1.0 { 1 } else { limit as usize };
    Ok(Wanted { limit, is_precise: flag("nanoPrecision")?, takes_less: flag("expectTimeout")? })
}

fn consume<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, config: Opt<Value<'js>>) -> Result<Array<'js>> {
    let Some((plan, slot)) = native::with(&this, |r: &KafkaReader| (Rc::clone(&r.plan), Rc::clone(&r.state))) else {
        return Err(Exception::throw_type(&ctx, "consume() must be called on a Reader"));
    };
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "consume() in the init context is not supported"));
    }
    let wanted = wanted(&ctx, config.0)?;
    let state = slot.take();
    let mut state = state.unwrap_or_else(|| ReaderState::new(&plan));
    let (got, outcome, mut state) = vu.block_on(&ctx, async {
        let mut got = Vec::new();
        let outcome = state.collect(&vu, &plan, wanted.limit, &mut got).await;
        (got, outcome, state)
    })?;
    state.measure(&vu, &plan, &got);
    *slot.borrow_mut() = Some(state);
    match outcome {
        Ok(true) => {}
        Ok(false) if wanted.takes_less => {}
        Ok(false) => {
            Measure::ReaderErrors.add_of(&vu, 1.0, &plan.topic);
            let (count, ms) = (got.len(), plan.max_wait.as_millis());
            let hint = "raise maxWait, or accept less with expectTimeout";
            let text = format!("unable to read message: found {count} of {} within {ms} ms: {hint}", wanted.limit);
            return Err(go_error::throw(&ctx, &text));
        }
        Err(why) => {
            Measure::ReaderErrors.add_of(&vu, 1.0, &plan.topic);
            return Err(go_error::throw(&ctx, &format!("unable to read message: {why}")));
        }
    }
    let list = Array::new(ctx.clone())?;
    for (index, message) in got.iter().enumerate() {
        list.set(index, message.to_js(&ctx, wanted.is_precise)?)?;
    }
    Ok(list)
}

impl ReaderState {
    fn new(plan: &ReaderPlan) -> ReaderState {
        ReaderState {
            cluster: KafkaCluster::new(plan.places.clone(), Rc::clone(&plan.access)),
            membership: None,
            positions: BTreeMap::new(),
            consumed: BTreeMap::new(),
            committed: Instant::now(),
            fetched: VecDeque::new(),
        }
    }

    /// Takes messages until there are enough; false when the next did not come in time.
    async fn collect(
        &mut self,
        vu: &Rc<Vu>,
        plan: &ReaderPlan,
        limit: usize,
        got: &mut Vec<Incoming>,
    ) -> std::result::Result<bool, String> {
        let mut is_full = true;
        'messages: while got.len() < limit {
            self.prepare(vu, plan).await?;
            let end = Instant::now() + plan.max_wait;
            while self.fetched.is_empty() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    Measure::ReaderTimeouts.add_of(vu, 1.0, &plan.topic);
                    is_full = false;
                    break 'messages;
                }
                self.fetch(vu, plan, left).await?;
            }
            if let Some(message) = self.fetched.pop_front() {
                let place = (message.topic.to_string(), message.partition);
                self.consumed.insert(place, message.record.offset + 1);
                got.push(message);
            }
        }
        debug_assert!(got.len() <= limit, "{} messages, asked for {limit}", got.len());
        if self.committed.elapsed() >= plan.commit_interval {
            self.commit(vu).await?;
        }
        Ok(is_full)
    }

    async fn commit(&mut self, vu: &Vu) -> std::result::Result<(), String> {
        if let Some(membership) = self.membership.as_ref().filter(|_| !self.consumed.is_empty()) {
            membership.commit(vu, &mut self.cluster, &self.consumed).await?;
            self.consumed.clear();
            self.committed = Instant::now();
        }
        Ok(())
    }

    /// Joins the group, and finds out where to begin.
    async fn prepare(&mut self, vu: &Rc<Vu>, plan: &ReaderPlan) -> std::result::Result<(), String> {
        match &plan.group {
            Some(group) if self.membership.as_ref().is_none_or(Membership::is_upset) => {
                self.commit(vu).await?;
                self.membership = None;
                self.fetched.clear();
                self.consumed.clear();
                let (membership, positions) = group::join(vu, &mut self.cluster, group).await?;
                Measure::ReaderRebalances.add_of(vu, 1.0, &plan.topic);
                self.membership = Some(membership);
                self.positions.clear();
                for (place, offset) in positions {
                    let offset = match offset {
                        Some(offset) => offset,
                        None => self.edge(vu, &place, plan.start).await?,
                    };
                    self.positions.insert(place, offset);
                }
            }
            None if self.positions.is_empty() => {
                let place = (plan.topic.clone(), plan.partition);
                let offset = if plan.start < 0 { self.edge(vu, &place, plan.start).await? } else { plan.start };
                self.positions.insert(place, offset);
            }
            _ => {}
        }
        Ok(())
    }

    /// The first offset of a partition, or the next.
    async fn edge(&mut self, vu: &Vu, place: &(String, i32), which: i64) -> std::result::Result<i64, String> {
        let leader = self.leader(vu, place).await?;
        let mut partition = ListOffsetsPartition::default();
        partition.partition_index = place.1;
        partition.timestamp = which;
        let mut topic = ListOffsetsTopic::default();
        topic.name = topic_name(&place.0);
        topic.partitions = vec![partition];
        let mut request = ListOffsetsRequest::default();
        request.replica_id = BrokerId(-1);
        request.topics = vec![topic];
        let timeout = self.cluster.access().timeout;
        let mut broker = self.cluster.take(vu, leader).await?;
        let answer = broker.call(vu, &request, 5, timeout).await?;
        self.cluster.give(leader, broker);
        let part = answer.topics.first().and_then(|topic| topic.partitions.first());
        let part = part.ok_or("the broker did not say where the partition begins")?;
        match error_text(part.error_code) {
            None => Ok(part.offset),
            Some(why) => Err(format!("partition {} of {:?}: {why}", place.1, place.0)),
        }
    }

    async fn leader(&mut self, vu: &Vu, place: &(String, i32)) -> std::result::Result<i32, String> {
        let topic = self.cluster.topic(vu, &place.0, false).await?;
        let leader = topic.leaders.get(&place.1).copied();
        let count = topic.leaders.len();
        leader.ok_or_else(|| format!("topic {:?} has no partition {}: it has {count}", place.0, place.1))
    }

    /// Asks the leaders of the partitions for more, one after the other, for this long at most.
    async fn fetch(&mut self, vu: &Vu, plan: &ReaderPlan, left: Duration) -> std::result::Result<(), String> {
        let mut by_leader: BTreeMap<i32, Vec<Position>> = BTreeMap::new();
        for (place, offset) in self.positions.clone() {
            let leader = self.leader(vu, &place).await?;
            by_leader.entry(leader).or_default().push((place, offset));
        }
        if by_leader.is_empty() {
            // Other members have all partitions.
            tokio::time::sleep(left).await;
        }
        let wait = left / u32::try_from(by_leader.len().max(1)).unwrap_or(1);
        for (leader, places) in by_leader {
            let request = fetch_request(plan, &places, wait);
            let began = Instant::now();
            let mut broker = self.cluster.take(vu, leader).await?;
            Measure::ReaderWaitTime.add_of(vu, began.elapsed().as_secs_f64() * 1e3, &plan.topic);
            let answer = broker.call(vu, &request, 11, plan.access.timeout + wait).await?;
            self.cluster.give(leader, broker);
            Measure::ReaderFetches.add_of(vu, 1.0, &plan.topic);
            Measure::ReaderReadTime.add_of(vu, began.elapsed().as_secs_f64() * 1e3, &plan.topic);
            if let Some(why) = error_text(answer.error_code) {
                return Err(why);
            }
            for topic in answer.responses {
                let name: Rc<str> = topic.topic.0.as_str().into();
                for part in topic.partitions {
                    self.arrived(vu, &name, part).await?;
                }
            }
        }
        Ok(())
    }

    /// Takes in what came of a partition.
    async fn arrived(&mut self, vu: &Vu, topic: &Rc<str>, part: PartitionData) -> std::result::Result<(), String> {
        let place = (topic.to_string(), part.partition_index);
        match part.error_code {
            0 => {}
            OUT_OF_RANGE => {
                let first = self.edge(vu, &place, EARLIEST).await?;
                self.positions.insert(place, first);
                return Ok(());
            }
            code if MOVED.contains(&code) => {
                self.cluster.forget(topic);
                tokio::time::sleep(Duration::from_millis(50)).await;
                return Ok(());
            }
            code => {
                let why = error_text(code).unwrap_or_default();
                return Err(format!("partition {} of {topic:?}: {why}", place.1));
            }
        }
        let Some(bytes) = part.records.filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        let (size, at) = (bytes.len(), self.positions.get(&place).copied().unwrap_or(0));
        let (records, next) = records(bytes)?;
        Measure::ReaderFetchSize.add_of(vu, records.len() as f64, topic);
        Measure::ReaderFetchBytes.add_of(vu, size as f64, topic);
        // Transactions that were given up, from where on; only read_committed is told of them.
        let mut given_up: VecDeque<(i64, i64)> =
            part.aborted_transactions.iter().flatten().map(|it| (it.first_offset, it.producer_id.0)).collect();
        given_up.make_contiguous().sort_unstable();
        let mut under_way = HashSet::new();
        for record in records {
            while let Some((_, producer)) = given_up.pop_front_if(|(first, _)| *first <= record.offset) {
                under_way.insert(producer);
            }
            let is_given_up = record.transactional && under_way.contains(&record.producer_id);
            if record.control {
                under_way.remove(&record.producer_id);
            }
            // A batch begins before what was asked for, where that is in its middle.
            if record.offset >= at && !record.control && !is_given_up {
                let (topic, partition) = (Rc::clone(topic), place.1);
                let message = Incoming { topic, partition, high_water_mark: part.high_watermark, record };
                self.fetched.push_back(message);
            }
        }
        if let Some(next) = next {
            self.positions.insert(place, next.max(at));
        }
        Ok(())
    }

    fn measure(&mut self, vu: &Vu, plan: &ReaderPlan, got: &[Incoming]) {
        let topic = got.first().map_or(plan.topic.as_str(), |message| &message.topic);
        for dialled in std::mem::take(&mut self.cluster.dials) {
            Measure::ReaderDials.add_of(vu, 1.0, topic);
            Measure::ReaderDialTime.add_of(vu, dialled.as_secs_f64() * 1e3, topic);
        }
        Measure::ReaderErrors.add_of(vu, 0.0, topic);
        Measure::ReaderFetchBytesMin.add_of(vu, f64::from(plan.min_bytes), topic);
        Measure::ReaderFetchBytesMax.add_of(vu, f64::from(plan.max_bytes), topic);
        Measure::ReaderFetchWaitMax.add_of(vu, plan.max_wait.as_secs_f64() * 1e3, topic);
        Measure::ReaderQueueCapacity.add_of(vu, plan.queue as f64, topic);
        Measure::ReaderQueueLength.add_of(vu, self.fetched.len() as f64, topic);
        if let Some(last) = got.last() {
            Measure::ReaderMessages.add_of(vu, got.len() as f64, topic);
            Measure::ReaderMessageBytes.add_of(vu, got.iter().map(Incoming::size).sum::<usize>() as f64, topic);
            Measure::ReaderOffset.add_of(vu, last.record.offset as f64, topic);
            Measure::ReaderLag.add_of(vu, (last.high_water_mark - last.record.offset - 1).max(0) as f64, topic);
        }
    }
}

fn fetch_request(plan: &ReaderPlan, places: &[Position], wait: Duration) -> FetchRequest {
    let mut topics: BTreeMap<&str, Vec<FetchPartition>> = BTreeMap::new();
    for ((topic, partition), offset) in places {
        let mut part = FetchPartition::default();
        part.partition = *partition;
        part.current_leader_epoch = -1;
        part.fetch_offset = *offset;
        part.log_start_offset = -1;
        part.partition_max_bytes = plan.max_bytes;
        topics.entry(topic).or_default().push(part);
    }
    let mut request = FetchRequest::default();
    request.replica_id = BrokerId(-1);
    request.max_wait_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX).max(1);
    request.min_bytes = plan.min_bytes;
    request.max_bytes = plan.max_bytes;
    request.isolation_level = plan.isolation;
    request.session_epoch = -1;
    request.topics = topics
        .into_iter()
        .map(|(name, partitions)| {
            let mut topic = FetchTopic::default();
            topic.topic = topic_name(name);
            topic.partitions = partitions;
            topic
        })
        .collect();
    request
}

/// Says what was consumed, and leaves the group.
fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let Some(state) = native::with(&this, |reader: &KafkaReader| reader.state.take()) else {
        return Err(Exception::throw_type(&ctx, "close() must be called on a Reader"));
    };
    let Some(mut state) = state else { return Ok(()) };
    let vu = Vu::of(&ctx);
    let closed = vu.block_on(&ctx, async {
        state.commit(&vu).await?;
        match state.membership.take() {
            Some(membership) => membership.leave(&vu, &mut state.cluster).await,
            None => Ok(()),
        }
    })?;
    closed.map_err(|why| go_error::throw(&ctx, &format!("close: {why}")))
}
