//! Server-sent events of an answer, each given to the script as it arrives: `params.onEvent`, and `k6/x/sse`.
//!
//! Bytes reach the sink while the user is suspended, where no JavaScript can run: they become events there, and the
//! next read waits until the script has had them. So memory stays bounded and the sender slows down to the pace of the
//! script. An event's time is that of its last bytes by the kernel's stamp, however late the script gets to it. An
//! answer of another content type is an ordinary one, with its body.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use host::js::{Ctx, Error, Function, Object, Persistent, Result, Value};
use metrics::{MetricId, Series, builtin};
use wire::Response;
use wire::event_stream::{EventReader, ServerEvent};
use wire::request::BodySink;

use script::Vu;
use script::series::{SampleTags, SeriesCache};

/// The content type of a stream of events.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// Events of one or, when it is asked for again, several answers.
#[derive(Default)]
pub struct EventStream {
    state: RefCell<State>,
    /// The function of `params.onEvent`; gone once the request is being waited for.
    callback: RefCell<Option<Persistent<Function<'static>>>>,
    waker: Cell<Option<Waker>>,
    /// The script wants no more.
    is_closed: Cell<bool>,
    /// When the stream was asked for.
    asked: Cell<Option<Instant>>,
    samples: OnceCell<StreamSamples>,
}

#[derive(Default)]
struct State {
    reader: EventReader,
    waiting: VecDeque<(ServerEvent, Instant)>,
    /// Those of `waiting`, from the end, whose time of arrival is still to be told.
    untimed: usize,
    /// The answer is a stream of events, and nobody has been told yet.
    has_opened: bool,
    /// Why no more is read.
    refused: Option<String>,
    spacing: Spacing,
}

/// How the events of one answer lie in time.
#[derive(Default)]
struct Spacing {
    first: Option<Instant>,
    last: Option<Instant>,
    count: u64,
}

impl BodySink for EventStream {
    fn begin(&self, answer: &Response) -> bool {
        let is_stream = is_event_stream(answer);
        self.state.borrow_mut().has_opened = is_stream;
        is_stream
    }

    fn take(&self, bytes: &[u8]) {
        let State { reader, waiting, untimed, refused, .. } = &mut *self.state.borrow_mut();
        let now = Instant::now();
        let fed = reader.feed(bytes, |event| {
            waiting.push_back((event, now));
            *untimed += 1;
        });
        if let Err(too_large) = fed {
            *refused = Some(too_large.to_string());
        }
    }

    fn arrived(&self, at: Instant) {
        let State { waiting, untimed, .. } = &mut *self.state.borrow_mut();
        let timed = waiting.len() - std::mem::take(untimed);
        waiting.iter_mut().skip(timed).for_each(|(_, arrived)| *arrived = at);
    }

    fn has_enough(&self) -> bool {
        self.is_closed.get()
    }

    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<std::result::Result<(), String>> {
        let state = self.state.borrow();
        if let Some(why) = &state.refused {
            return Poll::Ready(Err(why.clone()));
        }
        if state.waiting.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

/// Who hears of the stream.
pub trait Listener<'js> {
    /// The answer is a stream of events.
    fn opened(&mut self, ctx: &Ctx<'js>) -> Result<()>;

    /// An event; false when no more are wanted.
    fn event(&mut self, ctx: &Ctx<'js>, event: Object<'js>) -> Result<bool>;
}

impl EventStream {
    /// The stream of `params.onEvent`.
    pub fn with_callback<'js>(ctx: &Ctx<'js>, callback: Function<'js>) -> Rc<EventStream> {
        let callback = RefCell::new(Some(Persistent::save(ctx, callback)));
        Rc::new(EventStream { callback, ..EventStream::default() })
    }

    /// The request is about to be sent.
    pub fn ask(&self) {
        let mut state = self.state.borrow_mut();
        state.reader.restart();
        state.waiting.clear();
        state.untimed = 0;
        state.spacing = Spacing::default();
        self.asked.set(Some(Instant::now()));
    }

    /// The id of the last event that had one.
    pub fn last_id(&self) -> String {
        self.state.borrow().reader.last_id().to_owned()
    }

    /// How long the server wants to be left alone before it is asked again, in milliseconds.
    pub fn retry_ms(&self) -> Option<u64> {
        self.state.borrow().reader.retry_ms()
    }

    /// The script wants no more: the answer ends here.
    pub fn close(&self) {
        self.is_closed.set(true);
        self.state.borrow_mut().waiting.clear();
        self.go_on();
    }

    /// Whether the script wants no more.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    fn refuse(&self, why: &str) {
        self.state.borrow_mut().refused = Some(String::from(why));
        self.go_on();
    }

