//! Heavier suites than `cargo test`: what needs another program, or minutes.
//!
//! ```text
//! cargo xtask tidy [TEXT…]      tell what breaks the rules of the source: circles, lengths, names, boundaries
//! cargo xtask mutants [SUBJECT…] change the code at random and count the changes that a crate's own tests catch
//! cargo xtask cost [NAME…]      count instructions, system calls and memory, and compare them with their budgets
//! cargo xtask parity [NAME…]    run the same scripts under k6 and Onrush and compare what they report
//! cargo xtask libraries --tree DIR run generated calls of each library against the real file, in Onrush and in k6
//! cargo xtask forms [SEED]      send generated forms and have them read by parsers of other languages
//! cargo xtask curl              send the commands of a table with curl and with `onrush curl`, and compare the bytes
//! cargo xtask convert [PART…]   convert a recording of 200 MB and thousands of public files, and run scripts by k6
//! cargo xtask fuzz [SUBJECT…]   feed spoiled inputs to the parsers it lists until something gives
//! cargo xtask timing            compare timings with known delays, on an idle and on a busy generator
//! cargo xtask truth [--full] [CASE…] hold what a run says against a referee in C: freezes, delays, counts, verdicts
//! cargo xtask book              check the links of all pages and build the book of docs/
//! cargo xtask browser           make reports of real runs and look at them in chromium
//! cargo xtask stats             simulate sets of runs and see that comparisons keep their promises
//! cargo xtask conformance       run other people's suites: Autobahn, h2spec, the web platform's of URLs, Wycheproof
//! cargo xtask grpc              run the interoperability cases of gRPC against gRPC for Go
//! cargo xtask connect           run cases of the Connect protocol with Connect for Go, in both roles
//! cargo xtask outputs           send a run to receivers of Prometheus, InfluxDB, OTLP and statsd and compare
//! cargo xtask socketio          run the test script of onrush/socketio against npm's socket.io server
//! cargo xtask extensions [NAME…] run the test scripts of k6/x/… against real servers
//! cargo xtask fleet simulate    put coordinator and agents through losses, restarts and partitions in simulated time
//! cargo xtask fleet kube [CASE…] run what `onrush k8s` prints by Kubernetes' own control plane
//! cargo xtask image BINARY      write the image of a container, and try it out
//! cargo xtask dist [BINARY]     make archives and packages of a binary, and install them
//! cargo xtask types             check what `onrush types` and `onrush new` write with TypeScript's compiler
//! ```
//!
//! Each command is one file. None is part of `cargo test`, which must pass on a machine that has nothing but Rust.

mod book;
mod browser;
mod conformance;
mod connect;
mod convert;
mod curl;
mod daemon;
mod dist;
mod extensions;
mod fleet;
mod forms;
mod fuzz;
mod go;
mod grpc;
mod image;
mod libraries;
mod npm;
mod outputs;
mod parity;
mod programs;
mod receivers;
mod socketio;
mod stats;
mod timing;
mod truth;
mod types;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy [--all] [--shrink] [TEXT…]
       cargo xtask mutants [--seed N] [--count N] [--part K/N] [--match TEXT] [--list] [SUBJECT…]
       cargo xtask cost [--write] [NAME…]
       cargo xtask parity [NAME…]
       cargo xtask libraries --tree DIR [--seed N] [--count N] [NAME…]
       cargo xtask forms [SEED]
       cargo xtask curl [--record]
       cargo xtask convert [large] [public] [k6]
       cargo xtask fuzz [--seconds N] [--seed N] [--patience N] [SUBJECT…]
       cargo xtask timing
       cargo xtask truth [--full] [CASE…]
       cargo xtask book
       cargo xtask browser
       cargo xtask stats [SETS [SEED]]
       cargo xtask conformance [autobahn [client|server] [CASE…] | h2spec [SECTION…] | url | wycheproof]
       cargo xtask grpc
       cargo xtask connect
       cargo xtask outputs
       cargo xtask socketio
       cargo xtask extensions [NAME…]
       cargo xtask fleet simulate [SEEDS [FIRST]]
       cargo xtask fleet kube [CASE…]
       cargo xtask image BINARY [--out DIR] [--tag TAG] [--certificates FILE] [--shell BUSYBOX] [--check]
       cargo xtask dist [BINARY] [--out DIR] [--url URL] [--check]
       cargo xtask dist --ready TAG
       cargo xtask types

