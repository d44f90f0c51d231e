//! The metrics of a document as a list: a Trend's sub-metric that has all samples of its parent is written without its
//! value.
//!
//! That is the usual case of `http_req_duration{expected_response:true}`, whose histogram would be a tenth of a small
//! document.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::metric::{Contains, Metric, Threshold, Value};

/// What a sub-metric with all samples of its parent is written without.
const OF_PARENT: [&str; 2] = ["value", "percentiles"];

/// A metric or sub-metric as it is written.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum MetricEntry<'a> {
    /// With its value.
    Whole(&'a Metric),
    /// Without, where it is that of its parent.
    Again(SameAsParent<'a>),
}

/// A sub-metric of a Trend that has the value of the metric of its name without filter, which stands before it.
#[derive(Serialize, JsonSchema)]
pub(super) struct SameAsParent<'a> {
    /// Name without filter: `http_req_duration`.
    name: &'a str,
    /// The text between the braces: `status:200`.
    filter: &'a str,
    /// What the values are.
    contains: Contains,
    /// Thresholds on it, in the order given; absent without any.
    #[serde(default, skip_serializing_if = "<[Threshold]>::is_empty")]
    thresholds: &'a [Threshold],
    /// `trend`.
    kind: &'static str,
}

pub(super) fn serialize<S: Serializer>(metrics: &[Metric], serializer: S) -> Result<S::Ok, S::Error> {
    let mut parent: Option<&Metric> = None;
    serializer.collect_seq(metrics.iter().map(|metric| {
        let Some(filter) = &metric.filter else {
            parent = Some(metric);
            return MetricEntry::Whole(metric);
        };
        let is_again = parent.is_some_and(|parent| {
            matches!(metric.value, Value::Trend(_)) && parent.name == metric.name && parent.value == metric.value
        });
        if !is_again {
            return MetricEntry::Whole(metric);
        }
        let Metric { name, contains, thresholds, .. } = metric;
        MetricEntry::Again(SameAsParent { name, filter, contains: *contains, thresholds, kind: "trend" })
    }))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Metric>, D::Error> {
    let mut entries = Vec::<serde_json::Value>::deserialize(deserializer)?;
    let mut values = HashMap::new();
    for entry in &mut entries {
        let Some(fields) = entry.as_object_mut() else { continue };
        let name = fields.get("name").cloned();
        let own: Vec<(&str, serde_json::Value)> =
            OF_PARENT.iter().filter_map(|field| Some((*field, fields.get(*field)?.clone()))).collect();
        match fields.contains_key("value") {
            true if !fields.contains_key("filter") => {
                values.insert(name, own);
            }
            true => {}
            false => values.get(&name).into_iter().flatten().for_each(|(field, value)| {
                fields.insert((*field).to_owned(), value.clone());
            }),
        }
    }
    entries.into_iter().map(|entry| serde_json::from_value(entry).map_err(D::Error::custom)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::histogram::Histogram;

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct List(#[serde(with = "super")] Vec<Metric>);

    fn metric(name: &str, filter: Option<&str>, value: Value) -> Metric {
        let filter = filter.map(str::to_owned);
        Metric {
            name: name.to_owned(),
            filter,
            contains: Contains::Time,
            thresholds: Vec::new(),
            percentiles: Vec::new(),
            value,
        }
    }

    fn trend(value: f64) -> Value {
        let mut trend = metrics::Trend::default();
        trend.add(value);
        Value::Trend(Histogram::from(&metrics::results::TrendValue::from(trend)))
    }

    #[test]
    fn a_sub_metric_with_all_samples_is_written_without_them() {
        let rate = || Value::Rate { passes: 1, total: 2 };
        let list = List(vec![
            metric("time", None, trend(5.0)),
            metric("time", Some("all:yes"), trend(5.0)),
            metric("time", Some("all:no"), trend(6.0)),
            metric("other", Some("all:yes"), trend(6.0)),
            metric("share", None, rate()),
            metric("share", Some("all:yes"), rate()),
        ]);
        let written = serde_json::to_value(&list).unwrap();
        let has_value: Vec<bool> =
            written.as_array().unwrap().iter().map(|entry| entry.get("value").is_some()).collect();
        assert_eq!(has_value, [true, false, true, true, true, true]);
        let expected = serde_json::json!({ "name": "time", "filter": "all:yes", "contains": "time", "kind": "trend" });
        assert_eq!(written[1], expected);
        assert_eq!(serde_json::from_value::<List>(written).unwrap(), list);
    }

    #[test]
    fn a_sub_metric_without_a_value_needs_a_parent() {
        let alone = serde_json::json!([{ "name": "time", "filter": "all:yes", "contains": "time", "kind": "trend" }]);
        assert_eq!(serde_json::from_value::<List>(alone).unwrap_err().to_string(), "missing field `value`");
    }
}
