//! Resident memory and time of virtual users: `cargo run --release -p onrush-script --example memory -- 1000 [script
//! [iterations]]`.
//!
//! Prints a line after loading, after making the users and after the iterations of each (1). Linux only
//! (/proc/self/statm).

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Iteration, Users, VirtualUser, VuContext};
use script::{LoadOptions, Program, ScriptUsers, Source};

#[global_allocator]
static ALLOCATOR: host::allocator::RustAllocator = host::allocator::RustAllocator;

const SCRIPT: &str = "import http from 'k6/http'; import { check } from 'k6';
    export default function () { const r = http.get(__ENV.TARGET); check(r, { ok: (r) => r.status == 200 }) }";

fn resident_kib() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4
}

/// Resident part of all mappings that are as large as a coroutine's stack.
fn stacks_kib() -> u64 {
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let number = |line: &str| line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (mut is_stack, mut sum) = (false, 0);
    for line in smaps.lines() {
        if line.starts_with("Size:") {
            is_stack = number(line) == 1024;
        } else if line.starts_with("Rss:") && is_stack {
            sum += number(line);
        }
    }
    sum
}

fn main() {
    let mut args = std::env::args().skip(1);
    let count: u64 = args.next().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let script =
        args.next().map_or_else(|| SCRIPT.to_string(), |path| std::fs::read_to_string(path).expect("readable"));
    let iterations: u64 = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let runtime = wire::event_loop().expect("a runtime");
    runtime.block_on(async {
        let registry = metrics::Registry::new();
        let recorder = Rc::new(metrics::Recorder::new(registry.clone()));
        let load = LoadOptions {
            env: std::env::vars().collect(),
            cwd: std::env::current_dir().expect("a directory"),
            cache_dir: None,
            is_offline: false,
            options: Default::default(),
            log: Arc::new(script::log::Silent),
            registry,
            recorder: recorder.clone(),
            builtins: &onrush_modules::BUILTINS,
            secrets: Default::default(),
            debugger: None,
        };
        let program = Program::load(Source::Text { name: "-".into(), text: script }, load).await.expect("loads");
        let users = ScriptUsers::new(&program);
        let before = resident_kib();
        let began = Instant::now();
        let mut all = Vec::new();
        let outside = VuContext::outside(recorder.clone(), Arc::default(), engine::clock::AnyClock::real());
        for id in 1..=count {
            let interrupt = Rc::default();
            let seat = VuContext { id_in_instance: id, id_in_test: id, interrupt, ..outside.clone() };
            all.push(users.create(seat).await.expect("init code runs"));
        }
        let report = |what: &str| {
            let each = (resident_kib() - before) / count;
            println!("{what}: {each} KiB a user, {:?} a user", began.elapsed() / count as u32);
        };
        report("made");
        let scenario = Rc::new(engine::scenario::ScenarioInfo {
            index: 0,
            name: "default".into(),
            executor: "constant-vus",
            exec: "default".into(),
            env: Default::default(),
            tags: Default::default(),
            started: Duration::ZERO,
            is_planned: false,
            share: engine::scenario::WorkerShare::ALL,
        });
        for in_scenario in 0..iterations {
            for user in &mut all {
                let planned = Duration::ZERO;
                user.iterate(Iteration { scenario: scenario.clone(), in_scenario, number: None, planned }).await;
            }
        }
        report("ran");
        println!("stacks: {} KiB a user", stacks_kib() / count);
    });
}
