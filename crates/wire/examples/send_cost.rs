//! What sending costs: `cargo run --release -p onrush-wire --example send_cost -- URL [USERS] [SECONDS]`.
//!
//! So many users send GETs to the URL on one thread, each on a connection of its own, one after the other, without
//! scripts and metrics: the price of the client and its event loop alone. Prints requests, and microseconds of CPU time
//! for each. Figures for comparing one build with another on the same machine; nothing is asserted.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onrush_wire::request::{Auth, BodyUse};
use onrush_wire::settings::TlsSettings;
use onrush_wire::{Client, ClientContext, Method, Request, Settings, Url};
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("usage: send_cost URL [USERS] [SECONDS]");
    let users: usize = arguments.next().map_or(64, |text| text.parse().expect("a number of users"));
    let seconds: f64 = arguments.next().map_or(3.0, |text| text.parse().expect("a number of seconds"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (count, failed) = (Rc::new(Cell::new(0u64)), Rc::new(Cell::new(0u64)));
    let started = (Instant::now(), cpu_us());
    let all = tokio::task::LocalSet::new();
    all.block_on(&runtime, async {
        let tls = TlsSettings { insecure_skip_verify: true, ..TlsSettings::default() };
        let settings = Settings { tls, ..Settings::default() };
        let worker = ClientContext::new(Arc::new(settings)).expect("default settings work");
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let request = plain_get(Url::parse(&url).expect("a URL"));
        let user = |client: Client| {
            let (request, count, failed) = (request.clone(), Rc::clone(&count), Rc::clone(&failed));
            tokio::task::spawn_local(async move {
                while Instant::now() < end {
                    let exchange = client.send(&request, None, &mut |_| {}).await;
                    count.set(count.get() + 1);
                    failed.set(failed.get() + u64::from(exchange.outcome.is_err()));
                }
            })
        };
        let users: Vec<_> = (0..users).map(|_| user(Client::new(Rc::clone(&worker)))).collect();
        for user in users {
            user.await.expect("a user that ends");
        }
    });
    let (took, count) = (started.0.elapsed().as_secs_f64(), count.get());
    let us = (cpu_us() - started.1) / count as f64;
    println!("{count} requests, {} failed, {:.0}/s, {us:.2} µs of CPU each", failed.get(), count as f64 / took);
}

fn plain_get(url: Url) -> Request {
    Request {
        method: Method::Get,
        url,
        headers: Rc::new([]),
        cookies: Rc::new([]),
        body: None,
        timeout: Some(Duration::from_secs(60)),
        max_redirects: 10,
        auth: Auth::FromUserinfo,
        body_use: BodyUse::Keep,
        prior_knowledge: false,
    }
}

fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}
