//! The heading of a metric, in the text summary and in the report.
//!
//! Headings, their order and what belongs to them are those of k6's summary, and one of ours for server-sent events. A
//! metric that is not built in counts as custom.

use metrics::builtin;

/// A heading that metrics stand under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    WebSocket,
    Streams,
}

impl Section {
    /// In the order they are printed.
    pub const ALL: [Section; 9] = [
        Section::Custom,
        Section::Http,
        Section::Execution,
        Section::Network,
        Section::Browser,
        Section::WebVitals,
        Section::Grpc,
        Section::WebSocket,
        Section::Streams,
    ];

    /// What is printed above them.
    pub fn title(self) -> &'static str {
        match self {
            Section::Custom => "CUSTOM",
            Section::Http => "HTTP",
            Section::Execution => "EXECUTION",
            Section::Network => "NETWORK",
            Section::Browser => "BROWSER",
            Section::WebVitals => "WEB_VITALS",
            Section::Grpc => "GRPC",
            Section::WebSocket => "WEBSOCKET",
            Section::Streams => "STREAMS",
        }
    }

    /// Where a metric stands; none when the summary tells it in another form.
    pub fn of(name: &str) -> Option<Section> {
        let is_builtin = builtin::ALL.iter().any(|metric| metric.name == name);
        match name {
            "checks" | "group_duration" => None,
            _ if !is_builtin => Some(Section::Custom),
            "data_sent" | "data_received" => Some(Section::Network),
            _ if name.starts_with("http_") => Some(Section::Http),
            _ if name.starts_with("ws_") => Some(Section::WebSocket),
            _ if name.starts_with("sse_") => Some(Section::Streams),
            _ if name.starts_with("grpc_") => Some(Section::Grpc),
            _ if name.starts_with("browser_web_vital_") => Some(Section::WebVitals),
            _ if name.starts_with("browser_") => Some(Section::Browser),
            _ => Some(Section::Execution),
        }
    }
}

/// Phases of a request, which the compact summary leaves out; their thresholds are shown all the same.
pub(crate) fn is_phase(name: &str) -> bool {
    const PHASES: [&str; 6] = [
        "http_req_blocked",
        "http_req_connecting",
        "http_req_receiving",
        "http_req_sending",
        "http_req_tls_handshaking",
        "http_req_waiting",
    ];
    PHASES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_is_below_the_heading_that_k6_gives_it() {
        let cases = [
            ("checks", None),
            ("group_duration", None),
            ("orders", Some(Section::Custom)),
            ("http_orders", Some(Section::Custom)),
            ("ws_orders", Some(Section::Custom)),
            ("data_sent", Some(Section::Network)),
            ("data_received", Some(Section::Network)),
            ("http_reqs", Some(Section::Http)),
            ("http_req_failed", Some(Section::Http)),
            ("ws_sessions", Some(Section::WebSocket)),
            ("sse_event", Some(Section::Streams)),
            ("iterations", Some(Section::Execution)),
            ("vus_max", Some(Section::Execution)),
        ];
        for (name, expected) in cases {
            assert_eq!(Section::of(name), expected, "{name}");
        }
        let prefixes =
            [("grpc_", Section::Grpc), ("browser_web_vital_", Section::WebVitals), ("browser_", Section::Browser)];
        for metric in builtin::ALL.iter() {
            let expected = prefixes.iter().find(|(prefix, _)| metric.name.starts_with(prefix));
            if let Some((_, section)) = expected {
                assert_eq!(Section::of(metric.name), Some(*section), "{}", metric.name);
            }
        }
        let titles = Section::ALL.map(Section::title);
        assert_eq!(
            titles,
            ["CUSTOM", "HTTP", "EXECUTION", "NETWORK", "BROWSER", "WEB_VITALS", "GRPC", "WEBSOCKET", "STREAMS"]
        );
    }

    #[test]
    fn phases_are_the_parts_of_a_request() {
        assert!(is_phase("http_req_blocked") && is_phase("http_req_waiting"));
        assert!(!is_phase("http_req_duration") && !is_phase("http_reqs"));
    }
}
