//! What is counted: a script or a server, and how much of it.

use crate::callgrind::Event;

/// A workload that is counted by callgrind.
pub(crate) struct Workload {
    /// Its name on the command line and in the budgets.
    pub(crate) name: &'static str,
    /// What the figure is for.
    pub(crate) unit: &'static str,
    pub(crate) event: Event,
    pub(crate) users: u32,
    pub(crate) script: &'static str,
    pub(crate) counted: Counted,
    pub(crate) amount: Amount,
    /// The lower and the higher count: start and end of a run cost the same in both, within a million
    /// instructions. So the two runs differ by a hundred million or more, and none takes longer than some seconds.
    pub(crate) counts: (u32, u32),
    pub(crate) carrier: Carrier,
}

/// Which end runs under valgrind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// `onrush run`.
    Generator,
    /// `onrush serve`, which answers by its routes.
    Routes,
    /// `onrush serve app.js`.
    App,
}

/// What carries the requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// HTTP/1.1.
    Plain,
    /// HTTP/1.1 over TLS.
    Tls,
    /// HTTP/2 over TLS.
    Http2,
}

impl Carrier {
    pub(crate) fn is_tls(self) -> bool {
        self != Carrier::Plain
    }

    /// The variable that keeps the generator from choosing HTTP/2.
    pub(crate) fn environment(self) -> Option<(&'static str, &'static str)> {
        (self != Carrier::Http2).then_some(("GODEBUG", "http2client=0"))
    }
}

/// What the counts are counts of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Iterations of all users together.
    Iterations,
    /// Messages of each user, in one iteration each.
    Messages,
    /// Iterations that start at a rate that the script sets.
    Scheduled,
}

/// Users of most workloads.
pub(crate) const USERS: u32 = 64;

/// The app that answers for `Counted::App`.
pub(crate) const APP: &str = include_str!("../scripts/app.js");

const GET: Workload = Workload {
    name: "get",
    unit: "iteration",
    event: Event::Instructions,
    users: USERS,
    script: include_str!("../scripts/get.js"),
    counted: Counted::Generator,
    amount: Amount::Iterations,
    counts: (2_000, 14_000),
    carrier: Carrier::Plain,
};

const CHECK: Workload = Workload { name: "check", script: include_str!("../scripts/check.js"), ..GET };

pub(crate) const WORKLOADS: [Workload; 20] = [
    GET,
    CHECK,
    Workload { name: "get-tls", counts: (2_000, 10_000), carrier: Carrier::Tls, ..GET },
    Workload { name: "get-h2", counts: (2_000, 10_000), carrier: Carrier::Http2, ..GET },
    Workload { name: "grpc", unit: "call", script: include_str!("../scripts/grpc.js"), counts: (2_000, 8_000), ..GET },
    Workload { name: "post", script: include_str!("../scripts/post.js"), counts: (1_000, 5_000), ..GET },
    Workload { name: "json", script: include_str!("../scripts/json.js"), counts: (1_000, 5_000), ..GET },
    Workload { name: "batch", script: include_str!("../scripts/batch.js"), counts: (500, 3_500), ..GET },
    Workload { name: "groups", script: include_str!("../scripts/groups.js"), counts: (1_000, 6_000), ..GET },
    Workload { name: "form-data", script: include_str!("../scripts/form.js"), counts: (500, 3_500), ..GET },
    Workload { name: "http-file", script: include_str!("../scripts/file.js"), counts: (500, 3_500), ..GET },
    Workload { name: "stream-1m", script: include_str!("../scripts/stream.js"), counts: (500, 4_500), ..GET },
    Workload {
        name: "ws",
        unit: "message and echo",
        script: include_str!("../scripts/ws.js"),
        amount: Amount::Messages,
        counts: (100, 400),
        ..GET
    },
    Workload {
        name: "websockets",
        unit: "message and echo",
        script: include_str!("../scripts/websockets.js"),
        amount: Amount::Messages,
        counts: (100, 400),
        ..GET
    },
    Workload {
        name: "rate",
        script: include_str!("../scripts/rate.js"),
        amount: Amount::Scheduled,
        counts: (800, 4_000),
        ..GET
    },
    Workload { name: "serve-route", unit: "request", counted: Counted::Routes, ..GET },
    Workload { name: "serve-app", unit: "request", counted: Counted::App, ..GET },
    Workload { name: "code-misses-get", event: Event::CodeMisses, ..GET },
    Workload { name: "code-misses-check", event: Event::CodeMisses, ..CHECK },
    // More users than the caches have room for.
    Workload { name: "lines-250-get", event: Event::DataMisses, users: 250, ..GET },
];

impl Workload {
    /// How many units the higher count has more than the lower.
    pub(crate) fn difference(&self) -> u64 {
        let more = u64::from(self.counts.1 - self.counts.0);
        match self.amount {
            Amount::Iterations | Amount::Scheduled => more,
            Amount::Messages => more * u64::from(self.users),
        }
    }

    /// The flags of `onrush run` for one of the counts.
    pub(crate) fn flags(&self, count: u32) -> Vec<String> {
        let users = self.users.to_string();
        match self.amount {
            Amount::Iterations => vec!["-u".into(), users, "-i".into(), count.to_string()],
            Amount::Messages => {
                vec!["-u".into(), users.clone(), "-i".into(), users, "-e".into(), format!("MESSAGES={count}")]
            }
            Amount::Scheduled => vec!["-e".into(), format!("ITERATIONS={count}")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_names_of_their_own_and_those_of_caches_the_script_they_are_named_after() {
        fn named(name: &str) -> impl Iterator<Item = &Workload> {
            WORKLOADS.iter().filter(move |workload| workload.name == name)
        }
        assert!(WORKLOADS.iter().all(|workload| named(workload.name).count() == 1));
        for (name, event, users) in [
            ("code-misses-get", Event::CodeMisses, USERS),
            ("code-misses-check", Event::CodeMisses, USERS),
            ("lines-250-get", Event::DataMisses, 250),
        ] {
            let found = named(name).next().expect("it is there");
            let plain = name.rsplit('-').next().and_then(|plain| named(plain).next()).expect("it has a plain one");
            assert_eq!((found.event, found.users, found.script), (event, users, plain.script), "{name}");
            assert_eq!(found.flags(7), ["-u", &users.to_string(), "-i", "7"], "{name}");
        }
    }
}
