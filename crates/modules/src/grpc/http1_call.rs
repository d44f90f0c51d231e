//! A call of Connect as a request of HTTP/1.1: what is sent is gathered until its end, what comes is told as it
//! arrives.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use wire::client::{CallEvent, Fields};
use wire::request::{Auth, BodySink, BodyUse};
use wire::{Body, Client, Exchange, FailureKind, Method, Payload, Request, Response, Segment, Url};

/// What makes requests of calls.
pub struct Http1Head {
    /// Where to.
    pub url: Url,
    /// The fields but those of HTTP itself.
    pub fields: Rc<[(String, String)]>,
}

/// What arrived and was not told yet.
#[derive(Default)]
struct ArrivedEvents {
    events: RefCell<VecDeque<CallEvent>>,
    last: Cell<Option<Instant>>,
}

impl BodySink for ArrivedEvents {
    fn begin(&self, answer: &Response) -> bool {
        self.events.borrow_mut().push_back(head_of(answer, false));
        true
    }

    fn take(&self, bytes: &[u8]) {
        self.events.borrow_mut().push_back(CallEvent::Data(Bytes::copy_from_slice(bytes)));
    }

    fn arrived(&self, at: Instant) {
        self.last.set(Some(at));
    }

    /// Whoever polls the call takes all that came and then polls the request again: nobody has to be woken.
    fn poll_ready(&self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        if self.events.borrow().is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

/// `is_decoded`: its content coding was undone.
fn head_of(answer: &Response, is_decoded: bool) -> CallEvent {
    let of_coding = |name: &str| is_decoded && name.eq_ignore_ascii_case("content-encoding");
    let fields = Fields::of(answer.headers().filter(|(name, _)| !of_coding(name)));
    CallEvent::Head { status: answer.status, fields, end: false }
}

/// A call.
pub struct Http1Call {
    client: Rc<Client>,
    request: Option<Request>,
    gathered: Vec<Bytes>,
    ends: bool,
    arrived: Rc<ArrivedEvents>,
    running: Option<Pin<Box<dyn Future<Output = Box<Exchange>>>>>,
    counts: (u64, u64),
}

impl Http1Call {
    /// A call that is sent once all of it is there.
    pub fn new(client: &Rc<Client>, head: &Http1Head, timeout: Option<Duration>) -> Http1Call {
        let arrived: Rc<ArrivedEvents> = Rc::default();
        let request = Request {
            method: Method::Post,
            url: head.url.clone(),
            headers: Rc::clone(&head.fields),
            cookies: Rc::from([]),
            body: None,
            timeout,
            max_redirects: 0,
            auth: Auth::FromUserinfo,
            body_use: BodyUse::Stream(Rc::clone(&arrived) as Rc<dyn BodySink>),
            prior_knowledge: false,
            tls: None,
        };
        Http1Call {
            client: Rc::clone(client),
            request: Some(request),
            gathered: Vec::new(),
            ends: false,
            arrived,
            running: None,
            counts: (0, 0),
        }
    }

    /// Adds bytes. `end`: they are the last, and the request goes out.
    pub fn send(&mut self, bytes: Bytes, end: bool) {
        if !bytes.is_empty() {
            self.gathered.push(bytes);
        }
        self.ends |= end;
    }

    /// When the last arrival reached this machine, in nanoseconds since 1970.
    pub fn arrived_ns(&self) -> u64 {
        let since = self.arrived.last.get().map_or(Duration::ZERO, |last| last.elapsed());
        wire::wall_ns().saturating_sub(since.as_nanos() as u64)
    }

    /// Bytes over the network since the last call: sent, received. Known once the call is over.
    pub fn take_counts(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.counts)
    }

    /// Gives what came next. Not to be called after the end.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<CallEvent> {
        loop {
            if let Some(event) = self.arrived.events.borrow_mut().pop_front() {
                return Poll::Ready(event);
            }
            if self.ends
                && let Some(request) = self.request.take()
            {
                self.begin(request);
            }
            let Some(running) = &mut self.running else { return Poll::Pending };
            match running.as_mut().poll(cx) {
                Poll::Ready(exchange) => {
                    self.running = None;
                    self.finish(*exchange);
                }
                Poll::Pending if self.arrived.events.borrow().is_empty() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }

    fn begin(&mut self, mut request: Request) {
        let mut body = Payload::empty();
        self.gathered.drain(..).for_each(|bytes| body.push(Segment::Shared(bytes)));
        request.body = Some(body);
        let client = Rc::clone(&self.client);
        self.running = Some(Box::pin(async move { client.send(&request, None, &mut |_| {}).await }));
    }

    fn finish(&mut self, exchange: Exchange) {
        self.counts = (exchange.bytes_sent, exchange.bytes_received);
        let mut events = self.arrived.events.borrow_mut();
        match exchange.outcome {
            Ok(answer) => {
                // The sink takes answers that went well alone.
                match &answer.body {
                    Body::Discarded(_) => {}
                    Body::Kept(bytes) => {
                        events.push_back(head_of(&answer, true));
                        events.push_back(CallEvent::Data(bytes.to_bytes()));
                    }
                    Body::None => events.push_back(head_of(&answer, true)),
                }
                events.push_back(CallEvent::End);
            }
            Err(failure) if failure.kind == FailureKind::Timeout => events.push_back(CallEvent::TimedOut),
            Err(failure) => events.push_back(CallEvent::Failed(failure)),
        }
    }
}
