//! What is said of a threshold that nothing was measured for: it was not judged, and most often its filter is misspelt,
//! so the values that requests did have are named.

use std::collections::BTreeSet;

use metrics::RequestKind;
use metrics::requests::RequestTable;
use metrics::results::MetricResult;

/// Values of a tag that are named.
const NAMED: usize = 5;

/// `no sample; seen: name: login, search`.
pub(super) fn told(metric: &MetricResult, requests: &RequestTable) -> String {
    let filters = metric.filter.iter().flat_map(|filter| filter.split(','));
    let seen: Vec<String> = filters.filter_map(|filter| seen(filter, requests)).collect();
    match seen.is_empty() {
        true => String::from("no sample"),
        false => format!("no sample; seen: {}", seen.join("; ")),
    }
}

/// The values of the tag that one `key:value` asks for; none where requests do not tell.
fn seen(filter: &str, requests: &RequestTable) -> Option<String> {
    let key = filter.split_once(':')?.0.trim();
    let value: fn(&RequestKind) -> String = match key {
        "name" => |kind| kind.name.to_string(),
        "method" => |kind| kind.method.to_string(),
        "status" => |kind| kind.status.to_string(),
        "scenario" => |kind| kind.scenario.to_string(),
        "group" => |kind| kind.group.to_string(),
        _ => return None,
    };
    let kinds = requests.rows.iter().map(|row| &row.kind).filter(|kind| !kind.is_other());
    let values: BTreeSet<String> = kinds.map(value).filter(|value| !value.is_empty()).collect();
    let more = if values.len() > NAMED { ", …" } else { "" };
    let named: Vec<String> = values.into_iter().take(NAMED).collect();
    (!named.is_empty()).then(|| format!("{key}: {}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use metrics::requests::RequestResult;
    use metrics::results::{TrendValue, Value};
    use metrics::{Contains, Kind, Trend};

    use super::*;

    fn metric(filter: Option<&str>) -> MetricResult {
        MetricResult {
            name: String::from("http_req_duration"),
            filter: filter.map(str::to_owned),
            kind: Kind::Trend,
            contains: Contains::Time,
            value: Value::Trend(TrendValue::from(Trend::default())),
            thresholds: Vec::new(),
        }
    }

    fn requests(names: &[&str]) -> RequestTable {
        let row = |name: &&str| RequestResult {
            kind: RequestKind { name: (*name).into(), method: "GET".into(), status: 200, ..RequestKind::default() },
            durations: TrendValue::from(Trend::default()),
        };
        RequestTable { rows: names.iter().map(row).collect(), is_cut: false }
    }

    #[test]
    fn values_that_requests_had_are_named() {
        let some = requests(&["search", "login", "login"]);
        assert_eq!(told(&metric(Some("name:logn")), &some), "no sample; seen: name: login, search");
        let both = told(&metric(Some("name:logn, status:500")), &some);
        assert_eq!(both, "no sample; seen: name: login, search; status: 200");
        assert_eq!(told(&metric(None), &some), "no sample");
        assert_eq!(told(&metric(Some("shop:north")), &some), "no sample");
        assert_eq!(told(&metric(Some("name:x")), &requests(&[])), "no sample");
        let many = told(&metric(Some("name:x")), &requests(&["a", "b", "c", "d", "e", "f"]));
        assert!(many.ends_with("a, b, c, d, e, …"), "{many}");
    }
}
