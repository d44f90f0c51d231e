//! `Writer`: sends messages, and waits for the brokers' word where it was asked for.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use host::Phase;
use host::js::function::{Constructor, Func, Opt, This};
use host::js::{Ctx, Exception, Object, Result, Value};
use host::native::{self, NativeClass};
use kafka_protocol::messages::ProduceRequest;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::records::Compression;
use script::Vu;
use script::arguments::member;
use script::go_error;

use super::broker::error_text;
use super::cluster::{KafkaCluster, topic_name};
use super::compression;
use super::message::{self, Outgoing};
use super::options::{self, Access, WriterConfig};
use super::partitioner::{Balancer, Spread};
use super::samples::Measure;
use crate::client::dial::Place;

/// What kafka-go does unless it is told otherwise.
const ATTEMPTS: u32 = 10;
const BATCH_BYTES: usize = 1 << 20;
/// Before another attempt, by its number.
const PAUSE: Duration = Duration::from_millis(100);

struct WriterPlan {
    places: Vec<Place>,
    access: Rc<Access>,
    topic: String,
    creates: bool,
    balancer: Balancer,
    attempts: u32,
    batch_size: usize,
    batch_bytes: usize,
    batch_timeout: Duration,
    read_timeout: Duration,
    write_timeout: Duration,
    acks: i16,
    compression: Compression,
}

/// What a writer keeps. It is taken out while it is used, so that a call that is cut short leaves none.
struct WriterState {
    cluster: KafkaCluster,
    spreads: BTreeMap<String, Spread>,
}

struct KafkaWriter {
    plan: Rc<WriterPlan>,
    state: Rc<RefCell<Option<WriterState>>>,
}

impl NativeClass for KafkaWriter {
    const NAME: &'static str = "Writer";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("produce", Func::from(produce))?;
        prototype.set("close", Func::from(close))
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, config: Opt<Value<'js>>| {
        let config: WriterConfig = options::read(&ctx, "new Writer", config.0)?;
        let plan = plan(&Vu::of(&ctx), config).map_err(|why| go_error::throw(&ctx, &format!("new Writer: {why}")))?;
        native::object(&ctx, KafkaWriter { plan: Rc::new(plan), state: Rc::default() })
    };
    let constructor = Constructor::new_prototype(ctx, native::prototype::<KafkaWriter>(ctx)?, make)?;
    constructor.set_name("Writer")?;
    Ok(constructor)
}

fn plan(vu: &Vu, config: WriterConfig) -> std::result::Result<WriterPlan, String> {
    let balancer = Balancer::named(&config.balancer).ok_or_else(|| {
        let known = "balancer_roundrobin, balancer_leastbytes, balancer_hash, balancer_crc32 or balancer_murmur2";
        format!("balancer: found {:?}, expected {known}", config.balancer)
    })?;
    let compression = compression::named(&config.compression).ok_or_else(|| {
        format!("compression: found {:?}, expected none, gzip, snappy, lz4 or zstd", config.compression)
    })?;
    if !matches!(config.required_acks, -1..=1) {
        return Err(format!("requiredAcks: found {}, expected -1 (all), 0 (none) or 1", config.required_acks));
    }
    let or = |given: usize, absent: usize| if given == 0 { absent } else { given };
    Ok(WriterPlan {
        places: options::places(&config.brokers)?,
        access: Rc::new(options::access(vu, config.sasl, config.tls, config.read_timeout)?),
        topic: config.topic,
        creates: config.auto_create_topic,
        balancer,
        attempts: or(config.max_attempts as usize, ATTEMPTS as usize) as u32,
        batch_size: or(config.batch_size, usize::MAX),
        batch_bytes: or(config.batch_bytes, BATCH_BYTES),
        batch_timeout: config.batch_timeout,
        read_timeout: config.read_timeout,
        write_timeout: config.write_timeout,
        acks: config.required_acks,
        compression,
    })
}

fn produce<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, config: Opt<Value<'js>>) -> Result<()> {
    let Some((plan, slot)) = native::with(&this, |w: &KafkaWriter| (Rc::clone(&w.plan), Rc::clone(&w.state))) else {
        return Err(Exception::throw_type(&ctx, "produce() must be called on a Writer"));
    };
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "produce() in the init context is not supported"));
    }
    let given = config.0.as_ref().and_then(Value::as_object).map(|config| member(config, "messages")).transpose()?;
    let Some(list) = given.flatten().and_then(Value::into_array) else {
        return Err(go_error::throw(&ctx, "produce: expected an object with the array messages"));
    };
    let messages = list.iter::<Value<'js>>().enumerate();
    let messages: Vec<Outgoing> =
        messages.map(|(index, value)| Outgoing::from_js(&ctx, index, &value?)).collect::<Result<_>>()?;
    let state = slot.take();
    let mut state = state.unwrap_or_else(|| WriterState {
        cluster: KafkaCluster::new(plan.places.clone(), Rc::clone(&plan.access)),
        spreads: BTreeMap::new(),
    });
    let outcome = vu.block_on(&ctx, async {
        let outcome = send(&vu, &plan, &mut state, messages).await;
        (outcome, state)
    })?;
    let (outcome, mut state) = outcome;
    state.cluster.dials.clear();
    *slot.borrow_mut() = Some(state);
    levels(&vu, &plan);
    outcome.map_err(|why| {
        Measure::WriterErrors.add_of(&vu, 1.0, &plan.topic);
        go_error::throw(&ctx, &format!("error writing messages: {why}"))
    })
}

