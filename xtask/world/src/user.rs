//! The virtual users of a world: they send what `plan` says by the product's client, record as a script's requests are
//! recorded, and leave what each exchange said to the judge.
//!
//! What a script's user does around a request is repeated here in short, because it lies above QuickJS: the request is
//! dropped when the iteration is interrupted, and what was sent of it is counted then.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use engine::clock::Clock;
use engine::{CreateError, Iteration, IterationEnd, Progress, Users, VirtualUser, VuContext};
use metrics::{Bundle, ErrorKind, Member, Protocol, RequestKind, TagSet, builtin, ns};
use wire::cookies::CookieJar;
use wire::request::{Auth, BodyUse};
use wire::settings::StepLimits;
use wire::{Client, ClientContext, Exchange, Method, Payload, Request, Settings, Timings, Url};

use crate::case::DIAL_LIMIT;
use crate::judge::exchange::{Asked, judge};
use crate::ledger::{DiaryEntry, TIMES};
use crate::plan::{Ask, body_of};
use crate::world::World;

thread_local!(static WORKERS: RefCell<HashMap<usize, Rc<ClientContext>>> = RefCell::default());

/// Makes the users of the present world.
pub(crate) struct WorldUsers;

/// One of them, running an iteration or not.
pub(crate) struct WorldUser {
    person: Rc<Person>,
    running: Option<Pin<Box<dyn Future<Output = IterationEnd>>>>,
}

struct Person {
    seat: VuContext,
    world: Rc<World>,
    worker: Rc<ClientContext>,
    client: Client,
    jar: CookieJar,
    series: RefCell<HashMap<(u16, String, String), Bundle>>,
    data: Bundle,
}

/// Forgets the workers of the world before.
pub(crate) fn forget_workers() {
    WORKERS.with_borrow_mut(HashMap::clear);
}

fn settings(world: &World) -> Settings {
    let limit = world.case.step_limit;
    Settings {
        user_agent: String::from("world"),
        limits: StepLimits { dial: DIAL_LIMIT, write: limit, read: limit },
        no_connection_reuse: !world.case.reuses_connections,
        send_buffer: Some(0),
        ..Settings::default()
    }
}

impl Users for WorldUsers {
    type User = WorldUser;

    async fn create(&self, seat: VuContext) -> Result<WorldUser, CreateError> {
        let world = World::present();
        let make = || ClientContext::new(Arc::new(settings(&world))).expect("settings that work");
        let worker = WORKERS.with_borrow_mut(|workers| Rc::clone(workers.entry(seat.worker).or_insert_with(make)));
        let client = Client::new(Rc::clone(&worker));
        let data = [builtin::DATA_SENT, builtin::DATA_RECEIVED];
        let data = seat.recorder.bundle(&data.map(|metric| seat.recorder.series(metric, &TagSet::empty())));
        let (jar, series) = (CookieJar::default(), RefCell::default());
        Ok(WorldUser { person: Rc::new(Person { seat, world, worker, client, jar, series, data }), running: None })
    }
}

impl VirtualUser for WorldUser {
    fn begin(&mut self, iteration: Iteration) {
        self.running = Some(Box::pin(Rc::clone(&self.person).iterate(iteration)));
    }

    fn resume(&mut self, context: &mut Context<'_>) -> Progress<IterationEnd> {
        match self.running.as_mut().expect("an iteration was begun").as_mut().poll(context) {
            Poll::Ready(end) => Progress::Over(end),
            Poll::Pending => Progress::Waits,
        }
    }
}

impl Person {
    async fn iterate(self: Rc<Self>, iteration: Iteration) -> IterationEnd {
        let began = self.world.clock.now();
        let end = self.act(&iteration).await;
        let entry = DiaryEntry {
            scenario: iteration.scenario.index,
            planned: iteration.planned,
            began,
            ended: self.world.clock.now(),
            is_completed: end != IterationEnd::Interrupted,
        };
        self.world.ledger.borrow_mut().diary.push(entry);
        end
    }

    async fn act(&self, iteration: &Iteration) -> IterationEnd {
        if self.world.case.aborted_by == Some((self.seat.id_in_instance, iteration.in_scenario)) {
            return IterationEnd::abort_test(String::from("enough"));
        }
        let (requests, forgets) = self.world.draw(|random| (random.u32(1..=3), random.u32(..6) == 0));
        if forgets {
            self.client.close_idle();
        }
        for _ in 0..requests {
            let pause = self.world.draw(|random| Duration::from_micros(random.u64(5_000..160_000)));
            let clock = &self.world.clock;
            let is_over = self.unless_interrupted(clock.sleep_until(clock.now() + pause)).await.is_none();
            if is_over || !self.request().await {
                return IterationEnd::Interrupted;
            }
        }
        IterationEnd::Completed
    }

