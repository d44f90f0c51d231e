//! `--out statsd`: counters, gauges and timings by UDP.
//!
//! Counters and rates are added up between two reports and gauges keep their last value: their cost does not follow the
//! rate of requests. The protocol has nothing for a distribution, so each value of a trend is a line. What UDP loses on
//! the way nobody counts; what this machine refuses is counted.

use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use metrics::batches::SeriesTags;
use metrics::{Kind, Registry};

use crate::catalog::Take;
use crate::feed::Running;
use crate::push::{self, Courier, Form, Parcel, Schedule};
use crate::setup::Setup;
use crate::text::push_plain;
use crate::variables::Variables;

/// What fits into a packet of an Ethernet.
const DATAGRAM: usize = 1432;
/// Bytes of lines that wait.
const ROOM: usize = 8 << 20;
/// Bytes that are sent at once.
const PIECE: usize = 256 << 10;

/// Starts it. `argument`: the address, if it is given.
pub(crate) fn open(argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    let given = Variables::new("K6_STATSD_", setup.env);
    let (name, address) = match argument {
        "" => ("K6_STATSD_ADDR", given.text("ADDR").unwrap_or("localhost:8125")),
        address => ("the address", address),
    };
    let found = address.to_socket_addrs();
    let found = found.map_err(|error| format!("{name}: found '{address}', expected HOST:PORT: {error}"))?;
    let address = found.into_iter().next().ok_or_else(|| format!("{name}: '{address}' has no address"))?;
    given.count("BUFFER_SIZE", 1)?;
    if let Some(value) = given.text("BUFFER_SIZE") {
        setup.note_unused("statsd", "K6_STATSD_BUFFER_SIZE", value, "lines are put together for a whole interval");
    }
    let blocked = given.text("TAG_BLOCKLIST").unwrap_or("vu,iter,url").split(',').map(|tag| tag.trim().to_owned());
    let form = Reports {
        registry: setup.registry.clone(),
        namespace: given.text("NAMESPACE").unwrap_or("k6.").to_owned(),
        blocked: given.switch("ENABLE_TAGS")?.then(|| blocked.collect()),
        series: Vec::new(),
        lines: Vec::new(),
        count: 0,
    };
    let every = given.span("PUSH_INTERVAL", Duration::from_secs(1))?;
    let schedule = Schedule { name: "statsd", unit: "lines", every };
    push::start(schedule, setup.tell.clone(), form, move || Packets::new(address))
}

struct Reports {
    registry: Arc<Registry>,
    namespace: String,
    /// Tags that are left out; none: all are.
    blocked: Option<Vec<String>>,
    series: Vec<StatsdSeries>,
    lines: Vec<u8>,
    count: u64,
}

struct StatsdSeries {
    kind: Kind,
    /// A line up to its value and behind it; of a rate those of what passed, and those of what did not.
    lines: Vec<(String, String)>,
    /// Since the last report: a sum, the last value, or how many passed and failed.
    values: [f64; 2],
    last_ns: u64,
    is_fresh: bool,
}

impl Take for Reports {
    fn meet(&mut self, series: &SeriesTags) {
        let metric = self.registry.definition(series.metric);
        let check = series.tags.iter().find(|(key, _)| &**key == "check").map(|(_, value)| plain(value));
        let names = match (metric.kind, check) {
            (Kind::Rate, Some(check)) => vec![format!("check.{check}.pass"), format!("check.{check}.fail")],
            // As k6 has it, a rate that is no check counts what passed.
            _ => vec![metric.name.to_string()],
        };
        let letter = match metric.kind {
            Kind::Counter | Kind::Rate => "c",
            Kind::Gauge => "g",
            Kind::Trend => "ms",
        };
        let tail = format!("|{letter}{}\n", self.tags(series));
        let lines = names.into_iter().map(|name| (format!("{}{name}:", self.namespace), tail.clone())).collect();
        self.series.push(StatsdSeries { kind: metric.kind, lines, values: [0.0; 2], last_ns: 0, is_fresh: false });
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        let series = &mut self.series[series as usize];
        series.is_fresh = true;
        match series.kind {
            Kind::Counter => series.values[0] += value,
            Kind::Gauge if at_ns >= series.last_ns => (series.values[0], series.last_ns) = (value, at_ns),
            Kind::Gauge => {}
            Kind::Rate => series.values[usize::from(value == 0.0)] += 1.0,
            Kind::Trend => {
                let (head, tail) = &series.lines[0];
                push_line(&mut self.lines, head, value, tail);
                self.count += 1;
            }
        }
    }
}