/// The settings, which are metrics of the original.
fn levels(vu: &Vu, plan: &WriterPlan) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let most = if plan.batch_size == usize::MAX { 0 } else { plan.batch_size };
    for (measure, value) in [
        (Measure::WriterErrors, 0.0),
        (Measure::WriterAttemptsMax, f64::from(plan.attempts)),
        (Measure::WriterBatchMax, most as f64),
        (Measure::WriterBatchTimeout, ms(plan.batch_timeout)),
        (Measure::WriterReadTimeout, ms(plan.read_timeout)),
        (Measure::WriterWriteTimeout, ms(plan.write_timeout)),
        (Measure::WriterAcks, f64::from(plan.acks)),
        (Measure::WriterAsync, 0.0),
    ] {
        measure.add_of(vu, value, &plan.topic);
    }
}

/// Messages for a partition, in batches.
type Batches = BTreeMap<(String, i32), Vec<Vec<Outgoing>>>;

async fn send(
    vu: &Vu,
    plan: &WriterPlan,
    state: &mut WriterState,
    list: Vec<Outgoing>,
) -> std::result::Result<(), String> {
    let began = Instant::now();
    let mut left = batches(vu, plan, state, list).await?;
    Measure::WriterWaitTime.add_of(vu, began.elapsed().as_secs_f64() * 1e3, &plan.topic);
    let mut attempt = 1;
    while !left.is_empty() {
        let Err(why) = send_round(vu, plan, state, &mut left).await else { continue };
        if attempt >= plan.attempts || !why.may_pass {
            return Err(why.text);
        }
        Measure::WriterRetries.add_of(vu, 1.0, &plan.topic);
        let topics: Vec<String> = left.keys().map(|(topic, _)| topic.clone()).collect();
        topics.iter().for_each(|topic| state.cluster.forget(topic));
        tokio::time::sleep(PAUSE * attempt).await;
        attempt += 1;
    }
    Ok(())
}

async fn batches(
    vu: &Vu,
    plan: &WriterPlan,
    state: &mut WriterState,
    list: Vec<Outgoing>,
) -> std::result::Result<Batches, String> {
    let mut batches = Batches::new();
    let mut sizes: BTreeMap<(String, i32), usize> = BTreeMap::new();
    for message in list {
        let topic = match (message.topic.is_empty(), plan.topic.is_empty()) {
            (true, true) => return Err(String::from("no topic: give one to the writer, or to each message")),
            (true, false) => plan.topic.clone(),
            (false, true) => message.topic.clone(),
            (false, false) if message.topic == plan.topic => plan.topic.clone(),
            (false, false) => {
                return Err(String::from("a topic must be given to the writer or to its messages, not to both"));
            }
        };
        let size = message.size();
        if size > plan.batch_bytes {
            let most = plan.batch_bytes;
            return Err(format!(
                "a message of {size} bytes, expected {most} at most: raise batchBytes, and the topic's limit"
            ));
        }
        let partitions: Vec<i32> = known(vu, plan, state, &topic).await?;
        let partition = match message.partition {
            Some(given) if partitions.contains(&given) => given,
            Some(given) => {
                return Err(format!("topic {topic:?} has no partition {given}: it has {}", partitions.len()));
            }
            None => {
                let spread = state.spreads.entry(topic.clone()).or_default();
                partitions[spread.choose(plan.balancer, message.key.as_deref(), size, partitions.len())]
            }
        };
        let place = (topic, partition);
        let list = batches.entry(place.clone()).or_default();
        let filled = sizes.entry(place).or_default();
        match list.last_mut().filter(|last| last.len() < plan.batch_size && *filled + size <= plan.batch_bytes) {
            Some(last) => last.push(message),
            None => {
                list.push(vec![message]);
                *filled = 0;
            }
        }
        *filled += size;
    }
    let mut all = batches.values().flatten();
    debug_assert!(all.all(|batch| (1..=plan.batch_size).contains(&batch.len())), "a batch is too large, or empty");
    Ok(batches)
}

/// The partitions of a topic; one that is just being made is waited for.
async fn known(
    vu: &Vu,
    plan: &WriterPlan,
    state: &mut WriterState,
    topic: &str,
) -> std::result::Result<Vec<i32>, String> {
    let mut attempt = 1;
    loop {
        let found = state.cluster.topic(vu, topic, plan.creates).await;
        match found {
            Ok(found) if !found.leaders.is_empty() => return Ok(found.leaders.into_keys().collect()),
            Err(why) if attempt >= plan.attempts || !plan.creates => return Err(why),
            Ok(_) if attempt >= plan.attempts => return Err(format!("topic {topic:?} has no partitions")),
            _ => tokio::time::sleep(PAUSE).await,
        }
        attempt += 1;
    }
}