tidy     reads the source and tells what breaks its rules; TEXT picks findings that contain it. --all tells what
         xtask/tidy/allow.txt allows, too; --shrink takes out of that list what is no longer needed.
mutants  makes --count changes (100) drawn by --seed (1) in a copy of each SUBJECT (metrics, engine, report, codecs),
         runs the crate's own tests on each, and fails when they catch less than 90 % of those that compile. --part
         2/5 makes the second fifth of them; --match makes all whose name contains TEXT; --list names them and makes
         none. xtask/mutants/equivalent.txt excuses, with reasons. Installs cargo-mutants in target/tools.
cost     counts what an iteration of a script or a request of a server costs: user instructions with valgrind, system
         calls with strace, and the bytes of a user that waits. Fails when a figure is 2 % beyond its budget in
         xtask/cost/budgets.txt; --write writes what it counts there. NAME picks figures. Builds for release unless
         $ONRUSH names a binary.
parity   runs the scripts of tests/parity, the examples and every module's test.js under k6 and Onrush and compares
         metric names, tags, counts, checks, groups, summary keys, lines of JSON and CSV, errors, console lines and exit
         codes. NAME picks scripts whose path contains it. k6 is taken from $K6, else from PATH.
libraries runs --count (100) generated calls of each export of each built-in library and version against ours and
         against the real file in DIR, a checkout of grafana/jslib.k6.io, in Onrush and in k6, and compares values,
         messages, checks, groups and metrics. --seed (1) makes other calls; NAME picks addresses that contain it. k6 is
         taken from $K6, else from PATH; without it its half is left out.
forms    sends generated multipart forms in every way a script can, and compares what Python, Node and Go read in
         them. Needs two of the three.
curl     sends each command of crates/cli/tests/curl/requests.txt with curl and with `onrush curl`, and compares
         method, target, headers and body; --record writes the table anew. Needs curl and bash.
convert  large: converts a recording of 200 MB in 100. public: fetches packages of npm and PyPI, converts each file of
         theirs and runs the script. k6: converts the requests of the tests from every format, has k6 run the scripts
         and compares what it sends; k6 is taken from $K6, else from PATH.
fuzz     reads spoiled inputs for so many seconds in all (60) and keeps those that panic, hang for longer than the
         patience (10 seconds), overflow the stack or break a promise, in target/fuzz. SUBJECT is one of url,
         set-cookie, threshold, tag-filter, duration, options, script, response, request, websocket,
         http2, har, openapi, postman, jmeter, targets, access-log, wrk.
timing   prints by how much the timings of requests with known delays are off, idle and beside a user that computes,
         and fails when a median is off by more than a millisecond.
truth    runs Onrush against a server in C that keeps an account of its own, spoils runs in every way it can, and
         prints what was said beside what is true; fails when a row misses its limit. CASE picks cases whose name
         contains it; --full takes larger samples and more cases, 45 minutes. Needs cc, OpenSSL's headers
         and two cores that nobody else uses. Builds for release unless $ONRUSH names a binary.
book     checks that links between pages lead somewhere and that docs/SUMMARY.md lists every page of docs/, then
         builds the book into target/book. A warning of mdbook fails it. Compiles mdbook the first time, with the
         crates registry.
browser  opens reports of two real runs, and the page of a third, in headless chromium, by day, by night and as
         narrow as a phone, and fails on script errors, requests to a network, charts that are not drawn; leaves
         pictures in target/browser. Needs chromium          ($CHROMIUM, else PATH).
stats    simulates SETS (10000) pairs of sets for each distribution of noise, and fails when false alarms of `onrush
         compare` exceed 5 % or its 95 % intervals cover the truth in less than 93 % or more than 97 %.
conformance runs Autobahn|Testsuite (WebSocket) against the client and the target's server, ten minutes each; CASE
         picks          some (`12.*`). Needs Python 3 and 2.7, and the package index the first time. h2spec (HTTP/2)
         against the target over tcp and          TLS, strictly, in a few seconds; SECTION picks some (`http2/6.5`).
         Needs Go, and its module proxy the first time.
