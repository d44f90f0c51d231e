//! Readers of files and messages that Onrush or its users write: results, plans, conditions, messages of a fleet.
//!
//! What must hold of a reader that is private stands in `fuzzing.rs` of its crate; of the others, here.

use engine::segment::{Segment, Sequence, Stripes};
use fleet::{Order, Report, Token, message};
use journal::{EndedLoad, LoadOrder, PartEnd};
use metrics::SystemTags;
use report::compare::{Condition, Wanted};
use report::matrix::{Matrix, figures, plan, server_stats};
use serde::Serialize;
use serde::de::DeserializeOwned;
use units::date;

use super::subjects::Subject;

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "matrix-plan",
        examples: &[
            "rounds = 2\nseed = 7\n[axes]\nsize = [\"1k\", \"{n}m\"]\nn = [1, 2]\n[[variants]]\nname = 'a'\n\
             [variants.server]\ncommand = 'serve --port {port} {size}'\n[variants.load]\nscript = 's.js'\n\
             duration = '1s'\n",
            "name = \"m\"\nrounds = 6\nsetup = [\"make {folder}\"]\n[axes]\nx = [true]\n\
             [variants.b]\nonly = {x = true}\n",
            "{\"rounds\":1,\"axes\":{\"a\":[1,{\"label\":\"x\",\"value\":2}]},\"variants\":{\"v\":{}}}",
        ],
        words: &["{", "}", "{{", "[", "]", "[[", "=", "\"", "'", "'''", "\n", "only", "rounds = ", "{port}", "#", "."],
        start: || Ok(Box::new(matrix_plan)),
    },
    Subject {
        name: "conditions",
        examples: &["p(95) +5%", "http_reqs -3%", "http_req_duration:avg +20", "checks:rate -1%", "a{b:c}:p(99.9) +1"],
        words: &["p(", ")", ":", "+", "-", "%", "avg", "med", "1e308", "{", "}", " "],
        start: || Ok(Box::new(conditions)),
    },
    Subject {
        name: "server-stats",
        examples: &[
            "# TYPE a gauge\na{b=\"c\"} 1.5e3\nd 2\n",
            "{\"a\":{\"b\":[1,{\"c\":2.5}]},\"d\":\"3\"}",
            "x: 1\ny = 2\nz 0x10\n",
        ],
        words: &["{", "}", "\"", ":", "=", " ", "\n", "# TYPE ", " gauge", "NaN", "1e999", "[", "]"],
        start: || Ok(Box::new(stats)),
    },
    Subject {
        name: "tool-output",
        examples: &[
            "(?<rate>[0-9.]+) r/s\n(?<p50_ms>[0-9.]+)ms\n\n100.5 r/s\n3.25ms\n",
            "Requests/sec: +(?<rate>[0-9.]+)\n\nRequests/sec:  1,000.5k",
        ],
        words: &["(?<rate>", "(?<errors>", "(?<p99_us>", ")", "[0-9.]+", "\n", "\n\n", "k", "M", ",", "*", "(?i)"],
        start: || Ok(Box::new(tool_output)),
    },
    Subject {
        name: "packed-column",
        examples: &["ACDegBhB2Hgkh9B", "gggggggB", "AAAA"],
        words: &["g", "A", "B", "/", "+", "="],
        start: || Ok(Box::new(report::fuzzing::vlq)),
    },
    Subject {
        name: "result",
        examples: &[include_str!("../../../crates/report/tests/schema_1/result.json")],
        words: &["{", "}", "[", "]", ",", ":", "null", "\"\"", "-1", "1e308", "0", "true"],
        start: || Ok(Box::new(report::fuzzing::document)),
    },
    Subject {
        name: "load-claims",
        examples: &[
            include_str!("../../../crates/report/tests/witness/wrk.txt"),
            include_str!("../../../crates/report/tests/witness/ab.txt"),
            include_str!("../../../crates/report/tests/witness/hey.txt"),
            include_str!("../../../crates/report/tests/witness/h2load.txt"),
            include_str!("../../../crates/report/tests/witness/vegeta.txt"),
            include_str!("../../../crates/report/tests/witness/vegeta.json"),
            include_str!("../../../crates/report/tests/witness/bombardier.txt"),
            include_str!("../../../crates/report/tests/witness/bombardier.json"),
            include_str!("../../../crates/report/tests/witness/k6.json"),
            "Type,Name,Request Count,Failure Count,Requests/s,50%,99%\n,Aggregated,100,2,10.01,5,130\n",
            "{\"summary\":{\"requestsPerSec\":1.5,\"total\":2},\"statusCodeDistribution\":{\"200\":3}}",
        ],
        words: &[
            "ms",
            "us",
            "1m",
            "1e308",
            "-1",
            "NaN",
            "%",
            "\n",
            "[",
            "]",
            ":",
            "\"",
            "{",
            "}",
            ",",
            "KB",
            "requests in ",
        ],
        start: || Ok(Box::new(report::fuzzing::claims)),
    },
    Subject {
        name: "witness",
        examples: &[include_str!("../../../crates/report/tests/witness/witness.json")],
        words: &["{", "}", "[", "]", ",", ":", "null", "\"\"", "-1", "1e308", "0", "true", "18446744073709551615"],
        start: || Ok(Box::new(report::fuzzing::witness)),
    },
    Subject {
        name: "fleet-message",
        examples: &["\0\u{1}\u{2}\u{3}", "\u{1}\u{7}\u{3}abc", "\u{2}\u{1}\u{5}hello\0\0"],
        words: &["\0", "\u{1}", "\u{7f}", "\u{10}", "\u{5}"],
        start: || Ok(Box::new(fleet_message)),
    },
    Subject {
        name: "segment",
        examples: &["1/3:1/2\n0,1/3,1/2,1", "0.25:75%\n0,0.25,75%,1", "10%\n", "1/2"],
        words: &["/", ":", "%", ".", ",", "0", "1", "4294967295/4294967296", "\n", "-"],
        start: || Ok(Box::new(segment)),
    },
    Subject {
        name: "trace",
        examples: &[
            "0\n0.5\n1.25\n",
            "2026-01-01T00:00:00Z\n2026-01-01T00:00:01.5+01:00\n",
            "1s\n# c\n2s\n",
            "time\n1\n",
        ],
        words: &["\n", ".", "T", "Z", "-", ":", "e9", ",", "ms", "#"],
        start: || Ok(Box::new(trace)),
    },
    Subject {
        name: "date",
        examples: &["2026-01-01T00:00:00Z", "2026-12-31 23:59:60.123456789+14:00", "0001-01-01t00:00:00z"],
        words: &["-", ":", "T", "Z", "+", ".", "0000", "9999", "60", "24:00"],
        start: || Ok(Box::new(date_text)),
    },
    Subject {
        name: "grpc-fields",
        examples: &["1S", "99999999H", "AP8", "5\nnot%20found%", "not-a%zz", "{\"name\":\"x\",\"number\":\"7\"}"],
        words: &["S", "m", "H", "%", "%F", "=", "\n", "{", "}", "\"", "1e400", "-1"],
        start: || Ok(Box::new(grpc_fields)),
    },
];

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// A plan is checked down to every run; what is wrong has a place in its text, or at least words.
fn matrix_plan(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    for plan in [plan::from_toml("plan.toml", &text), plan::from_json("plan.js", &text)] {
        match plan {
            Err(why) if why.is_empty() => return Err(String::from("an error without a text")),
            Err(_) => {}
            Ok(plan) => match Matrix::new(plan) {
                Err(problem) if problem.shown("plan.toml", &text).is_empty() => {
                    return Err(String::from("a problem without a text"));
                }
                Err(_) => {}
                Ok(matrix) => {
                    let order = matrix.order();
                    if order != matrix.order() {
                        return Err(String::from("an order that changes"));
                    }
                }
            },
        }
    }
    Ok(())
}

