//! A socket's life: disconnected, opening, open, destroyed; and what it tells the script on the way.
//!
//! It is a source of the user's event loop from `connect` until it has told of its end. As long as it is one it holds
//! the script's object, which holds the handlers; afterwards the garbage collector alone decides. No borrow is held
//! while JavaScript runs.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use host::bytes;
use host::event_loop::Source;
use host::js::{Ctx, Object, Persistent, Promise, Result, Value};
use metrics::SystemTag;
use script::series::SampleTags;
use script::{Vu, go_error};
use wire::client::ByteStream;

use super::arguments::ConnectArguments;
use super::methods::{self, SocketEvent};
use super::samples::{self, TcpMetric};
use super::settle::Settle;
use super::stream::{OpenStream, Progress, Write};
use crate::client::dial;
use crate::client::metric_table::MetricTable;

/// For connecting, TLS included: as long as k6's dialler has.
const PATIENCE: Duration = Duration::from_secs(30);

const DESTROYED: &str = "the socket was destroyed";

type Opening = Pin<Box<dyn Future<Output = std::result::Result<ByteStream, String>>>>;

/// A socket.
pub struct TcpSocket {
    vu: Weak<Vu>,
    tags: SampleTags,
    timeout: Cell<Option<Duration>>,
    stage: RefCell<Stage>,
    happened: RefCell<VecDeque<Happening>>,
    /// Itself as the script knows it, while it is a source of the event loop.
    this: RefCell<Option<Persistent<Object<'static>>>>,
    facts: Cell<SocketFacts>,
}

/// What a socket can be asked at any time.
#[derive(Clone, Copy, Default)]
pub struct SocketFacts {
    pub local: Option<SocketAddr>,
    pub remote: Option<SocketAddr>,
    pub read: u64,
    pub written: u64,
}

enum Stage {
    Disconnected,
    Opening { opening: Opening, settle: Settle, tags: SampleTags },
    Open(Box<Connected>),
    Destroyed,
}

struct Connected {
    stream: OpenStream,
    tags: SampleTags,
    began: Instant,
}

/// What is still to be told.
enum Happening {
    Opened(Box<ByteStream>),
    Unopened(String),
    Progress(Progress),
    /// The script gave an error to `destroy`.
    Given(Persistent<Value<'static>>),
    Closed,
}

impl TcpSocket {
    /// One that is not connected, whose samples have these tags.
    pub fn new(vu: &Vu, tags: SampleTags) -> Rc<TcpSocket> {
        Rc::new(TcpSocket {
            vu: vu.weak(),
            tags,
            timeout: Cell::default(),
            stage: RefCell::new(Stage::Disconnected),
            happened: RefCell::default(),
            this: RefCell::default(),
            facts: Cell::default(),
        })
    }

    /// k6's name for where it is in its life.
    pub fn state(&self) -> &'static str {
        match &*self.stage.borrow() {
            Stage::Disconnected => "disconnected",
            Stage::Opening { .. } => "opening",
            Stage::Open(_) => "open",
            Stage::Destroyed => "destroyed",
        }
    }

    pub fn facts(&self) -> SocketFacts {
        self.facts.get()
    }

    fn learn(&self, change: impl FnOnce(&mut SocketFacts)) {
        let mut facts = self.facts.get();
        change(&mut facts);
        self.facts.set(facts);
    }