/// Why a round failed.
struct Refusal {
    text: String,
    /// Another attempt may go well.
    may_pass: bool,
}

/// Sends the first batch of each partition, broker by broker; what went well is taken away.
async fn send_round(
    vu: &Vu,
    plan: &WriterPlan,
    state: &mut WriterState,
    left: &mut Batches,
) -> std::result::Result<(), Refusal> {
    let passing = |text: String| Refusal { text, may_pass: true };
    let mut by_leader: BTreeMap<i32, Vec<(String, i32)>> = BTreeMap::new();
    for place in left.keys() {
        let topic = state.cluster.topic(vu, &place.0, plan.creates).await.map_err(passing)?;
        let leader = topic.leaders.get(&place.1).copied().unwrap_or(-1);
        by_leader.entry(leader).or_default().push(place.clone());
    }
    for (leader, places) in by_leader {
        if leader < 0 {
            return Err(passing(format!("partition {} of {:?} has no leader", places[0].1, places[0].0)));
        }
        let request = request(plan, left, &places).map_err(|text| Refusal { text, may_pass: false })?;
        let began = Instant::now();
        let timeout = plan.access.timeout + plan.write_timeout;
        let mut broker = state.cluster.take(vu, leader).await.map_err(passing)?;
        let mut failed = None;
        if plan.acks == 0 {
            broker.tell(vu, &request, 9, timeout).await.map_err(passing)?;
            places.iter().for_each(|place| sent(vu, left, place));
        } else {
            let answer = broker.call(vu, &request, 9, timeout).await.map_err(passing)?;
            let mut unanswered: BTreeSet<&(String, i32)> = places.iter().collect();
            for topic in &answer.responses {
                for part in &topic.partition_responses {
                    let place = (topic.name.0.as_str().to_owned(), part.index);
                    unanswered.remove(&place);
                    match error_text(part.error_code) {
                        None => sent(vu, left, &place),
                        Some(why) => failed = Some((why, part.error_code, place)),
                    }
                }
            }
            // Nobody knows what became of it: sent again it might be there twice.
            if let Some((topic, partition)) = unanswered.first() {
                let text = format!("partition {partition} of {topic:?}: the broker's answer leaves it out");
                return Err(Refusal { text, may_pass: false });
            }
        }
        state.cluster.give(leader, broker);
        Measure::WriterWriteTime.add_of(vu, began.elapsed().as_secs_f64() * 1e3, &plan.topic);
        if let Some((why, code, (topic, partition))) = failed {
            let may_pass = is_passing(code);
            return Err(Refusal { text: format!("partition {partition} of {topic:?}: {why}"), may_pass });
        }
    }
    Ok(())
}

/// Errors that end by themselves: of elections, of moves, of copies that are late.
fn is_passing(code: i16) -> bool {
    matches!(code, 3 | 5 | 6 | 7 | 9 | 13 | 19 | 20 | 56 | 74 | 75)
}

fn request(plan: &WriterPlan, left: &Batches, places: &[(String, i32)]) -> std::result::Result<ProduceRequest, String> {
    let mut topics: BTreeMap<&str, Vec<PartitionProduceData>> = BTreeMap::new();
    let now_ms = (wire::wall_ns() / 1_000_000) as i64;
    for place in places {
        let Some(first) = left.get(place).and_then(|list| list.first()) else { continue };
        let mut part = PartitionProduceData::default();
        part.index = place.1;
        part.records = Some(message::batch(first, plan.compression, now_ms)?);
        topics.entry(&place.0).or_default().push(part);
    }
    let mut request = ProduceRequest::default();
    request.acks = plan.acks;
    request.timeout_ms = i32::try_from(plan.access.timeout.as_millis()).unwrap_or(i32::MAX);
    request.topic_data = topics
        .into_iter()
        .map(|(name, parts)| {
            let mut topic = TopicProduceData::default();
            topic.name = topic_name(name);
            topic.partition_data = parts;
            topic
        })
        .collect();
    Ok(request)
}

/// The first batch of a partition is with its broker.
fn sent(vu: &Vu, left: &mut Batches, place: &(String, i32)) {
    let Some(list) = left.get_mut(place) else { return };
    debug_assert!(!list.is_empty(), "a place without batches is left out");
    let batch = list.remove(0);
    if list.is_empty() {
        left.remove(place);
    }
    let (count, size) = (batch.len() as f64, batch.iter().map(Outgoing::size).sum::<usize>() as f64);
    for (measure, value) in [
        (Measure::WriterWrites, 1.0),
        (Measure::WriterMessages, count),
        (Measure::WriterMessageBytes, size),
        (Measure::WriterBatchSize, count),
        (Measure::WriterBatchBytes, size),
    ] {
        measure.add_of(vu, value, &place.0);
    }
}

fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let closed = native::with(&this, |writer: &KafkaWriter| drop(writer.state.take()));
    closed.ok_or_else(|| Exception::throw_type(&ctx, "close() must be called on a Writer"))
}
