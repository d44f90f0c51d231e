//! `Connection`: makes, lists and deletes topics; in init code, too.

use std::cell::RefCell;
use std::rc::Rc;

use host::js::function::{Constructor, Func, Opt, This};
use host::js::{Ctx, Exception, Object, Result, Value};
use host::native::{self, NativeClass};
use kafka_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use kafka_protocol::messages::{BrokerId, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest};
use kafka_protocol::protocol::{Request, StrBytes};
use script::Vu;
use script::arguments::text_or;
use script::go_error;

use super::broker::error_text;
use super::cluster::{KafkaCluster, topic_name};
use super::options::{self, Access, ConnectionConfig, TopicConfig};
use crate::client::dial::Place;

/// The broker that looks after the cluster has to be asked.
const NOT_CONTROLLER: i16 = 41;

struct KafkaAdmin {
    places: Vec<Place>,
    access: Rc<Access>,
    cluster: Rc<RefCell<Option<KafkaCluster>>>,
}

impl NativeClass for KafkaAdmin {
    const NAME: &'static str = "Connection";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("createTopic", Func::from(create_topic))?;
        prototype.set("deleteTopic", Func::from(delete_topic))?;
        prototype.set("listTopics", Func::from(list_topics))?;
        prototype.set("close", Func::from(close))
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>, config: Opt<Value<'js>>| {
        let config: ConnectionConfig = options::read(&ctx, "new Connection", config.0)?;
        let made = admin(&Vu::of(&ctx), config).map_err(|why| go_error::throw(&ctx, &format!("new Connection: {why}")));
        native::object(&ctx, made?)
    };
    let constructor = Constructor::new_prototype(ctx, native::prototype::<KafkaAdmin>(ctx)?, make)?;
    constructor.set_name("Connection")?;
    Ok(constructor)
}

fn admin(vu: &Vu, config: ConnectionConfig) -> std::result::Result<KafkaAdmin, String> {
    let mut addresses = config.brokers;
    if !config.address.is_empty() {
        addresses.insert(0, config.address);
    }
    let places = options::places(&addresses)?;
    let access = options::access(vu, config.sasl, config.tls, std::time::Duration::ZERO)?;
    Ok(KafkaAdmin { places, access: Rc::new(access), cluster: Rc::default() })
}

/// Does something with the cluster; waits for it.
fn with<'js, T>(
    ctx: &Ctx<'js>,
    this: &Value<'js>,
    method: &str,
    work: impl AsyncFnOnce(&Vu, &mut KafkaCluster) -> std::result::Result<T, String>,
) -> Result<T> {
    let found = native::with(this, |admin: &KafkaAdmin| {
        let cluster = admin.cluster.take();
        let cluster = cluster.unwrap_or_else(|| KafkaCluster::new(admin.places.clone(), Rc::clone(&admin.access)));
        (cluster, Rc::clone(&admin.cluster))
    });
    let Some((mut cluster, slot)) = found else {
        return Err(Exception::throw_type(ctx, &format!("{method}() must be called on a Connection")));
    };
    let vu = Vu::of(ctx);
    let (outcome, cluster) = vu.block_on(ctx, async {
        let outcome = work(&vu, &mut cluster).await;
        (outcome, cluster)
    })?;
    *slot.borrow_mut() = Some(cluster);
    outcome.map_err(|why| go_error::throw(ctx, &format!("{method}: {why}")))
}

/// A request for whoever looks after the cluster; `code` finds its refusals.
async fn ask<R: Request>(
    vu: &Vu,
    cluster: &mut KafkaCluster,
    request: &R,
    newest: i16,
    code: impl Fn(&R::Response) -> i16,
) -> std::result::Result<R::Response, String> {
    let timeout = cluster.access().timeout;
    let mut broker = cluster.take(vu, -1).await?;
    let answer = broker.call(vu, request, newest, timeout).await?;
    if code(&answer) != NOT_CONTROLLER {
        cluster.give(-1, broker);
        return Ok(answer);
    }
    let known = broker.call(vu, &MetadataRequest::default(), 9, timeout).await?;
    cluster.give(-1, broker);
    cluster.metadata(vu, None, false).await?;
    let node = known.controller_id.0;
    let mut broker = cluster.take(vu, node).await?;
    let answer = broker.call(vu, request, newest, timeout).await?;
    cluster.give(node, broker);
    Ok(answer)
}

