//! How much load a quick run makes, as options of a test: users for a time, a number of requests, a rate, or a ramp.
//!
//! Without a word it is wrk's: ten users for ten seconds. Users are connections: each sends its next request when the
//! last one is answered (a closed loop); with a rate requests start on schedule, whatever the server does (an open
//! one). With streams, so many users share each connection.

use serde_json::{Value, json};
use units::Span;

use crate::curl::flag::Act;
use crate::curl::letter::is_duration;
use crate::curl::line::Given;

const USERS: u64 = 10;
const TIME: &str = "10s";

/// The load, in the order given it does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    vus: Option<u64>,
    duration: Option<String>,
    requests: Option<u64>,
    rate: Option<Rate>,
    streams: Option<u64>,
    stages: Vec<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rate {
    count: u64,
    unit: &'static str,
    per_second: f64,
}

impl Traffic {
    /// What the flags say.
    pub fn of(given: &[Given]) -> Result<Traffic, String> {
        let mut traffic = Traffic::default();
        for flag in given {
            match flag.act {
                Act::Vus => traffic.vus = Some(whole(flag)?),
                Act::Requests => traffic.requests = Some(whole(flag)?),
                Act::Duration => traffic.duration = Some(duration(flag)?),
                Act::Rate => traffic.rate = Some(rate(flag)?),
                Act::Streams => traffic.streams = Some(whole(flag)?),
                Act::Stage => traffic.stages.extend(stages(flag)?),
                _ => {}
            }
        }
        traffic.check()?;
        Ok(traffic)
    }

    fn check(&self) -> Result<(), String> {
        let ramp = !self.stages.is_empty();
        if self.rate.is_some() && self.requests.is_some() {
            return Err("--rate and --requests: a rate needs a time; write --duration instead of --requests".into());
        }
        if ramp && (self.rate.is_some() || self.requests.is_some() || self.duration.is_some()) {
            return Err("--stage has times and users already; leave --duration, --requests and --rate out".into());
        }
        if ramp && self.streams.is_some() {
            return Err("--stage and --streams: a ramp has no fixed number of connections; write a script with the \
                        option 'http2'"
                .into());
        }
        match (self.users(), self.requests) {
            (Some(users), Some(requests)) if requests < users => {
                let flags = if self.streams.is_some() { "--vus × --streams" } else { "--vus" };
                Err(format!("--requests {requests}: expected at least as many as {flags} ({users})"))
            }
            _ => Ok(()),
        }
    }

    /// Users, if the flags say how many: with streams so many on each connection.
    fn users(&self) -> Option<u64> {
        match self.streams {
            Some(streams) => Some(self.connections().saturating_mul(streams)),
            None => self.vus,
        }
    }

    /// Connections that users share, with streams.
    fn connections(&self) -> u64 {
        self.vus.unwrap_or(USERS)
    }

    /// Variables of the environment that the flags have beaten. A schedule or a ramp would be replaced by any of them.
    pub fn unheard(&self) -> Vec<&'static str> {
        let whole = self.rate.is_some() || !self.stages.is_empty();
        let said = [
            ("K6_VUS", self.users().is_some()),
            ("K6_DURATION", self.duration.is_some()),
            ("K6_ITERATIONS", self.requests.is_some()),
            ("K6_STAGES", self.requests.is_some() || self.duration.is_some()),
        ];
        said.iter().filter(|(_, is)| *is || whole).map(|(name, _)| *name).collect()
    }

    /// Whether requests start at a rate, not when the last one is answered.
    pub fn is_scheduled(&self) -> bool {
        self.rate.is_some()
    }

    /// As options of a test: names and JavaScript.
    pub fn options(&self) -> Vec<(String, Value)> {
        let shared = self.streams.map(|streams| json!({ "connections": self.connections(), "streams": streams }));
        self.load().into_iter().chain(shared.map(|shared| (String::from("http2"), shared))).collect()
    }

    fn load(&self) -> Vec<(String, Value)> {
        let own = |name: &str, value: Value| (name.to_owned(), value);
        let duration = self.duration.clone().unwrap_or_else(|| TIME.to_owned());
        if let Some(rate) = &self.rate {
            return vec![own("scenarios", json!({ "default": self.scenario(rate, &duration) }))];
        }
        if !self.stages.is_empty() {
            let stages: Vec<Value> =
                self.stages.iter().map(|(time, vus)| json!({ "duration": time, "target": vus })).collect();
            return vec![own("vus", json!(self.vus.unwrap_or(1))), own("stages", json!(stages))];
        }
        match self.requests {
            Some(requests) => {
                let vus = self.users().unwrap_or(USERS.min(requests));
                // A script's iterations end after ten minutes; who asks for a number wants that number.
                let limit = self.duration.as_deref().unwrap_or("24h");
                vec![own("vus", json!(vus)), own("iterations", json!(requests)), own("duration", json!(limit))]
            }
            None => vec![own("vus", json!(self.users().unwrap_or(USERS))), own("duration", json!(duration))],
        }
    }

    /// Users wait ready for as many requests as are under way when each takes a hundredth of a second, and more are
    /// made up to a second's worth; what even they cannot start is counted as dropped.
    fn scenario(&self, rate: &Rate, duration: &str) -> Value {
        let ready = self.users().unwrap_or(((rate.per_second / 100.0).ceil() as u64).clamp(USERS, 100));
        let most = self.users().unwrap_or((rate.per_second.ceil() as u64).clamp(ready, 1000));
        json!({
            "executor": "constant-arrival-rate",
            "rate": rate.count,
            "timeUnit": rate.unit,
            "duration": duration,
            "preAllocatedVUs": ready,
            "maxVUs": most,
        })
    }
}

