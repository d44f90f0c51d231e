//! `cargo xtask outputs`: one run that sends to all receivers at once, and what they made of it against the lines of
//! `--out json`; then the queries of the dashboard.
//!
//! Not part of `cargo test`, because the receivers are programs of Go: Prometheus, InfluxDB 1, the OpenTelemetry
//! collector's service, statsd_exporter's parser. The last two are built into one, `xtask/outputs/server.go`. The first
//! time that takes minutes and the module proxy.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::receivers::{self, Receiver};
use crate::{go, parity};

const FILES: [(&str, &str); 3] = [
    ("go.mod", include_str!("../outputs/go.mod")),
    ("server.go", include_str!("../outputs/server.go")),
    ("load.js", include_str!("../outputs/load.js")),
];
const DASHBOARD: &str = "dashboards/prometheus.json";

/// Sum and number of a metric's samples.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    sum: f64,
    count: f64,
}

/// Prints a line a receiver.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let root = parity::workspace()?;
    let folder = root.join("target/outputs");
    let Some(program) = go::build(&folder, ".", "receivers", &FILES)? else {
        println!("skipped: the receivers are programs of Go, and there is no go command");
        return Ok(());
    };
    let onrush = parity::build_onrush(&root)?;
    let mut problems = Vec::new();
    for is_native in [false, true] {
        let server = go::Server::start(Command::new(&program), &["web", "otlp", "statsd"])?;
        let Some(store) = receivers::prometheus(&folder.join("prometheus"))? else { continue };
        let Some(database) = receivers::influxdb(&folder.join("influxdb"))? else { continue };
        let expected = load(&onrush, &folder, &server.addresses, [&store, &database], is_native)?;
        problems.extend(books(&server.addresses[0], &expected)?);
        problems.extend(influxdb(&database.address, &expected)?);
        problems.extend(prometheus(&store.address, &expected, is_native)?);
        if !is_native {
            problems.extend(dashboard(&store.address, &root.join(DASHBOARD))?);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Runs the script with all outputs; what the lines of JSON come to.
fn load(
    onrush: &Path,
    folder: &Path,
    addresses: &[String],
    [store, database]: [&Receiver; 2],
    is_native: bool,
) -> Result<BTreeMap<String, Total>, String> {
    let [_, otlp, statsd] = addresses else { unreachable!("as many as were asked for") };
    let lines = folder.join("samples.json");
    let mut command = Command::new(onrush);
    command.args(["run", "--quiet", "--no-color", "--serve", "--summary-mode", "disabled"]);
    command.args(["--out", &format!("json={}", lines.display()), "--out", "opentelemetry"]);
    command.args(["--out", &format!("experimental-prometheus-rw=http://{}/api/v1/write", store.address)]);
    command.args(["--out", &format!("influxdb=http://{}/k6", database.address), "--out", &format!("statsd={statsd}")]);
    command.env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s");
    command.env("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", is_native.to_string());
    command.envs([("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"), ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", otlp.as_str())]);
    let output = command.arg(folder.join("load.js")).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("output ") {
        return Err(format!("{}: {said}", output.status));
    }
    let text = std::fs::read_to_string(&lines).map_err(|error| format!("{}: {error}", lines.display()))?;
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        if let (Some("Point"), Some(metric), Some(value)) =
            (line["type"].as_str(), line["metric"].as_str(), line["data"]["value"].as_f64())
        {
            let total = totals.entry(metric.to_owned()).or_default();
            total.sum += value;
            total.count += 1.0;
        }
    }
    Ok(totals)
}

/// Compares what the collector and statsd were told.
fn books(web: &str, expected: &BTreeMap<String, Total>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for receiver in ["opentelemetry", "statsd"] {
        let book: Value =
            serde_json::from_str(&get(web, &format!("/{receiver}"))?).map_err(|error| error.to_string())?;
        let wrong = book["wrong"].as_array().map_or(0, Vec::len);
        let prefix = if receiver == "statsd" { "k6." } else { "" };
        let total = |name: &str| {
            let found = &book["totals"][format!("{prefix}{name}")];
            Total { sum: found["sum"].as_f64().unwrap_or(0.0), count: found["count"].as_f64().unwrap_or(0.0) }
        };
        let mut compared = 0;
        let mut compare = |what: String, found: f64, wanted: f64| {
            compared += 1;
            if (found - wanted).abs() > wanted.abs() * 1e-9 + 1e-6 {
                problems.push(format!("{receiver}: {what} is {found}, expected {wanted}"));
            }
        };
        compare(String::from("the number of refused lines"), wrong as f64, 0.0);
        for name in ["http_reqs", "iterations", "my_counter", "data_received", "dropped_iterations"] {
            compare(format!("the sum of {name}"), total(name).sum, expected[name].sum);
        }
        // A statsd of timers counts seconds.
        let unit = if receiver == "statsd" { 1e-3 } else { 1.0 };
        for name in ["http_req_duration", "iteration_duration", "my_trend"] {
            compare(format!("the number of {name}"), total(name).count, expected[name].count);
            compare(format!("the sum of {name}"), total(name).sum, expected[name].sum * unit);
        }
        if receiver == "opentelemetry" {
            compare(String::from("all of checks"), total("checks.total").sum, expected["checks"].count);
        }
        println!("{receiver}: {compared} figures");
    }
    Ok(problems)
}

/// Compares what InfluxDB answers: the number and the sum of each measurement, and that a tag is one.
fn influxdb(address: &str, expected: &BTreeMap<String, Total>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (name, wanted) in expected {
        let query = format!("SELECT count(value), sum(value) FROM \"{name}\"");
        let answer = get(address, &format!("/query?db=k6&q={}", escaped(&query)))?;
        let parsed: Value = serde_json::from_str(&answer).map_err(|_| format!("{query}: {answer}"))?;
        let row = &parsed["results"][0]["series"][0]["values"][0];
        let [count, sum] = [1, 2].map(|at| row[at].as_f64().unwrap_or(0.0));
        if count != wanted.count || (sum - wanted.sum).abs() > wanted.sum.abs() * 1e-9 + 1e-6 {
            let Total { count: all, sum: total } = wanted;
            problems
                .push(format!("influxdb: {name} has {count} values with the sum {sum}, expected {all} and {total}"));
        }
    }
    let query = "SELECT count(value) FROM http_reqs WHERE \"name\" = 'a \"b\", c=d' AND status = '200'";
    let answer = get(address, &format!("/query?db=k6&q={}", escaped(query)))?;
    if !answer.contains("\"values\"") {
        problems.push(format!("influxdb: {query} gives {answer}"));
    }
    println!("influxdb: {} figures", 2 * expected.len() + 1);
    Ok(problems)
}

/// Compares what Prometheus answers.
fn prometheus(web: &str, expected: &BTreeMap<String, Total>, is_native: bool) -> Result<Vec<String>, String> {
    let mut queries: Vec<(String, f64)> = Vec::new();
    for name in ["http_reqs", "iterations", "my_counter", "data_received", "dropped_iterations"] {
        queries.push((format!("sum(k6_{name}_total)"), expected[name].sum));
    }
    queries.push((String::from("k6_my_gauge"), 7.0));
    queries.push((String::from("avg(k6_checks_rate)"), expected["checks"].sum / expected["checks"].count));
    if is_native {
        for (name, unit) in
            [("http_req_duration_seconds", 1e-3), ("iteration_duration_seconds", 1e-3), ("my_trend", 1.0)]
        {
            let total = expected[name.trim_end_matches("_seconds")];
            queries.push((format!("sum(histogram_count(k6_{name}))"), total.count));
            queries.push((format!("sum(histogram_sum(k6_{name}))"), total.sum * unit));
        }
        // Even from -5 to 295: borders of buckets are 9 % apart.
        queries.push((
            String::from(
                "clamp(histogram_quantile(0.5, k6_my_trend), 125, 165) == bool histogram_quantile(0.5, k6_my_trend)",
            ),
            1.0,
        ));
    }
    let mut problems = Vec::new();
    for (query, wanted) in &queries {
        let found = ask(web, query)?;
        let [value] = found[..] else {
            problems.push(format!("prometheus: {query} has {} values, expected one", found.len()));
            continue;
        };
        if (value - wanted).abs() > wanted.abs() * 1e-9 + 1e-6 {
            problems.push(format!("prometheus: {query} is {value}, expected {wanted}"));
        }
    }
    let how = if is_native { "native histograms" } else { "gauges" };
    println!("prometheus, trends as {how}: {} figures", queries.len());
    Ok(problems)
}

/// Each query of the dashboard has to give something.
fn dashboard(web: &str, path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let dashboard: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let (mut problems, mut count) = (Vec::new(), 0);
    for query in targets.filter_map(|target| target["expr"].as_str()) {
        count += 1;
        let filled = query.replace("$__rate_interval", "30s").replace("$scenario", ".*");
        if ask(web, &filled)?.is_empty() {
            problems.push(format!("dashboard: {query} gives nothing"));
        }
    }
    println!("dashboard: {count} queries");
    Ok(problems)
}

/// What Prometheus answers to a query.
fn ask(web: &str, query: &str) -> Result<Vec<f64>, String> {
    let answer = get(web, &format!("/api/v1/query?query={}", escaped(query)))?;
    let parsed: Value = serde_json::from_str(&answer).map_err(|_| format!("{query}: {answer}"))?;
    let found = parsed["data"]["result"].as_array().ok_or_else(|| format!("{query}: {answer}"))?;
    let value = |one: &Value| one["value"][1].as_str().and_then(|text| text.parse::<f64>().ok());
    Ok(found.iter().filter_map(value).filter(|value| !value.is_nan()).collect())
}

/// A text as a value of a URL's query.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// The body of an answer.
fn get(web: &str, path: &str) -> Result<String, String> {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(web)?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = ask().map_err(|error| format!("{path}: {error}"))?;
    Ok(answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}