fn create_topic<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, config: Opt<Value<'js>>) -> Result<()> {
    let config: TopicConfig = options::read(&ctx, "createTopic", config.0)?;
    if config.topic.is_empty() {
        return Err(go_error::throw(&ctx, "createTopic: topic: expected a name"));
    }
    let request = creation(&config);
    with(&ctx, &this, "createTopic", async |vu, cluster| {
        let code = |answer: &<CreateTopicsRequest as Request>::Response| {
            answer.topics.first().map_or(0, |topic| topic.error_code)
        };
        let answer = ask(vu, cluster, &request, 6, code).await?;
        cluster.forget(&config.topic);
        match answer.topics.first().and_then(|topic| Some((error_text(topic.error_code)?, topic))) {
            None => Ok(()),
            // As in k6, where each user's init code makes the topic.
            Some((_, topic)) if topic.error_code == 36 => Ok(()),
            Some((why, topic)) => {
                let more = topic.error_message.as_ref().map(|more| format!(": {}", more.as_str())).unwrap_or_default();
                Err(format!("topic {:?}: {why}{more}", config.topic))
            }
        }
    })
}

fn creation(config: &TopicConfig) -> CreateTopicsRequest {
    let mut topic = CreatableTopic::default();
    topic.name = topic_name(&config.topic);
    let is_assigned = !config.replica_assignments.is_empty();
    // The brokers count both themselves where their places are given.
    topic.num_partitions = if is_assigned { -1 } else { config.num_partitions.max(1) };
    topic.replication_factor = if is_assigned { -1 } else { config.replication_factor.max(1) };
    topic.assignments = config
        .replica_assignments
        .iter()
        .map(|given| {
            let mut assignment = CreatableReplicaAssignment::default();
            assignment.partition_index = given.partition;
            assignment.broker_ids = given.replicas.iter().copied().map(BrokerId).collect();
            assignment
        })
        .collect();
    topic.configs = config
        .config_entries
        .iter()
        .map(|given| {
            let mut entry = CreatableTopicConfig::default();
            entry.name = StrBytes::from_string(given.config_name.clone());
            entry.value = Some(StrBytes::from_string(given.config_value.clone()));
            entry
        })
        .collect();
    let mut request = CreateTopicsRequest::default();
    request.topics = vec![topic];
    request.timeout_ms = 10_000;
    request
}

fn delete_topic<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, topic: Opt<Value<'js>>) -> Result<()> {
    let name = text_or(&ctx, topic, "")?;
    let mut request = DeleteTopicsRequest::default();
    request.topic_names = vec![topic_name(&name)];
    request.timeout_ms = 10_000;
    with(&ctx, &this, "deleteTopic", async |vu, cluster| {
        let code = |answer: &<DeleteTopicsRequest as Request>::Response| {
            answer.responses.first().map_or(0, |topic| topic.error_code)
        };
        let answer = ask(vu, cluster, &request, 5, code).await?;
        cluster.forget(&name);
        match error_text(code(&answer)) {
            None => Ok(()),
            Some(why) => Err(format!("topic {name:?}: {why}")),
        }
    })
}

fn list_topics<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<Vec<String>> {
    let list = async |vu: &Vu, cluster: &mut KafkaCluster| cluster.metadata(vu, None, false).await;
    let topics = with(&ctx, &this, "listTopics", list)?;
    Ok(topics.into_keys().collect())
}

fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let closed = native::with(&this, |admin: &KafkaAdmin| drop(admin.cluster.take()));
    closed.ok_or_else(|| Exception::throw_type(&ctx, "close() must be called on a Connection"))
}