    /// Says so when nothing came for this long, again and again.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.timeout.set(timeout);
        if let Stage::Open(connected) = &mut *self.stage.borrow_mut() {
            connected.stream.set_timeout(timeout);
        }
    }

    /// Begins to connect.
    pub fn connect<'js>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        this: &Object<'js>,
        arguments: ConnectArguments,
    ) -> Result<Promise<'js>> {
        let vu = Vu::of(ctx);
        let (promise, settle) = Settle::new(ctx)?;
        let ConnectArguments { place, is_tls, tags } = arguments;
        let of_place = samples::tags_of(&vu, &place);
        let tags = samples::merged(&of_place, &samples::merged(&self.tags, &tags));
        let state = self.state();
        if state != "disconnected" {
            let why = format!("connect(): the socket is {state}, expected one that is disconnected");
            self.fail(ctx, this, &tags, &why, Some(settle))?;
            return Ok(promise);
        }
        let opening: Opening = Box::pin(async move {
            let tls = is_tls.then_some(None);
            dial::open(&vu, &place, tls, PATIENCE).await
        });
        *self.stage.borrow_mut() = Stage::Opening { opening, settle, tags };
        self.listen(ctx, this);
        Ok(promise)
    }

    /// Sends bytes behind those that were given before.
    pub fn write<'js>(
        &self,
        ctx: &Ctx<'js>,
        this: &Object<'js>,
        bytes: Vec<u8>,
        tags: &SampleTags,
    ) -> Result<Promise<'js>> {
        let vu = Vu::of(ctx);
        let held = vu.memory().reserve(bytes.len()).map_err(|over| over.throw(ctx))?;
        let (promise, settle) = Settle::new(ctx)?;
        let progress = match &mut *self.stage.borrow_mut() {
            Stage::Open(connected) => {
                let tags = samples::merged(&connected.tags, tags);
                let progress = connected.stream.push(Write { bytes, sent: 0, settle, tags, held });
                dial::count(&vu, &connected.stream.traffic());
                Ok(progress)
            }
            _ => Err(settle),
        };
        match progress {
            Ok(None) => {}
            Ok(Some(Progress::Written(write))) => self.written(ctx, &vu, write)?,
            Ok(Some(other)) => self.happened.borrow_mut().push_back(Happening::Progress(other)),
            Err(settle) => {
                let why = format!("write(): the socket is {}, expected one that is open", self.state());
                self.fail(ctx, this, &samples::merged(&self.tags, tags), &why, Some(settle))?;
            }
        }
        Ok(promise)
    }

    /// Closes the connection, tells of this error first, if there is one, and then of its end.
    pub fn destroy<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, this: &Object<'js>, error: Option<Value<'js>>) -> Result<()> {
        let stage = self.stage.replace(Stage::Destroyed);
        let unsettled: Vec<Settle> = match stage {
            Stage::Destroyed => return Ok(()),
            Stage::Disconnected => Vec::new(),
            Stage::Opening { settle, .. } => Vec::from([settle]),
            Stage::Open(mut connected) => {
                let vu = Vu::of(ctx);
                connected.end(&vu);
                let writes = connected.stream.take_writes().into_iter();
                writes.inspect(|write| self.unwritten(&vu, write)).map(|write| write.settle).collect()
            }
        };
        let given = error.map(|error| Happening::Given(Persistent::save(ctx, error)));
        self.happened.borrow_mut().extend(given.into_iter().chain([Happening::Closed]));
        self.listen(ctx, this);
        for settle in unsettled {
            // That is told by the event close.
            settle.reject(ctx, error_of(ctx, DESTROYED), true)?;
        }
        Ok(())
    }

    /// Has the event loop wait for it.
    fn listen<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, this: &Object<'js>) {
        if self.this.borrow().is_none() {
            *self.this.borrow_mut() = Some(Persistent::save(ctx, this.clone()));
            Vu::of(ctx).events.add_source(self.clone());
        }
    }

    /// Counts a failure, tells of it, and rejects the promise that it belongs to.
    fn fail<'js>(
        &self,
        ctx: &Ctx<'js>,
        this: &Object<'js>,
        tags: &SampleTags,
        why: &str,
        settle: Option<Settle>,
    ) -> Result<()> {
        TcpMetric::Errors.add(&Vu::of(ctx), 1.0, tags);
        let error = error_of(ctx, why);
        let was_told = tell(this, SocketEvent::Error, Some(error.clone()))?;
        settle.map_or(Ok(()), |settle| settle.reject(ctx, error, was_told))
    }

    fn written(&self, ctx: &Ctx<'_>, vu: &Vu, write: Write) -> Result<()> {
        self.learn(|facts| facts.written += write.sent as u64);
        TcpMetric::Writes.add(vu, 1.0, &write.tags);
        write.settle.resolve(ctx)
    }

    fn unwritten(&self, vu: &Vu, write: &Write) {
        self.learn(|facts| facts.written += write.sent as u64);
        TcpMetric::Writes.add(vu, 1.0, &write.tags);
        if write.sent > 0 {
            TcpMetric::PartialWrites.add(vu, 1.0, &write.tags);
        }
    }

    fn handle<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, this: &Object<'js>, happening: Happening) -> Result<()> {
        match happening {
            Happening::Opened(stream) => self.opened(ctx, this, *stream),
            Happening::Unopened(why) => match self.stage.replace(Stage::Disconnected) {
                Stage::Opening { settle, tags, .. } => self.fail(ctx, this, &tags, &why, Some(settle)),
                // It was destroyed since.
                stage => {
                    *self.stage.borrow_mut() = stage;
                    Ok(())
                }
            },
            Happening::Progress(progress) => self.progressed(ctx, this, progress),
            Happening::Given(error) => {
                let error = error.restore(ctx)?;
                tell(this, SocketEvent::Error, Some(error)).map(drop)
            }
            Happening::Closed => tell(this, SocketEvent::Close, None).map(drop),
        }
    }

    fn opened<'js>(&self, ctx: &Ctx<'js>, this: &Object<'js>, stream: ByteStream) -> Result<()> {
        let vu = &Vu::of(ctx);
        let (settle, mut tags) = match self.stage.replace(Stage::Destroyed) {
            Stage::Opening { settle, tags, .. } => (settle, tags),
            stage => {
                *self.stage.borrow_mut() = stage;
                return Ok(());
            }
        };
        let (local, remote, opening) = (stream.local(), stream.peer(), stream.opening());
        self.learn(|facts| (facts.local, facts.remote) = (local, remote));
        if let Some(remote) = remote.filter(|_| vu.options().enabled_system_tags().has(SystemTag::Ip)) {
            tags = samples::merged(&tags, &Vec::from([(SystemTag::Ip.name().to_owned(), remote.ip().to_string())]));
        }
        TcpMetric::Resolving.add(vu, opening.resolving.as_secs_f64() * 1000.0, &tags);
        TcpMetric::Connecting.add(vu, opening.connecting.as_secs_f64() * 1000.0, &tags);
        TcpMetric::Sockets.add(vu, 1.0, &tags);
        let stream = OpenStream::new(stream, self.timeout.get());
        *self.stage.borrow_mut() = Stage::Open(Box::new(Connected { stream, tags, began: Instant::now() }));
        tell(this, SocketEvent::Connect, None)?;
        settle.resolve(ctx)
    }

    fn progressed<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, this: &Object<'js>, progress: Progress) -> Result<()> {
        let vu = &Vu::of(ctx);
        let tags = match &*self.stage.borrow() {
            Stage::Open(connected) => connected.tags.clone(),
            _ => self.tags.clone(),
        };
        match progress {
            Progress::Data(piece) => {
                TcpMetric::Reads.add(vu, 1.0, &tags);
                self.learn(|facts| facts.read += piece.len() as u64);
                let piece = bytes::byte_array(ctx, piece)?;
                tell(this, SocketEvent::Data, Some(piece)).map(drop)
            }
            Progress::Silent => {
                TcpMetric::Timeouts.add(vu, 1.0, &tags);
                tell(this, SocketEvent::Timeout, None).map(drop)
            }
            Progress::Written(write) => self.written(ctx, vu, write),
            Progress::Unwritten(write, why) => {
                self.unwritten(vu, &write);
                self.fail(ctx, this, &write.tags, &why, Some(write.settle))
            }
            Progress::Ended => self.destroy(ctx, this, None),
            Progress::Broken(why) => {
                self.fail(ctx, this, &tags, &why, None)?;
                self.destroy(ctx, this, None)
            }
        }
    }

    /// Whether nothing comes any more unless the script does something.
    fn is_at_rest(&self) -> bool {
        self.happened.borrow().is_empty() && matches!(&*self.stage.borrow(), Stage::Disconnected | Stage::Destroyed)
    }
}

