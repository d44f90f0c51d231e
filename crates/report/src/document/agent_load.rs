//! What one agent of a fleet measured, in few figures: enough to see whether its machine differed from the others.

use metrics::results::{MetricResult, Results, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::metric::Contains;
use crate::section::Section;

/// Trends that are told of each agent, where there are samples; behind them those of the script.
const TOLD: [&str; 5] =
    ["http_req_duration", "grpc_req_duration", "message_delay", "ws_connecting", "iteration_duration"];
/// Trends of the script that are told at most: a thousand agents have as many rows each.
const MOST_OWN: usize = 8;

/// What an agent measured. Rates divide by the time of its own load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentLoad {
    /// HTTP requests.
    pub requests: u64,
    /// Per second of its load.
    pub requests_per_s: f64,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Whole iterations.
    pub iterations: u64,
    /// WebSocket messages that its users received.
    pub ws_messages: u64,
    /// `http_req_duration`, other times of requests and messages, and up to eight Trends of the script.
    pub trends: Vec<AgentTrend>,
}

/// A Trend at one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentTrend {
    /// The metric.
    pub metric: String,
    /// What its values are.
    pub contains: Contains,
    /// Samples.
    pub count: u64,
    /// Mean; null where a request was never answered.
    pub avg: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95 of 100 are no larger.
    pub p95: Option<f64>,
    /// 99 of 100 are no larger.
    pub p99: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

impl AgentLoad {
    /// Of everything that an agent measured.
    pub fn of(results: &Results) -> AgentLoad {
        let requests = results.count("http_reqs");
        let failed_requests = match results.metric("http_req_failed").map(|metric| &metric.value) {
            Some(Value::Rate { passes, .. }) => *passes,
            _ => 0,
        };
        let told = TOLD.iter().filter_map(|name| results.metric(name));
        let is_own = |metric: &&MetricResult| {
            let name = metric.name.as_str();
            metric.filter.is_none() && !TOLD.contains(&name) && Section::of(name) == Some(Section::Custom)
        };
        let own = results.metrics.iter().filter(is_own);
        let own = own.filter_map(AgentTrend::of).take(MOST_OWN);
        AgentLoad {
            requests,
            requests_per_s: requests as f64 / results.duration.as_secs_f64().max(1e-3),
            failed_requests,
            iterations: results.count("iterations"),
            ws_messages: results.count("ws_msgs_received"),
            trends: told.filter_map(AgentTrend::of).chain(own).collect(),
        }
    }

    /// A Trend of this metric.
    pub fn trend(&self, metric: &str) -> Option<&AgentTrend> {
        self.trends.iter().find(|trend| trend.metric == metric)
    }
}

impl AgentTrend {
    fn of(metric: &MetricResult) -> Option<AgentTrend> {
        let Value::Trend(trend) = &metric.value else { return None };
        if trend.count() == 0 {
            return None;
        }
        let known = |value: f64| value.is_finite().then_some(value);
        Some(AgentTrend {
            metric: metric.name.clone(),
            contains: metric.contains.into(),
            count: trend.count(),
            avg: known(trend.avg()),
            p50: known(trend.percentile(50.0)),
            p95: known(trend.percentile(95.0)),
            p99: known(trend.percentile(99.0)),
            max: known(trend.max()),
        })
    }
}