fn conditions(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let said = [Condition::parse(&text).err(), Wanted::parse(&text).err()];
    match said.into_iter().flatten().find(String::is_empty) {
        Some(_) => Err(String::from("an error without a text")),
        None => Ok(()),
    }
}

fn stats(input: &[u8]) -> Result<(), String> {
    match server_stats::read(&text(input)) {
        Ok(reading) if reading.values.is_empty() => Err(String::from("a reading without values")),
        Err(why) if why.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// Expressions up to an empty line, then what a tool printed.
fn tool_output(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let (expressions, output) = text.split_once("\n\n").unwrap_or((&text, ""));
    let expressions: Vec<String> = expressions.lines().map(str::to_owned).collect();
    match (figures::check(&expressions), figures::read(output, &expressions)) {
        (Err(why), _) | (_, Err(why)) if why.is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// Messages of agents and coordinators, and the ends of agents' journals: what is read is written, and read again, as
/// the same.
fn fleet_message(input: &[u8]) -> Result<(), String> {
    fn round<T: Serialize + DeserializeOwned>(input: &[u8]) -> Result<(), String> {
        let Ok(read) = message::decode::<T>(input) else { return Ok(()) };
        let written = message::encode(&read);
        let again: T = message::decode(&written).map_err(|why| format!("cannot read its own {written:?}: {why}"))?;
        if message::encode(&again) == written { Ok(()) } else { Err(format!("{written:?} is written differently")) }
    }
    round::<Report>(input)?;
    round::<Order>(input)?;
    let _ = (PartEnd::read(input), EndedLoad::read(input), LoadOrder::read(input), Token::parse(&text(input)));
    Ok(())
}

/// A segment and a sequence: what it gives to a test and takes back fits together.
fn segment(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let (segment, sequence) = text.split_once('\n').unwrap_or((&text, ""));
    let sequence = Sequence::parse(sequence).ok();
    let Ok(segment) = Segment::parse(segment) else { return Ok(()) };
    let Ok(stripes) = Stripes::new(Some(segment), sequence.as_ref()) else { return Ok(()) };
    for n in [0, 1, 7, 1_000, 1 << 40] {
        if stripes.scale(n) > n {
            return Err(format!("{text:?} gives {} of {n}", stripes.scale(n)));
        }
    }
    if (0.0..=1.0).contains(&stripes.share()) { Ok(()) } else { Err(format!("a share of {}", stripes.share())) }
}

fn trace(input: &[u8]) -> Result<(), String> {
    let json = serde_json::json!({ "a": { "executor": "trace", "file": "t", "preAllocatedVUs": 1, "maxVUs": 2 } });
    let mut scenarios = engine::scenario::Scenarios::from_json(&json).map_err(|error| error.to_string())?;
    let text = text(input);
    match scenarios.read_traces(|_| Ok(text.clone())) {
        Err(error) if error.to_string().is_empty() => Err(String::from("an error without a text")),
        _ => Ok(()),
    }
}

/// A date that is read, shown to the second, reads as the same second.
fn date_text(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let Some(ns) = date::rfc3339_ns(&text) else { return Ok(()) };
    let second = i64::try_from(ns.div_euclid(1_000_000_000)).map_err(|error| error.to_string())?;
    let Some(shown) = date::rfc3339_at(second) else { return Ok(()) };
    match date::rfc3339_ns(&shown) {
        Some(again) if again.div_euclid(1_000_000_000) == i128::from(second) => Ok(()),
        other => Err(format!("{text:?} is {ns} ns, shown as {shown}, which reads as {other:?}")),
    }
}

/// Fields of calls: timeouts, binary metadata, status and message, system tags.
fn grpc_fields(input: &[u8]) -> Result<(), String> {
    use grpc::{Status, metadata};
    if metadata::decode_binary(metadata::encode_binary(input).as_bytes()) != input {
        return Err(String::from("binary metadata comes back as something else"));
    }
    let _ = (metadata::parse_timeout(input), metadata::decode_binary(input));
    let text = text(input);
    let (code, said) = text.split_once('\n').unwrap_or((&text, ""));
    if let Some(status) = Status::from_fields(Some(code.as_bytes()), Some(said.as_bytes())) {
        let escaped = status.escaped_message();
        let again = Status::from_fields(Some(code.as_bytes()), Some(escaped.as_bytes()));
        if again.as_ref().map(|again| &again.message) != Some(&status.message) {
            return Err(format!("{status:?} is sent as {escaped:?}, which reads as {again:?}"));
        }
    }
    let _ = SystemTags::parse(text.split(','));
    Ok(())
}