impl Connected {
    fn end(&self, vu: &Vu) {
        dial::count(vu, &self.stream.traffic());
        TcpMetric::Duration.add(vu, self.began.elapsed().as_secs_f64() * 1000.0, &self.tags);
    }
}

/// Calls the handler of an event; whether there is one.
fn tell<'js>(this: &Object<'js>, event: SocketEvent, argument: Option<Value<'js>>) -> Result<bool> {
    let Some(handler) = methods::handler(this, event) else { return Ok(false) };
    match argument {
        Some(argument) => handler.call::<_, Value<'js>>((argument,))?,
        None => handler.call::<_, Value<'js>>(())?,
    };
    Ok(true)
}

/// An error for handlers and promises.
fn error_of<'js>(ctx: &Ctx<'js>, why: &str) -> Value<'js> {
    // Thrown and caught: the value is what counts.
    let _thrown = go_error::throw(ctx, why);
    ctx.catch()
}

impl Source for TcpSocket {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(vu) = self.vu.upgrade() else { return Poll::Pending };
        if !self.happened.borrow().is_empty() {
            return Poll::Ready(());
        }
        let happening = match &mut *self.stage.borrow_mut() {
            Stage::Opening { opening, .. } => match ready!(opening.as_mut().poll(cx)) {
                Ok(stream) => Happening::Opened(Box::new(stream)),
                Err(why) => Happening::Unopened(why),
            },
            Stage::Open(connected) => {
                let progress = connected.stream.poll(cx);
                dial::count(&vu, &connected.stream.traffic());
                Happening::Progress(ready!(progress))
            }
            Stage::Disconnected | Stage::Destroyed => return Poll::Pending,
        };
        self.happened.borrow_mut().push_back(happening);
        Poll::Ready(())
    }

    fn dispatch(&self, ctx: &Ctx<'_>) -> Result<()> {
        let vu = Vu::of(ctx);
        let this = self.this.borrow().clone();
        let Some(this) = this.map(|this| this.restore(ctx)).transpose()? else { return Ok(()) };
        let Some(socket) = methods::socket_of(&this) else { return Ok(()) };
        loop {
            let Some(happening) = self.happened.borrow_mut().pop_front() else { break };
            socket.handle(ctx, &this, happening)?;
            // As after any call of the script from outside.
            vu.events.run_jobs(ctx)?;
        }
        if self.is_at_rest() {
            drop(self.this.take());
        }
        vu.report_data_by_second(vu.now_ns());
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.this.borrow().is_none()
    }

    fn abandon(&self) {
        if let (Stage::Open(connected), Some(vu)) = (self.stage.replace(Stage::Destroyed), self.vu.upgrade()) {
            connected.end(&vu);
        }
        drop(self.happened.take());
        drop(self.this.take());
    }
}