grpc     runs the cases of gRPC's interoperability list that apply against gRPC for Go, in cleartext and over TLS,
         and prints one line a case. Skipped without Go; needs its module proxy the first time.
connect  runs calls of the Connect protocol between Onrush and Connect for Go, each in both roles, by HTTP/1.1 and
         HTTP/2. Needs Go.
outputs  sends one run to Prometheus, InfluxDB 1, the OpenTelemetry collector's and statsd_exporter's own code, and
         compares sums and counts with the lines of JSON; then asks the queries of the dashboard. Needs Go.
socketio runs the test script of onrush/socketio against npm's socket.io server. Skipped without Node and npm; needs
         npm's registry the first time.
extensions runs the test scripts of the extensions (redis) against real servers, which it starts. Those that are not
         installed are skipped.
fleet    simulate: runs coordinator and agents with SEEDS (100000) seeds in simulated time, with broken connections,
         stopped, killed and restarted agents, partitions and coordinators that are killed, and fails when an agent
         begins twice, a second is counted twice or is missing in silence, or a clock is outside of its bound. FIRST
         (0) is the first seed.
         kube: runs what `onrush k8s` prints by Kubernetes' own control plane, with Pods as processes of this machine:
         agents that are killed, a node that crashes, suspension. Needs etcd, kube-apiserver, kube-controller-manager
         and kubectl in $ENGINES/bin.
image    writes the image of a container with BINARY, called onrush and k6, into DIR (target/image): an OCI image
         layout, for skopeo and others to copy to a registry. It brings the libraries that ldd names and the trust
         anchors of this machine, or FILE; --shell adds a static busybox, which the operator of k6 needs. --check
         unpacks it and runs it under chroot.
dist     makes what is handed out of BINARY (target/dist/onrush, by `cargo build --profile dist -p onrush-cli`) into DIR
         (target/packages): an archive, a Debian package, a wheel, npm packages, CycloneDX, checksums, and with --url
         URL, where they will be, a formula for Homebrew. --check installs each that can be installed here and runs
         the README's command with it. Needs binutils. --ready makes nothing: it fails while TAG is not the version, or
         a name is missing that only a releaser knows ([workspace.metadata.release] of Cargo.toml).
types    checks what `onrush types` and `onrush new` write, and the examples, with TypeScript's compiler. Skipped
         without Node and npm; needs npm's registry the first time.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_deref() {
        Some("tidy") => tidy(&rest),
        Some("mutants") => parity::workspace().and_then(|root| mutants::run(&root, &rest)),
        Some("cost") => parity::workspace().and_then(|root| cost::run(&root, &parity::build_release(&root)?, &rest)),
        Some("parity") => parity::run(&rest),
        Some("libraries") => libraries::run(&rest),
        Some("forms") => forms::run(&rest),
        Some("curl") => curl::run(&rest),
        Some("convert") => convert::run(&rest),
        Some("fuzz") => fuzz::run(&rest),
        Some("truth") => parity::workspace().and_then(|root| truth::run(&parity::build_release(&root)?, &root, &rest)),
        Some("timing") => parity::workspace().and_then(|root| timing::run(&parity::build_onrush(&root)?)),
        Some("book") => book::run(),
        Some("browser") => parity::workspace().and_then(|root| browser::run(&parity::build_onrush(&root)?)),
        Some("stats") => stats::run(&rest),
        Some("conformance") => conformance::run(&rest),
        Some("grpc") => grpc::run(&rest),
        Some("connect") => connect::run(&rest),
        Some("outputs") => outputs::run(&rest),
        Some("socketio") => socketio::run(&rest),
        Some("extensions") => extensions::run(&rest),
        Some("fleet") => fleet::run(&rest),
        Some("image") => image::run(&rest),
        Some("dist") => dist::run(&rest),
        Some("types") => types::run(&rest),
        Some("fuzz-child") => fuzz::run_child(&rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn tidy(arguments: &[String]) -> Result<(), String> {
    let (report, broken) = tidy::run(&parity::workspace()?, arguments)?;
    if broken {
        return Err(report);
    }
    print!("{report}");
    Ok(())
}
