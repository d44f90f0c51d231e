//! The metrics of MQTT: calls, errors, and messages both ways with the bytes of their payloads.

use metrics::{Contains, Kind};
use script::series::SampleTags;

use crate::client::metric_table::{MetricRow, MetricTable};

/// What is counted, in the order of the table.
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

impl MetricTable for Count {
    const MODULE: &'static str = "k6/x/mqtt";
    const ROWS: &'static [MetricRow] = &[
        ("mqtt_calls", Kind::Counter, Contains::Default),
        ("mqtt_errors", Kind::Counter, Contains::Default),
        ("mqtt_message_sent", Kind::Counter, Contains::Default),
        ("mqtt_message_received", Kind::Counter, Contains::Default),
        ("mqtt_data_sent", Kind::Counter, Contains::Data),
        ("mqtt_data_received", Kind::Counter, Contains::Data),
    ];

    fn row(self) -> usize {
        self as usize
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