    /// Reading goes on.
    fn go_on(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn has_news(&self) -> bool {
        let state = self.state.borrow();
        state.has_opened || !state.waiting.is_empty()
    }

    /// Waits for a request whose events go to a listener. What the listener throws ends the request, which then counts
    /// as failed, and is thrown again.
    pub fn drive<'js>(
        &self,
        (ctx, vu, tags): (&Ctx<'js>, &Vu, &SampleTags),
        mut request: Pin<&mut impl Future<Output = ()>>,
        listener: &mut impl Listener<'js>,
    ) -> Result<()> {
        let mut thrown: Option<Value<'js>> = None;
        loop {
            let next = poll_fn(|cx| match request.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending if self.has_news() => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            });
            let is_over = vu.block_on(ctx, next)?;
            match self.deliver(ctx, (vu, tags), listener) {
                Ok(()) => {}
                Err(Error::Exception) if !vu.is_leaving() => {
                    self.close();
                    self.refuse("the function that takes its events threw an error");
                    thrown.get_or_insert(ctx.catch());
                }
                Err(error) => return Err(error),
            }
            if is_over {
                self.note_rate(vu);
                return thrown.map_or(Ok(()), |error| Err(ctx.throw(error)));
            }
        }
    }

    /// The same with the function of `params.onEvent`.
    pub fn drive_callback<'js>(
        &self,
        (ctx, vu, tags): (&Ctx<'js>, &Vu, &SampleTags),
        request: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<()> {
        let callback = self.callback.take().expect("a request is waited for once").restore(ctx)?;
        self.drive((ctx, vu, tags), request, &mut Callback(callback))
    }

    /// Gives what has come to the listener.
    fn deliver<'js>(
        &self,
        ctx: &Ctx<'js>,
        (vu, tags): (&Vu, &SampleTags),
        listener: &mut impl Listener<'js>,
    ) -> Result<()> {
        if std::mem::take(&mut self.state.borrow_mut().has_opened) {
            listener.opened(ctx)?;
        }
        while !self.is_closed.get() {
            let Some((event, at)) = self.state.borrow_mut().waiting.pop_front() else { break };
            self.note(vu, tags, at);
            let since = self.asked.get().map_or(0.0, |asked| ms_between(asked, at));
            if !listener.event(ctx, event_object(ctx, &event, since)?)? {
                self.close();
            }
        }
        self.go_on();
        Ok(())
    }

    /// Records an event.
    fn note(&self, vu: &Vu, tags: &SampleTags, at: Instant) {
        let samples = self.samples.get_or_init(|| StreamSamples::of(vu, tags));
        let (now, recorder) = (vu.now_ns(), vu.recorder());
        recorder.add(samples.events, 1.0, now);
        let spacing = &mut self.state.borrow_mut().spacing;
        match (spacing.last, self.asked.get()) {
            (Some(last), _) => recorder.add(samples.gap, ms_between(last, at), now),
            (None, Some(asked)) => recorder.add(samples.first, ms_between(asked, at), now),
            (None, None) => {}
        }
        spacing.first.get_or_insert(at);
        spacing.last = Some(at);
        spacing.count += 1;
    }

