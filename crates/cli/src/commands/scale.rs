//! `onrush scale`: changes the load of a test that runs, through its REST API.
//!
//! k6's command of versions before 2.0 with its flags, and ours for scenarios and rates. Whether the change makes sense
//! is the run's to say: it knows its scenarios.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use engine::pacer::Rate;
use serde_json::{Map, Value, json};

use crate::api::SCALE;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

/// Where k6 1 listened.
const ADDRESS: &str = "localhost:6565";
/// An API on the same machine answers at once, also when its users compute.
const PATIENCE: Duration = Duration::from_secs(30);

/// The command line.
pub fn command() -> Command {
    let number = |name: &'static str, short, help: &'static str| {
        let arg = Arg::new(name).long(name).short(short).value_name("N").value_parser(value_parser!(u64));
        arg.help(help)
    };
    Command::new("scale")
        .about("Change the users or the rate of a test that runs with --address")
        .after_help(
            "The change holds a tenth of a second later, to the end of the scenario: the rest of a ramp is replaced by \
             a constant. The result, the summary and the report of the test name it.\n\nUsers change in scenarios of \
             constant-vus and ramping-vus, rates in those of constant-arrival-rate and ramping-arrival-rate. A test \
             with several of a kind needs --scenario.",
        )
        .arg(number("vus", 'u', "Virtual users from now on").visible_alias("users"))
        .arg(number("max", 'm', "Virtual users at most: of a rate, those that it may have made; else a limit of --vus"))
        .arg(
            Arg::new("rate")
                .long("rate")
                .value_name("RATE")
                .value_parser(|text: &str| text.parse::<Rate>().map(|_| text.to_owned()))
                .conflicts_with("vus")
                .help("Iterations from now on: 200/s, 90/m, 1.5/s, 0/s"),
        )
        .arg(Arg::new("scenario").long("scenario").value_name("NAME").help("Of this scenario"))
        .arg(
            Arg::new("address")
                .long("address")
                .short('a')
                .value_name("HOST:PORT")
                .help("Where the test has its REST API [default: $K6_ADDRESS, else localhost:6565]"),
        )
}

/// Asks, and prints what came of it.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let users = |name: &str| matches.get_one::<u64>(name).map(|users| json!(users));
    let text = |name: &str| matches.get_one::<String>(name).map(|text| json!(text));
    let load = [("vus", users("vus")), ("vus-max", users("max")), ("rate", text("rate"))];
    if load.iter().all(|(_, given)| given.is_none()) {
        return Err(Failure::new(ExitCode::Generic, "scale: found no load, expected --vus, --max or --rate"));
    }
    let given = load.into_iter().chain([("scenario", text("scenario")), ("client", Some(json!(SCALE)))]);
    let attributes: Map<String, Value> = given.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let wish = json!({ "data": { "type": "status", "id": "default", "attributes": attributes } });
    let of_system = std::env::var("K6_ADDRESS").ok().filter(|address| !address.is_empty());
    let address = matches.get_one::<String>("address").cloned().or(of_system).unwrap_or_else(|| ADDRESS.to_owned());
    let failed = |why: String| Failure::new(ExitCode::Generic, format!("scale: {why}"));
    let answer = ask(&address, &wish.to_string()).map_err(failed)?;
    let changes = answer["meta"]["changes"].as_array().into_iter().flatten();
    let lines: Vec<String> = changes.filter_map(|change| change["text"].as_str()).map(str::to_owned).collect();
    let none = || String::from("no load is another one; the limit of users is set");
    let text = if lines.is_empty() { none() } else { lines.join("\n") };
    output::answer(&format!("{}\n", report::visible_lines(&text)))
}

/// The answer of the API to this change of its status.
fn ask(address: &str, body: &str) -> Result<Value, String> {
    let place = address.trim_start_matches("http://").trim_end_matches('/');
    let full = if place.starts_with(':') { format!("localhost{place}") } else { place.to_owned() };
    let cannot = |why: &dyn std::fmt::Display| {
        format!("cannot ask the REST API at {place}: {why}; run the test with --address {place}")
    };
    let mut stream = TcpStream::connect(&full).map_err(|error| cannot(&error))?;
    let mut exchange = || -> std::io::Result<Vec<u8>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "PATCH /v1/status HTTP/1.1\r\nHost: {full}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    };
    let bytes = exchange().map_err(|error| cannot(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let answer: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    match answer["errors"][0]["detail"].as_str() {
        Some(why) => Err(why.to_owned()),
        None if answer["data"]["type"] == "status" => Ok(answer),
        None => {
            Err(cannot(&format!("found '{}', expected the answer of a run", head.lines().next().unwrap_or_default())))
        }
    }
}