    /// Awaits; `None` when the iteration is to end before.
    async fn unless_interrupted<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.seat.interrupt.register(context.waker());
            if self.seat.interrupt.reason().is_some() {
                return Poll::Ready(None);
            }
            future.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// Sends a request to its end; false when it was cut short.
    async fn request(&self) -> bool {
        let (world, key) = (&self.world, self.world.next_key());
        let ask = Ask::of(&world.case, key);
        let request = request_of(key, &ask);
        let first = world.clock.now();
        let asked = Cell::new(first);
        let seen = |exchange: &Exchange| {
            let asked = Asked { at: asked.get(), first, ask: &ask, key };
            judge(world, exchange, &asked);
            self.record(exchange);
        };
        let mut hop = |exchange: &Exchange| {
            seen(exchange);
            asked.set(world.clock.now());
        };
        let mut exchange = Box::new(Exchange::of(&request));
        let sent = {
            let sent = pin!(self.client.send_into(&request, Some(&self.jar), &mut hop, &mut exchange));
            self.unless_interrupted(sent).await
        };
        if sent.is_some() {
            seen(&exchange);
        } else {
            // The request is dropped by now.
            self.count_cancelled();
        }
        sent.is_some()
    }

    fn count(&self, sent: u64, received: u64) {
        let told = &mut self.world.ledger.borrow_mut().told;
        (told.sent, told.received) = (told.sent + sent, told.received + received);
        self.seat.recorder.add_counts(self.data, &[sent, received], self.seat.clock.now_epoch_ns());
    }

    fn count_cancelled(&self) {
        let cancelled = self.worker.take_cancelled();
        self.count(cancelled.bytes_sent, cancelled.bytes_received);
        self.world.ledger.borrow_mut().told.interrupted += cancelled.requests;
        if cancelled.requests > 0 {
            let series = self.seat.recorder.series(builtin::HTTP_REQS_INTERRUPTED, &TagSet::empty());
            self.seat.recorder.add(series, cancelled.requests as f64, self.seat.clock.now_epoch_ns());
        }
    }

    /// Adds the samples of an exchange, in the order of those of a script's request.
    fn record(&self, exchange: &Exchange) {
        self.count(exchange.bytes_sent, exchange.bytes_received);
        let (status, error) = match &exchange.outcome {
            Ok(response) => (response.status, String::new()),
            Err(failure) => (0, failure.message.clone()),
        };
        let wanted = (status, exchange.method.as_str().to_owned(), error);
        let known = self.series.borrow().get(&wanted).copied();
        let bundle = known.unwrap_or_else(|| {
            let bundle = self.resolve(&wanted);
            self.series.borrow_mut().insert(wanted, bundle);
            bundle
        });
        let times = times_of(&exchange.timings);
        self.seat.recorder.add_durations(bundle, &times, || self.seat.clock.now_epoch_ns());
        let told = &mut self.world.ledger.borrow_mut().told;
        told.exchanges += 1;
        told.failed += u64::from(exchange.outcome.is_err());
        told.times.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }

    fn resolve(&self, (status, method, error): &(u16, String, String)) -> Bundle {
        let (recorder, failed) = (&self.seat.recorder, *status == 0 || *status >= 400);
        let tags = TagSet::new([("method", method.clone()), ("status", status.to_string())]);
        let kind = match *status {
            0 => Some(ErrorKind::NoAnswer(Arc::from(error.as_str()))),
            400.. => Some(ErrorKind::Status { status: *status, expected: false }),
            _ => None,
        };
        let requests = match kind {
            Some(kind) => recorder.series_of_error(builtin::HTTP_REQS, &tags, &kind),
            None => recorder.series(builtin::HTTP_REQS, &tags),
        };
        let row = RequestKind {
            name: Arc::from("world"),
            method: Arc::from(method.as_str()),
            protocol: Protocol::Http,
            status: *status,
            error: Arc::from(error.as_str()),
            failed,
            ..RequestKind::default()
        };
        let duration = recorder.series_of_request(TIMES[0], &tags, &row);
        let others = TIMES[1..].iter().map(|metric| recorder.series(*metric, &tags));
        let measured = [duration].into_iter().chain(others).map(Member::Measured);
        let is_failed = Member::Constant(recorder.series(builtin::HTTP_REQ_FAILED, &tags), f64::from(u8::from(failed)));
        let all = [Member::Constant(requests, 1.0)].into_iter().chain(measured).chain([is_failed]);
        recorder.bundle_of(&all.collect::<Vec<Member>>())
    }
}

/// The samples of an exchange, in the order of `TIMES`, in nanoseconds.
fn times_of(took: &Timings) -> [u64; 7] {
    [
        ns(took.duration()),
        ns(took.blocked),
        ns(took.connecting),
        ns(took.tls_handshaking),
        ns(took.sending),
        ns(took.waiting),
        ns(took.receiving),
    ]
}

fn request_of(key: u64, ask: &Ask) -> Request {
    Request {
        method: Method::of(ask.method),
        url: Url::parse(&format!("http://10.0.0.1/{key}")).expect("a url"),
        headers: Rc::default(),
        cookies: Rc::default(),
        body: ask.body.map(|size| Payload::from_bytes(body_of(key, size, false))),
        timeout: ask.timeout,
        max_redirects: ask.max_redirects,
        auth: Auth::FromUserinfo,
        body_use: if ask.is_discarded { BodyUse::Discard } else { BodyUse::Keep },
        prior_knowledge: false,
        tls: None,
    }
}
