//! The suites, in the order in which they are shown. A new one is a row here.

use super::Runner::{Ci, Nightly, Nobody};
use super::{NightlyJob, SuiteRow};
use crate::{
    book, browser, conformance, connect, convert, curl, dist, extensions, fleet, forms, grpc, image, libraries,
    outputs, parity, programs, sanitize, soak, socketio, stats, test262, timing, truth, types, witness, world,
};

/// A job of the nightly script that needs nothing but Rust.
const fn job(arguments: &'static str, minutes: u32) -> NightlyJob {
    NightlyJob { arguments, minutes, needs: &[] }
}

const fn job_with(arguments: &'static str, minutes: u32, needs: &'static [&'static str]) -> NightlyJob {
    NightlyJob { arguments, minutes, needs }
}

const CONTROL_PLANE: &[&str] = &[
    "$ENGINES/bin/etcd",
    "$ENGINES/bin/kube-apiserver",
    "$ENGINES/bin/kube-controller-manager",
    "$ENGINES/bin/kubectl",
];

/// All of them.
pub(super) const SUITES: &[SuiteRow] = &[
    SuiteRow {
        name: "tidy",
        arguments: &["[--all] [--shrink] [TEXT…]"],
        does: "tells what breaks the rules of the source: circles, lengths, names, boundaries",
        when: "you want to know before `.ci/run`; `cargo run -q -p tidy` compiles nothing else",
        help: "TEXT picks findings that contain it. --all tells what xtask/tidy/allow.txt allows, too; --shrink takes \
               out of that list what is no longer needed.",
        runner: Ci("cargo run --quiet --package tidy"),
        run: tidy,
    },
    SuiteRow {
        name: "suites",
        arguments: &["[--write | --nightly]"],
        does: "shows this list with who runs each suite",
        when: "you added a suite",
        help: "--write puts the list into CONTRIBUTING.md. --nightly prints the jobs of .ci/nightly: minutes, programs \
               that the job needs, and its command, with tabs between.",
        runner: Nobody("it tests nothing, and a test of xtask keeps the page fresh"),
        run: super::run,
    },
    SuiteRow {
        name: "mutants",
        arguments: &["[--seed N] [--count N] [--part K/N] [--match TEXT] [--list] [SUBJECT…]"],
        does: "changes the code at random and counts the changes that a crate's own tests catch",
        when: "you changed metrics, engine, report, journal, a codec or the exchange of `wire`, or their tests",
        help: "Makes --count changes (100) drawn by --seed (1) in a copy of each SUBJECT (metrics, engine, report, \
               journal, codecs, wire), runs the crate's own tests on each, and fails when they catch less than 92 % of \
               those that compile. --part 2/5 makes the second fifth of them; --match makes all whose name contains \
               TEXT; --list names them and makes none. xtask/mutants/equivalent.txt excuses, with reasons. Installs \
               cargo-mutants in target/tools.",
        runner: Nightly(&[job("--seed $MUTANTS_SEED", 360)]),
        run: |words| mutants::run(&parity::workspace()?, words),
    },
    SuiteRow {
        name: "faults",
        arguments: &["[--seed N] [--count N] [--jobs N] [--workload NAME] [--only POINT] [allocations | calls]"],
        does: "has an allocation or a system call fail in each of thousands of runs, and holds what comes of it to \
               what Onrush promises",
        when: "you changed what happens when something fails, or added a place that allocates or calls the system",
        help: "Refuses --count (20000) allocations, drawn by --seed (1), one in each run of a second: Rust's and \
               QuickJS's, in requests, WebSockets, uploads, fleets, reports and comparisons. Then each place that \
               calls the system gets each error that the call may have, at most --count of each workload. A run has to \
               end, with words and a documented exit code; what it saved has to be readable, and the target has to \
               have counted the same. --jobs (8) runs at once; --only repeats what a line of target/faults/broken.txt \
               names. Builds Onrush with the feature 'faults' unless $ONRUSH names such a binary. Needs cc and x86-64.",
        runner: Nightly(&[job_with("", 120, &["cc"])]),
        run: |words| faults::run(&parity::workspace()?, words),
    },
    SuiteRow {
        name: "cost",
        arguments: &["[--write] [NAME…]"],
        does: "counts instructions, misses of simulated caches, system calls and the memory of a user, and compares \
               them with their budgets",
        when: "you changed what each request runs through",
        help: "Counts what an iteration of a script or a request of a server costs: user instructions with valgrind, \
               system calls with strace, and the bytes of a user that waits. Fails when a figure is 4 % beyond its \
               budget in xtask/cost/budgets.txt; --write writes what it counts there. NAME picks figures. Builds for \
               release unless $ONRUSH names a binary. Needs valgrind.",
        runner: Ci("--package xtask -- cost"),
        run: |words| {
            let root = parity::workspace()?;
            cost::run(&root, &parity::build_release(&root)?, words)
        },
    },
    SuiteRow {
        name: "truth",
        arguments: &["[--full] [CASE…]"],
        does: "holds what runs say against the account of a server in C: freezes, known delays, counts, punctual \
               starts, a stepped clock, verdicts",
        when: "you changed the clock, the request path, arrivals, counts or the verdict",
        help: "Runs Onrush against a server in C that keeps an account of its own, spoils runs in every way it can, \
               and prints what was said beside what is true; fails when a row misses its limit. CASE picks cases whose \
               name contains it; three minutes. --full takes larger samples and more cases, 45 minutes. Needs cc, \
               OpenSSL's headers and two idle cores. Builds for release unless $ONRUSH names a binary.",
        runner: Nightly(&[job_with("--full", 120, &["cc", "/usr/include/openssl/ssl.h"])]),
        run: |words| {
            let root = parity::workspace()?;
            truth::run(&parity::build_release(&root)?, &root, words)
        },
    },
    SuiteRow {
        name: "parity",
        arguments: &["[NAME…]"],
        does: "runs the same scripts under k6 and under Onrush and compares what they report",
        when: "you changed behaviour",
        help: "Runs the scripts of tests/parity, the examples and every module's test.js, and compares metric names, \
               tags, counts, checks, groups, summary keys, lines of JSON and CSV, errors, console lines and exit \
               codes. NAME picks scripts whose path contains it. k6 is taken from $K6, else from PATH.",
        runner: Nightly(&[job_with("", 60, &["k6"])]),
        run: parity::run,
    },
    SuiteRow {
        name: "k6-watch",
        arguments: &["[--k6 BINARY]"],
        does: "holds what the newest k6 has (commands, flags, variables, options, exports) against what Onrush has or \
               refuses",
        when: "a version of k6 has come, or you changed what of k6 is obeyed or refused",
        help: "Builds the newest k6 that the Go proxy serves in target/k6-watch, or takes BINARY, and reads its help, \
               what `inspect` shows, what modules export, and names in its sources. A name that Onrush neither obeys \
               nor refuses by name must have a row in xtask/k6-watch/explained.txt. Needs go, unless BINARY is given.",
        runner: Nightly(&[job_with("", 30, &["go"])]),
        run: |words| k6_watch::run(&parity::workspace()?, &programs::onrush()?, words),
    },
    SuiteRow {
        name: "libraries",
        arguments: &["--tree DIR [--seed N] [--count N] [NAME…]"],
        does: "runs generated calls of every export of every built-in library against the real file, in Onrush and in \
               k6",
        when: "you changed a library in `libraries`, `form_data` or `url_library` of `crates/modules/src`",
        help: "Runs --count (100) generated calls of each export of each built-in library and version against ours and \
               against the real file in DIR, a checkout of grafana/jslib.k6.io, and compares values, messages, checks, \
               groups and metrics. --seed (1) makes other calls; NAME picks addresses that contain it. k6 is taken \
               from $K6, else from PATH; without it its half is left out.",
        runner: Nightly(&[job_with("--tree $JSLIB", 60, &["$JSLIB"])]),
        run: libraries::run,
    },
    SuiteRow {
        name: "timing",
        arguments: &[""],
        does: "compares timings with known delays, on an idle and on a busy generator",
        when: "you changed the clock or the request path",
        help: "Prints by how much the timings of requests with known delays are off, idle and next to a user that \
               computes, and fails when a median is off by more than a millisecond.",
        runner: Nightly(&[job("", 30)]),
        run: |_| timing::run(&parity::build_onrush(&parity::workspace()?)?),
    },
    SuiteRow {
        name: "witness",
        arguments: &["[--onrush PATH] [--page FILE] [TOOL…]"],
        does: "puts load tools on trial: what each prints beside what its target saw, with a steady target and one \
               that stands still for a second",
        when: "you changed what `onrush serve --witness` keeps, how `onrush witness` judges, or what a summary says",
        help: "Runs wrk, wrk2, k6, oha, vegeta, hey, bombardier, ab, h2load and Onrush, those that are in $PEERS/bin \
               or PATH, for at most ten seconds each against 'onrush serve --witness'; TOOL picks by name. Fails when \
               a figure of Onrush is not true. --page writes the page of bench/results. Takes $ONRUSH, PATH of \
               --onrush, or a release build. Three to four minutes; needs an idle machine.",
        runner: Nightly(&[job("", 15)]),
        run: witness::run,
    },
    SuiteRow {
        name: "browser",
        arguments: &[""],
        does: "opens reports of real runs in headless chromium, and in Firefox where it is installed, and leaves \
               pictures and prints",
        when: "you changed a report",
        help: "Opens reports of two real runs, and the page of a third, by day, by night and as narrow as a phone, and \
               fails on script errors, requests to a network, and charts that are not drawn; leaves pictures in \
               target/browser. With npm, axe-core looks too. Needs chromium ($CHROMIUM, else PATH).",
        runner: Ci("--package xtask -- browser"),
        run: |_| browser::run(&parity::build_onrush(&parity::workspace()?)?),
    },
    SuiteRow {
        name: "book",
        arguments: &[""],
        does: "checks all links and builds the book of `docs/`",
        when: "you changed a page",
        help: "Checks that links between pages lead somewhere and that docs/SUMMARY.md lists every page of docs/, then \
               builds the book into target/book. A warning of mdbook fails it. Compiles mdbook the first time, with \
               the crates registry.",
        runner: Ci("--package xtask -- book"),
        run: |_| book::run(),
    },
    SuiteRow {
        name: "fuzz",
        arguments: &["[--guided] [--seconds N] [--seed N] [--patience N] [SUBJECT…]"],
        does: "feeds spoiled inputs to the readers of foreign text and bytes, which `xtask/fuzz/parsers.txt` lists \
               with their subjects",
        when: "you changed a reader, or added one",
        help: "Reads spoiled inputs for so many seconds in all (60) and keeps those that panic, hang for longer than \
               the patience (10 seconds), overflow the stack or break a promise, in target/fuzz/corpus/SUBJECT, where \
               the next run begins. With --guided libFuzzer chooses the inputs by the code that they reach, and keeps \
               what reached more there; that builds a program of its own, which takes minutes and a C++ compiler. An \
               unknown SUBJECT is answered with the list of them.",
        runner: Nightly(&[job("--seconds 1800 --seed $RANDOM", 45), job_with("--guided --seconds 1800", 60, &["c++"])]),
        run: fuzz::run,
    },
    SuiteRow {
        name: "stats",
        arguments: &["[SETS [SEED]]"],
        does: "simulates sets of runs with known truths and checks that comparisons keep their promises",
        when: "you changed the statistics",
        help: "Simulates SETS (10000) pairs of sets for each distribution of noise, and fails when false alarms of \
               `onrush compare` exceed 5 % or its 95 % intervals cover the truth in less than 93 % or more than 97 %.",
        runner: Nightly(&[job("", 60)]),
        run: stats::run,
    },
    SuiteRow {
        name: "conformance",
        arguments: &["[autobahn [client|server] [CASE…] | h2spec [SECTION…] | url | wycheproof]"],
        does: "runs Autobahn (WebSocket), h2spec (HTTP/2), the web platform's tests of URLs, and Wycheproof \
               (`crypto.subtle`)",
        when: "you changed a protocol, URLs of scripts, or their cryptography",
        help: "Autobahn|Testsuite runs against the client and the target's server, ten minutes each; CASE picks some \
               (`12.*`). It needs Python 3 and 2.7, and the package index the first time. h2spec runs against the \
               target over tcp and TLS, strictly, in a few seconds; SECTION picks some (`http2/6.5`). It needs Go, and \
               its module proxy the first time.",
        runner: Nightly(&[
            job("url", 15),
            job("wycheproof", 15),
            job_with("h2spec", 15, &["go"]),
            job_with("autobahn", 60, &["python3", "python2.7"]),
        ]),
        run: conformance::run,
    },
    SuiteRow {
        name: "test262",
        arguments: &["--suite DIR [--threads N] [FOLDER…]"],
        does: "runs ECMAScript's own tests on QuickJS with our patches and without them, and compares",
        when: "you changed `crates/host/quickjs`, or the version of the engine",
        help: "DIR is a checkout of tc39/test262. Builds the engine's own runner twice into target/test262, runs the \
               suite with --threads (as many as there are processors), and fails when a test has another result with \
               the patches than without. FOLDER picks a folder of DIR/test: `language/expressions`. Ten minutes on two \
               processors. Needs a C compiler.",
        runner: Nightly(&[job_with("--suite $TEST262", 60, &["$TEST262", "cc"])]),
        run: test262::run,
    },
    SuiteRow {
        name: "grpc",
        arguments: &[""],
        does: "runs gRPC's interoperability cases against gRPC for Go",
        when: "you changed gRPC or HTTP/2",
        help: "Runs the cases of gRPC's interoperability list that apply, in cleartext and over TLS, and prints one \
               line a case. Skipped without Go; needs its module proxy the first time.",
        runner: Nightly(&[job_with("", 15, &["go"])]),
        run: grpc::run,
    },
    SuiteRow {
        name: "connect",
        arguments: &[""],
        does: "runs calls of the Connect protocol with Connect for Go, in both roles",
        when: "you changed gRPC, or the server's gRPC",
        help: "Runs calls by HTTP/1.1 and HTTP/2. Needs Go, and its module proxy the first time.",
        runner: Nightly(&[job_with("", 15, &["go"])]),
        run: connect::run,
    },
    SuiteRow {
        name: "outputs",
        arguments: &[""],
        does: "sends a run to Prometheus, InfluxDB 1, OpenTelemetry's and statsd_exporter's own code, and compares",
        when: "you changed an output",
        help: "Compares sums and counts with the lines of JSON; then asks the queries of the dashboard. Needs Go, and \
               its module proxy and some minutes the first time.",
        runner: Nightly(&[job_with("", 60, &["go"])]),
        run: outputs::run,
    },
    SuiteRow {
        name: "sanitize",
        arguments: &["[address | undefined | interleavings]… [-- ARGUMENTS OF cargo test]"],
        does: "runs the tests of the script host and its modules under the address sanitizer, and with an engine in C \
               that stops at undefined behaviour; tries every order of the steps of threads that wake users of another",
        when: "you changed `unsafe` code, a patch of the engine, or how users of other threads are woken",
        help: "Compiles into target/sanitize, some minutes each. Behind -- stand other packages and tests, such as \
               '-p onrush-cli --features full,system-allocator' for the program as a black box. Needs gcc's libubsan.",
        runner: Nightly(&[job("", 90)]),
        run: sanitize::run,
    },
    SuiteRow {
        name: "soak",
        arguments: &["HOURS"],
        does: "watches a run of hours: memory, descriptors, threads, and whether all starts were made",
        when: "you changed what a run keeps: caches, free lists, series, outputs, the journal",
        help: "Runs requests over kept and new connections, WebSockets, two outputs and --save for HOURS (2, 0.1) \
               against a target of its own, and fails when memory of either grows by more than a MiB an hour after \
               the first quarter, when descriptors or threads become more, or when starts are missing.",
        runner: Nightly(&[job("2", 150)]),
        run: soak::run,
    },
    SuiteRow {
        name: "socketio",
        arguments: &[""],
        does: "runs the test script of `onrush/socketio` against npm's socket.io server",
        when: "you changed Socket.IO",
        help: "Skipped without Node and npm; needs npm's registry the first time.",
        runner: Nightly(&[job_with("", 15, &["node", "npm"])]),
        run: socketio::run,
    },
    SuiteRow {
        name: "types",
        arguments: &[""],
        does: "checks the declarations, examples and templates with TypeScript",
        when: "you changed a `types.d.ts`",
        help: "Checks what `onrush types` and `onrush new` write, and the examples, with TypeScript's compiler. \
               Skipped without Node and npm; needs npm's registry the first time.",
        runner: Nightly(&[job_with("", 15, &["node", "npm"])]),
        run: types::run,
    },
    SuiteRow {
        name: "extensions",
        arguments: &["[NAME…]"],
        does: "runs the test scripts of `k6/x/…` against real servers (bind, MariaDB, mosquitto, PostgreSQL, redis, \
               Kafka by its Go stand-in)",
        when: "you changed an extension, or the streams of `wire`",
        help: "It starts the servers. Those that are not installed are skipped by name.",
        runner: Nightly(&[job("", 30)]),
        run: extensions::run,
    },
    SuiteRow {
        name: "fleet simulate",
        arguments: &["[SEEDS [FIRST]]"],
        does: "puts coordinator and agents through losses, restarts and partitions in simulated time",
        when: "you changed `crates/fleet`; `cargo test` tries 400 seeds",
        help: "Runs SEEDS (100000) seeds, 100 to 350 a second, with broken connections, stopped, killed and restarted \
               agents, partitions and coordinators that are killed, and fails when an agent begins twice, a second is \
               counted twice or is missing in silence, or a clock is outside of its bound. FIRST (0) is the first \
               seed.",
        runner: Nightly(&[job("", 45)]),
        run: fleet::simulate::run,
    },
    SuiteRow {
        name: "world",
        arguments: &["[--seeds N] [--first N] [--seed N]"],
        does: "runs engine, client, recorder, journal and outputs in simulated time, over a network and a disk where \
               anything can go wrong",
        when: "you changed the engine, HTTP/1.1 of a client, recorders, the journal or files of samples; `cargo test` \
               tries 300 seeds",
        help: "Runs --seeds (100000) worlds from --first (0) on, or --seed alone: scenarios of each executor, \
               latencies, refused and unanswered dials, resets, silence, closes, early, cut and unasked answers, short \
               reads and writes, busy event loops, jumps of the wall clock, stops, kills of the process, full disks. \
               Fails when a count or a time is not that of the world, a failure has a cause that the world does not \
               have, an answer belongs to another request, or a journal or a file of samples is not what was \
               measured. Builds with the profile `quick`.",
        runner: Nightly(&[job("", 45)]),
        run: world::run,
    },
    SuiteRow {
        name: "fleet crowd",
        arguments: &["[AGENTS [SECONDS]]"],
        does: "measures a coordinator of a thousand agents that one process plays: its CPU, its memory, the age of \
               what it shows",
        when: "you changed the coordinator, or what a second costs",
        help: "Takes two minutes. AGENTS and SECONDS make it smaller or longer.",
        runner: Nightly(&[job_with("", 20, &["taskset"])]),
        run: fleet::crowd::run,
    },
    SuiteRow {
        name: "fleet objects",
        arguments: &[""],
        does: "runs a fleet over a real S3 gateway, which stands still, is killed, and is raced for",
        when: "you changed the backing of objects",
        help: "Takes two minutes. Needs versitygw in $ENGINES/bin (/opt/engines/bin).",
        runner: Nightly(&[job_with("", 15, &["$ENGINES/bin/versitygw"])]),
        run: |_| fleet::outages::objects(),
    },
    SuiteRow {
        name: "fleet nats",
        arguments: &[""],
        does: "runs a fleet over a real cluster of brokers, which stand still, are killed, and are raced for",
        when: "you changed the backing of NATS",
        help: "Takes two minutes. Needs nats-server in $ENGINES/bin (/opt/engines/bin).",
        runner: Nightly(&[job_with("", 15, &["$ENGINES/bin/nats-server"])]),
        run: |_| fleet::outages::nats(),
    },
    SuiteRow {
        name: "fleet kube",
        arguments: &["[CASE…]"],
        does: "runs what `onrush k8s` prints by Kubernetes' own control plane, with Pods as processes: killed agents, \
               a crashed node, suspension",
        when: "you changed the objects, agents, or their exit codes",
        help: "CASE picks cases whose name contains it. Needs etcd, kube-apiserver, kube-controller-manager and \
               kubectl in $ENGINES/bin (/opt/engines/bin).",
        runner: Nightly(&[job_with("", 45, CONTROL_PLANE)]),
        run: fleet::kube::run,
    },
    SuiteRow {
        name: "forms",
        arguments: &["[SEED]"],
        does: "sends generated multipart forms and has them read by parsers of other languages",
        when: "you changed forms or files of `k6/http`",
        help: "Sends them in every way a script can, and compares what Python, Node and Go read in them. Needs two of \
               the three.",
        runner: Nightly(&[job_with("", 15, &["python3"])]),
        run: forms::run,
    },
    SuiteRow {
        name: "curl",
        arguments: &["[--record]"],
        does: "sends the commands of a table with curl and with `onrush curl`, and compares the bytes",
        when: "you changed `crates/cli/src/curl`",
        help: "Sends each command of crates/cli/tests/curl/requests.txt and compares method, target, headers and body; \
               --record writes the table anew. Needs curl and bash.",
        runner: Nightly(&[job_with("", 15, &["curl"])]),
        run: curl::run,
    },
    SuiteRow {
        name: "convert",
        arguments: &["[large] [public] [k6] [newman]"],
        does: "converts a recording of 200 MB and thousands of public files of npm and PyPI, runs converted scripts by \
               k6, and compares collections with newman",
        when: "you changed `crates/convert`",
        help: "large: converts a recording of 200 MB in 100. public: fetches packages of npm and PyPI, converts each \
               file of theirs and runs the script. k6: converts the requests of the tests from every format, has k6 \
               run the scripts and compares what it sends; k6 is taken from $K6, else from PATH. newman: compares what \
               newman sends for collections.",
        runner: Nightly(&[
            job("large", 15),
            job_with("public", 60, &["npm", "python3"]),
            job_with("k6", 15, &["k6"]),
            job_with("newman", 15, &["node", "npm"]),
        ]),
        run: convert::run,
    },
    SuiteRow {
        name: "dist",
        arguments: &["[BINARY] [--out DIR] [--url URL] [--check]", "--ready TAG"],
        does: "makes packages of a binary and, with `--check`, installs them: archive, deb, wheel, npm; runs the \
               black-box tests with what is shipped",
        when: "you changed what is handed out, or what a package has inside",
        help: "Makes what is handed out of BINARY (target/dist/onrush, by \
               `cargo build --profile dist -p onrush-cli --features full`) into DIR (target/packages): an archive, a \
               Debian package, a wheel, npm packages, CycloneDX, checksums, and with --url URL, where they will be, a \
               formula for Homebrew. --check installs each that can be installed here and runs the README's command \
               with it. Needs binutils. --ready makes nothing: it fails while TAG is not the version, or a name is \
               missing that only a releaser knows ([workspace.metadata.release] of Cargo.toml).",
        runner: Nightly(&[job_with("--check", 60, &["target/dist/onrush", "objdump"])]),
        run: dist::run,
    },
    SuiteRow {
        name: "image",
        arguments: &["BINARY [--out DIR] [--tag TAG] [--certificates FILE] [--shell BUSYBOX] [--check]"],
        does: "writes the image of a container, and with `--check` runs it under chroot",
        when: "you changed what the binary needs of a system",
        help: "Writes the image with BINARY, called onrush and k6, into DIR (target/image): an OCI image layout, for \
               skopeo and others to copy to a registry. It brings the libraries that ldd names and the trust anchors \
               of this machine, or FILE; --shell adds a static busybox, which the operator of k6 needs. --check \
               unpacks it and runs it under chroot, which needs root.",
        runner: Nightly(&[job_with("target/dist/onrush --check", 15, &["target/dist/onrush", "root"])]),
        run: image::run,
    },
];

fn tidy(arguments: &[String]) -> Result<(), String> {
    let (report, broken) = tidy::run(&parity::workspace()?, arguments)?;
    if broken {
        return Err(report);
    }
    print!("{report}");
    Ok(())
}
