//! The metrics of MQTT: calls, errors, and messages both ways with the bytes of their payloads.

use metrics::registry::DefineError;
use metrics::{Contains, Kind, Registry};
use script::Vu;
use script::series::{SampleTags, SeriesCache};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// A call of a method; tag `method`.
    Calls,
    /// An error, thrown or told; tag `method`.
    Errors,
    /// A message given to `publish`.
    MessagesSent,
    /// A message for the listeners.
    MessagesReceived,
    /// Bytes of payloads given to `publish`.
    DataSent,
    /// Bytes of payloads for the listeners.
    DataReceived,
}

const ALL: [(Count, &str, Contains); 6] = [
    (Count::Calls, "mqtt_calls", Contains::Default),
    (Count::Errors, "mqtt_errors", Contains::Default),
    (Count::MessagesSent, "mqtt_message_sent", Contains::Default),
    (Count::MessagesReceived, "mqtt_message_received", Contains::Default),
    (Count::DataSent, "mqtt_data_sent", Contains::Data),
    (Count::DataReceived, "mqtt_data_received", Contains::Data),
];

/// Defines the metrics.
pub fn define(registry: &Registry) -> Result<(), DefineError> {
    ALL.iter().try_for_each(|(_, name, contains)| registry.define(name, Kind::Counter, *contains).map(drop))
}

impl Count {
    /// Adds to it.
    pub fn add(self, vu: &Vu, value: f64, tags: &[(String, String)]) {
        let (_, name, _) = ALL.iter().find(|(count, ..)| *count == self).expect("each is in the table");
        let metric = vu.registry().find(name).expect("defined when the module was loaded");
        let series = vu.worker_local::<SeriesCache>().resolve(vu, metric, tags);
        vu.recorder().add(series, value, vu.now_ns());
    }
}

/// The tags of a call: the client's, its own, and the method.
pub fn of_call(method: &str, client: &[(String, String)], own: &[(String, String)]) -> SampleTags {
    let mut tags = client.to_vec();
    tags.retain(|(name, _)| own.iter().all(|(given, _)| given != name));
    tags.extend_from_slice(own);
    tags.push((String::from("method"), method.to_owned()));
    tags
}