fn whole(given: &Given) -> Result<u64, String> {
    let number = given.value.trim().parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| refuse(given, "a whole number from 1 on"))
}

/// With a unit: `10` would be seconds for wrk and milliseconds for k6.
fn duration(given: &Given) -> Result<String, String> {
    let text = given.value.trim();
    if !is_duration(text) {
        return Err(refuse(given, "a time with its unit, such as 30s or 1m30s"));
    }
    let time = Span::parse(text).ok().and_then(Span::to_duration);
    // The engine refuses less as well, as k6 does.
    match time.is_some_and(|time| time >= std::time::Duration::from_secs(1)) {
        true => Ok(text.to_owned()),
        false => Err(refuse(given, "at least 1s")),
    }
}

/// `100`, `100/s`, `6000/m`.
fn rate(given: &Given) -> Result<Rate, String> {
    let (count, unit) = given.value.split_once('/').unwrap_or((&given.value, "s"));
    let count: Option<u64> = count.trim().parse().ok().filter(|count| *count > 0);
    let unit = match unit.trim() {
        "s" => Some(("1s", 1.0)),
        "m" => Some(("1m", 60.0)),
        "h" => Some(("1h", 3600.0)),
        _ => None,
    };
    match (count, unit) {
        (Some(count), Some((unit, seconds))) => Ok(Rate { count, unit, per_second: count as f64 / seconds }),
        _ => Err(refuse(given, "requests per second as 100, or per another unit as 6000/m")),
    }
}

fn stages(given: &Given) -> Result<Vec<(String, u64)>, String> {
    let one = |item: &str| {
        let (time, vus) = item.rsplit_once(':')?;
        Some((time.trim().to_owned(), vus.trim().parse().ok()?)).filter(|(time, _)| is_duration(time))
    };
    let stages: Option<Vec<_>> = given.value.split(',').map(one).collect();
    stages.ok_or_else(|| refuse(given, "TIME:VUS, as in 30s:10"))
}

fn refuse(given: &Given, expected: &str) -> String {
    format!("{} {}: expected {expected}", given.spelled, given.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(flags: &[(Act, &str)]) -> Result<String, String> {
        let given: Vec<Given> = flags
            .iter()
            .map(|(act, value)| Given { act: *act, spelled: format!("--{act:?}"), value: (*value).to_owned() })
            .collect();
        let options = Traffic::of(&given)?.options();
        Ok(options.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn loads_are_options() {
        use Act::*;
        let table: &[(&[(Act, &str)], &str)] = &[
            (&[], r#"vus 10 duration "10s""#),
            (&[(Vus, "64"), (Duration, "1m")], r#"vus 64 duration "1m""#),
            (&[(Requests, "3")], r#"vus 3 iterations 3 duration "24h""#),
            (&[(Streams, "5")], r#"vus 50 duration "10s" http2 {"connections":10,"streams":5}"#),
            (&[(Requests, "300"), (Duration, "5s")], r#"vus 10 iterations 300 duration "5s""#),
            (&[(Stage, "5s:3,1s:0")], r#"vus 1 stages [{"duration":"5s","target":3},{"duration":"1s","target":0}]"#),
        ];
        for (flags, expected) in table {
            assert_eq!(options(flags).as_deref(), Ok(*expected));
        }
        let rate = options(&[(Rate, "60000/m"), (Duration, "2s")]).expect("good");
        for part in [r#""rate":60000"#, r#""timeUnit":"1m""#, r#""preAllocatedVUs":10"#, r#""maxVUs":1000"#] {
            assert!(rate.contains(part), "{rate}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        use Act::*;
        let table: &[(&[(Act, &str)], &str)] = &[
            (&[(Duration, "10")], "expected a time with its unit"),
            (&[(Duration, "500ms")], "expected at least 1s"),
            (&[(Vus, "0")], "expected a whole number from 1 on"),
            (&[(Rate, "1.5")], "requests per second as 100"),
            (&[(Rate, "5"), (Requests, "5")], "--duration instead of --requests"),
            (&[(Vus, "5"), (Requests, "3")], "expected at least as many as --vus (5)"),
            (&[(Vus, "5"), (Streams, "2"), (Requests, "9")], "expected at least as many as --vus × --streams (10)"),
            (&[(Streams, "0")], "expected a whole number from 1 on"),
            (&[(Stage, "5s:1"), (Streams, "2")], "write a script with the option 'http2'"),
            (&[(Stage, "5")], "TIME:VUS"),
            (&[(Stage, "5s:1"), (Duration, "1s")], "leave --duration"),
        ];
        for (flags, found) in table {
            let message = options(flags).expect_err(found);
            assert!(message.contains(found), "{message}");
        }
    }
}
