//! The lines of `--out json` and `--out csv` as facts: each kind of line and how often it came.
//!
//! A line's time is left out, and its value where it is a duration, a byte count or a metric that is not compared.
//! The order is not compared: users run beside each other.

use std::collections::BTreeMap;

use serde_json::Value;

use super::observation::NOT_COMPARED;

/// Facts by name: what the line says, and how often.
pub type Counts = BTreeMap<String, u64>;

/// Of the JSON lines.
pub fn of_json(text: &str) -> Result<Counts, String> {
    let mut counts = Counts::new();
    let mut plain = Plain::default();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}: {line}"))?;
        let name = value["metric"].as_str().unwrap_or_default();
        if NOT_COMPARED.contains(&name) {
            continue;
        }
        let data = &value["data"];
        let fact = match value["type"].as_str() {
            Some("Metric") => {
                plain.learn(name, data);
                format!("json metric {name} {}", ordered(data))
            }
            _ => {
                let number = if plain.shows(name) { format!(" = {}", data["value"]) } else { String::new() };
                let metadata = data.get("metadata").map(|data| format!(" metadata {data}")).unwrap_or_default();
                format!("json {} {name} {}{metadata}{number}", value["type"].as_str().unwrap_or("?"), data["tags"])
            }
        };
        count(&mut counts, name, fact);
    }
    Ok(counts)
}

/// Of the CSV lines. `json` are the JSON lines of the same run, which say what a metric contains.
pub fn of_csv(text: &str, json: &str) -> Counts {
    let mut plain = Plain::default();
    for value in json.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if value["type"] == "Metric" {
            plain.learn(value["metric"].as_str().unwrap_or_default(), &value["data"]);
        }
    }
    let mut counts = Counts::new();
    for (index, line) in text.lines().enumerate() {
        let (name, rest) = line.split_once(',').unwrap_or((line, ""));
        let (time, rest) = rest.split_once(',').unwrap_or((rest, ""));
        let (number, rest) = rest.split_once(',').unwrap_or((rest, ""));
        let fact = match index {
            0 => format!("csv head {line}"),
            _ if NOT_COMPARED.contains(&name) => continue,
            _ => {
                let time = if time.bytes().all(|byte| byte.is_ascii_digit()) { "SECONDS" } else { "TIME" };
                let number = if plain.shows(name) { number } else { "" };
                format!("csv {name},{time},{number},{}", with_ordered_tags(rest))
            }
        };
        count(&mut counts, name, fact);
    }
    counts
}

/// How often bytes are reported is not compared: users with sockets do it each second here, k6 at an iteration's end.
fn count(counts: &mut Counts, name: &str, fact: String) {
    let count = counts.entry(fact).or_default();
    *count = if name.starts_with("data_") { 1 } else { *count + 1 };
}

/// A definition with its sub-metrics by name: k6 has them in any order.
fn ordered(definition: &Value) -> Value {
    let mut definition = definition.clone();
    if let Some(list) = definition["submetrics"].as_array_mut() {
        list.sort_by_key(|sub| sub["name"].to_string());
    }
    definition
}

/// The end of a CSV line with its extra tags and metadata, the last columns, by name: k6 has them in any order.
fn with_ordered_tags(rest: &str) -> String {
    let Some((front, metadata)) = rest.rsplit_once(',') else { return rest.to_owned() };
    let Some((front, tags)) = front.rsplit_once(',') else { return rest.to_owned() };
    let ordered = |pairs: &str| {
        let mut pairs: Vec<&str> = pairs.split('&').collect();
        pairs.sort_unstable();
        pairs.join("&")
    };
    format!("{front},{},{}", ordered(tags), ordered(metadata))
}

/// Metrics whose values are the same in each run.
#[derive(Default)]
struct Plain(Vec<String>);

impl Plain {
    fn learn(&mut self, name: &str, data: &Value) {
        if data["contains"] == "default" {
            self.0.push(name.to_owned());
        }
    }

    fn shows(&self, name: &str) -> bool {
        self.0.iter().any(|plain| plain == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"type":"Metric","data":{"name":"c","contains":"default"},"metric":"c"}
{"metric":"c","type":"Point","data":{"time":"T1","value":2,"tags":{"a":"b"}}}
{"metric":"c","type":"Point","data":{"time":"T2","value":2,"tags":{"a":"b"}}}
{"type":"Metric","data":{"name":"d","contains":"time"},"metric":"d"}
{"metric":"d","type":"Point","data":{"time":"T3","value":2.5,"tags":{},"metadata":{"m":"1"}}}
{"metric":"vus","type":"Point","data":{"time":"T3","value":1,"tags":{}}}
"#;

    #[test]
    fn json_lines_are_counted_without_times() {
        let found = of_json(JSON).unwrap();
        assert_eq!(found[r#"json Point c {"a":"b"} = 2"#], 2);
        assert_eq!(found[r#"json Point d {} metadata {"m":"1"}"#], 1);
        assert_eq!(found.len(), 4);
        assert!(of_json("{").is_err());
    }

    #[test]
    fn csv_lines_are_counted_without_times() {
        let head = "metric_name,timestamp,metric_value,a,extra_tags,metadata";
        let found = of_csv(&format!("{head}\nc,17,2.000000,x,z=1&y=2,\nd,18,2.5,y,,\nvus,18,1,,,\n"), JSON);
        let head = format!("csv head {head}");
        let expected = ["csv c,SECONDS,2.000000,x,y=2&z=1,", "csv d,SECONDS,,y,,", &head];
        assert_eq!(found.keys().collect::<Vec<_>>(), expected);
    }
}