    /// Records how many events a second the answer had, when that can be said.
    fn note_rate(&self, vu: &Vu) {
        let state = self.state.borrow();
        let Spacing { first: Some(first), last: Some(last), count } = state.spacing else { return };
        let seconds = last.saturating_duration_since(first).as_secs_f64();
        if let Some(samples) = self.samples.get().filter(|_| seconds > 0.0) {
            vu.recorder().add(samples.rate, (count - 1) as f64 / seconds, vu.now_ns());
        }
    }
}

fn ms_between(earlier: Instant, later: Instant) -> f64 {
    later.saturating_duration_since(earlier).as_secs_f64() * 1e3
}

/// Whether an answer says that its body is a stream of events.
pub fn is_event_stream(answer: &Response) -> bool {
    let kind = answer.header("Content-Type").unwrap_or_default();
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(CONTENT_TYPE.as_bytes())
}

struct Callback<'js>(Function<'js>);

impl<'js> Listener<'js> for Callback<'js> {
    fn opened(&mut self, _ctx: &Ctx<'js>) -> Result<()> {
        Ok(())
    }

    fn event(&mut self, _ctx: &Ctx<'js>, event: Object<'js>) -> Result<bool> {
        let wants_more: Value<'js> = self.0.call((event,))?;
        Ok(wants_more.as_bool() != Some(false))
    }
}

fn event_object<'js>(ctx: &Ctx<'js>, event: &ServerEvent, since_asked: f64) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("id", event.id.as_str())?;
    object.set("comment", event.comment.as_str())?;
    object.set("name", event.name.as_str())?;
    object.set("data", event.data.as_str())?;
    object.set("at", since_asked)?;
    Ok(object)
}

/// Where the samples of a stream go.
struct StreamSamples {
    events: Series,
    first: Series,
    gap: Series,
    rate: Series,
}

impl StreamSamples {
    fn of(vu: &Vu, tags: &SampleTags) -> StreamSamples {
        let cache = vu.worker_local::<SeriesCache>();
        let series = |metric: MetricId| cache.resolve(vu, metric, tags);
        StreamSamples {
            events: series(builtin::SSE_EVENT),
            first: series(builtin::SSE_FIRST_EVENT),
            gap: series(builtin::SSE_EVENT_GAP),
            rate: series(builtin::SSE_EVENT_RATE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn reading_waits_until_the_script_has_had_the_events() {
        let stream = EventStream::default();
        let mut cx = Context::from_waker(Waker::noop());
        stream.ask();
        stream.take(b"data: a\n\nda");
        assert_eq!(stream.poll_ready(&mut cx), Poll::Pending);
        assert!(stream.has_news());
        stream.state.borrow_mut().waiting.clear();
        assert_eq!(stream.poll_ready(&mut cx), Poll::Ready(Ok(())));
        stream.refuse("no more");
        assert_eq!(stream.poll_ready(&mut cx), Poll::Ready(Err(String::from("no more"))));
        assert!(!stream.has_enough());
        stream.close();
        assert!(stream.has_enough());
    }

    #[test]
    fn a_read_times_the_events_that_it_completed_and_no_others() {
        let stream = EventStream::default();
        stream.ask();
        let first = Instant::now() + Duration::from_secs(1);
        let second = first + Duration::from_secs(1);
        stream.take(b"data: a\n\n");
        stream.take(b"data: b\n\ndata: c");
        stream.arrived(first);
        stream.take(b"\n\n");
        stream.arrived(second);
        let times: Vec<Instant> = stream.state.borrow().waiting.iter().map(|(_, at)| *at).collect();
        assert_eq!(times, [first, first, second]);
    }

    #[test]
    fn a_stream_is_known_by_its_content_type() {
        let with = |line: &str| {
            let head = bytes::Bytes::from(format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n"));
            is_event_stream(&Response { status: 200, proto: "HTTP/1.1", head, body: wire::Body::None })
        };
        assert!(with("Content-Type: text/event-stream") && with("content-type: Text/Event-Stream ; charset=utf-8"));
        assert!(!with("Content-Type: text/plain") && !with("X: text/event-stream"));
    }
}