impl Reports {
    fn tags(&self, series: &SeriesTags) -> String {
        let Some(blocked) = &self.blocked else { return String::new() };
        let kept = series.tags.iter().filter(|(key, value)| !value.is_empty() && !blocked.iter().any(|b| **b == **key));
        let tags: Vec<String> = kept.map(|(key, value)| format!("{}:{}", plain(key), plain(value))).collect();
        if tags.is_empty() { String::new() } else { format!("|#{}", tags.join(",")) }
    }
}

impl Form for Reports {
    fn parcel(&mut self, _is_last: bool) -> Option<Parcel> {
        for series in &mut self.series {
            if !std::mem::take(&mut series.is_fresh) || series.kind == Kind::Trend {
                continue;
            }
            for ((head, tail), value) in series.lines.iter().zip(&mut series.values) {
                if series.kind != Kind::Rate || *value != 0.0 {
                    push_line(&mut self.lines, head, *value, tail);
                    self.count += 1;
                }
                *value = 0.0;
            }
        }
        let (body, count) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.count));
        (count > 0).then_some(Parcel { body, count })
    }

    fn is_ripe(&self) -> bool {
        self.lines.len() >= PIECE
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= ROOM
    }
}

fn push_line(lines: &mut Vec<u8>, head: &str, value: f64, tail: &str) {
    lines.extend_from_slice(head.as_bytes());
    push_plain(lines, value);
    lines.extend_from_slice(tail.as_bytes());
}

/// Without what has a meaning in a line.
fn plain(text: &str) -> String {
    text.chars().map(|char| if ":|@#,\n".contains(char) { '_' } else { char }).collect()
}

struct Packets {
    socket: tokio::net::UdpSocket,
    address: SocketAddr,
}

impl Packets {
    fn new(address: SocketAddr) -> Result<Packets, String> {
        let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let open = || -> std::io::Result<tokio::net::UdpSocket> {
            let socket = UdpSocket::bind(any)?;
            // Connected, so that the kernel tells when nobody listens there.
            socket.connect(address)?;
            socket.set_nonblocking(true)?;
            tokio::net::UdpSocket::from_std(socket)
        };
        Ok(Packets { socket: open().map_err(|error| format!("{address}: {error}"))?, address })
    }
}

impl Courier for Packets {
    async fn send(&self, lines: Vec<u8>) -> Result<(), String> {
        let mut failed = None;
        for packet in packets(&lines) {
            // The rest is sent all the same: the next packet may find somebody.
            failed = self.socket.send(packet).await.err().or(failed);
        }
        // The kernel tells of a packet that nobody took after it was sent.
        failed = failed.or_else(|| self.socket.take_error().ok().flatten());
        failed.map_or(Ok(()), |error| Err(format!("{}: {error}", self.address)))
    }
}

/// Whole lines, as many as fit into a packet.
fn packets(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let fits = &rest[..rest.len().min(DATAGRAM)];
        let is_end = |byte: &u8| *byte == b'\n';
        let line = || rest.iter().position(is_end).map_or(rest.len(), |at| at + 1);
        let end = fits.iter().rposition(is_end).map_or_else(line, |at| at + 1);
        let (packet, behind) = rest.split_at(end);
        rest = behind;
        let is_one_line = || packet.iter().rev().skip(1).all(|byte| *byte != b'\n');
        debug_assert!(!packet.is_empty() && (end <= DATAGRAM || is_one_line()), "a packet of {end} bytes");
        Some(packet.strip_suffix(b"\n").unwrap_or(packet))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_whole_lines() {
        let line = [&[b'x'; 500][..], b"\n"].concat();
        let long = [&[b'y'; 2_000][..], b"\n"].concat();
        let lines = [line.clone(), line.clone(), line.clone(), long, b"z\n".to_vec()].concat();
        let sizes: Vec<usize> = packets(&lines).map(<[u8]>::len).collect();
        assert_eq!(sizes, [1001, 500, 2_000, 1]);
        assert_eq!(packets(b"").count(), 0);
    }
}
