//! An HTTP/2 connection: it accepts streams, runs their exchanges beside each other, and ends as a whole.
//!
//! Everything is on the worker's thread. An exchange that is done at once costs no task. When the connection ends, its
//! exchanges are dropped. A server that stops says GOAWAY and lets running streams end; a connection without streams
//! for too long gets GOAWAY as well. Streams, header lists, buffers and resets are bounded below and by the `h2`
//! crate's own limits.

use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::Reason;
use h2::server::{self, Builder};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use crate::after::After;
use crate::app::{Origin, Version};
use crate::connection::limits::Limits;
use crate::connection::phase_timer::{Phase, PhaseTimer};
use crate::connection::stream::Stream;
use crate::h2::exchange;
use crate::h2::fault::Ending;
use crate::h2::transport::Transport;
use crate::witness::ConnectionWitness;
use crate::worker::Worker;

/// Streams of one connection at a time.
const STREAMS: u32 = 256;
/// Bytes of one request body that may be under way unread.
const STREAM_WINDOW: u32 = 256 * 1024;
/// Bytes of all request bodies of a connection that may be under way unread: what it can cost in memory.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes of one response that wait for the socket before more is asked for.
const SEND_BUFFER: usize = 128 * 1024;

type Running = JoinSet<Option<Ending>>;

struct Http2Connection {
    h2: server::Connection<Transport, Bytes>,
    running: Running,
    worker: Rc<Worker>,
    timer: Rc<PhaseTimer>,
    origin: Origin,
    witness: Option<Rc<ConnectionWitness>>,
}

/// What the connection's task wakes for.
enum Event {
    /// A fault ends it.
    Fault(Ending),
    /// The client has ended it, or it broke.
    Closed(Result<(), h2::Error>),
    /// Nothing happened on it for too long.
    Idle,
}

/// Serves a connection whose first bytes, `ahead`, have been read.
pub(crate) async fn serve(
    stream: Stream,
    peer: Option<IpAddr>,
    worker: &Rc<Worker>,
    timer: &Rc<PhaseTimer>,
    witness: Option<Rc<ConnectionWitness>>,
    ahead: Vec<u8>,
) -> io::Result<After> {
    let origin = Origin { peer, tls: stream.is_tls(), version: Version::Http2 };
    let transport = Transport::new(stream.clone(), worker.clone(), ahead);
    let Some(Ok(h2)) = in_time(timer, builder(worker.limits()).handshake(transport)).await else {
        worker.stats().malformed.add(1);
        return Ok(After::CloseUnread);
    };
    let (worker, timer) = (worker.clone(), timer.clone());
    let mut connection = Http2Connection { h2, running: JoinSet::new(), worker, timer, origin, witness };
    match connection.event().await {
        Event::Fault(ending) => connection.end_by_fault(stream, &ending).await,
        Event::Closed(result) => {
            if result.is_err_and(|e| e.is_library()) {
                connection.worker.stats().malformed.add(1);
            }
            let stopping = connection.worker.is_stopping();
            Ok(if stopping { After::Close } else { After::CloseUnread })
        }
        Event::Idle => {
            connection.h2.abrupt_shutdown(Reason::NO_ERROR);
            connection.timer.enter(Phase::Head, connection.worker.now());
            let timer = connection.timer.clone();
            // The goodbye either leaves or does not.
            let _closed = in_time(&timer, poll_fn(|cx| connection.h2.poll_closed(cx))).await;
            Ok(After::Abandon)
        }
    }
}

fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(STREAMS)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        // As many bodies may be refused at once: what is still under way of a stream that is forgotten ends the
        // connection.
        .max_concurrent_reset_streams(STREAMS as usize)
        .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX));
    builder
}

/// `None` when the phase the connection is in has lasted for too long.
async fn in_time<F: Future>(timer: &PhaseTimer, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if timer.wait(cx) => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

impl Http2Connection {
    /// Runs exchanges until the connection is to end.
    async fn event(&mut self) -> Event {
        let worker = self.worker.clone();
        let mut stopping = pin!(worker.stopped());
        let mut told = false;
        self.timer.enter(Phase::Idle, worker.now());
        poll_fn(|cx| {
            if !told && stopping.as_mut().poll(cx).is_ready() {
                told = true;
                self.h2.graceful_shutdown();
            }
            loop {
                while let Poll::Ready(Some(ended)) = self.running.poll_join_next(cx) {
                    match ended {
                        Ok(None) => {}
                        Ok(Some(ending)) => return Poll::Ready(Event::Fault(ending)),
                        // A panic is a bug; it ends the connection, as it does in HTTP/1.1.
                        Err(_) => return Poll::Ready(Event::Closed(Ok(()))),
                    }
                }
                match self.h2.poll_accept(cx) {
                    Poll::Ready(Some(Ok((request, respond)))) => {
                        self.timer.enter(Phase::Busy, worker.now());
                        let exchange =
                            exchange::run(worker.clone(), self.origin, self.witness.clone(), request, respond);
                        if let Some(ending) = self.begin(Box::pin(exchange), cx) {
                            return Poll::Ready(Event::Fault(ending));
                        }
                    }
                    Poll::Ready(Some(Err(e))) => return Poll::Ready(Event::Closed(Err(e))),
                    Poll::Ready(None) => return Poll::Ready(Event::Closed(Ok(()))),
                    Poll::Pending => return self.poll_idle(cx).map(|()| Event::Idle),
                }
            }
        })
        .await
    }

    /// Ready when there has been no stream for longer than the limit. A server that stops waits for its streams
    /// instead.
    fn poll_idle(&self, cx: &Context<'_>) -> Poll<()> {
        if !self.running.is_empty() || self.h2.has_streams() {
            return Poll::Pending;
        }
        if self.timer.phase() == Phase::Busy {
            self.timer.enter(Phase::Idle, self.worker.now());
        }
        if self.timer.wait(cx) && !self.worker.is_stopping() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Most exchanges are done at once; the others get a task.
    fn begin(
        &mut self,
        mut exchange: Pin<Box<dyn Future<Output = Option<Ending>>>>,
        cx: &mut Context<'_>,
    ) -> Option<Ending> {
        match exchange.as_mut().poll(cx) {
            Poll::Ready(ending) => ending,
            Poll::Pending => {
                self.running.spawn_local(exchange);
                None
            }
        }
    }

    /// Closes without another word, but for the fault's bytes behind what was sent before.
    async fn end_by_fault(mut self, mut stream: Stream, ending: &Ending) -> io::Result<After> {
        self.running.abort_all();
        // One turn sends what the socket takes.
        poll_fn(|cx| Poll::Ready(self.h2.poll_closed(cx).is_ready())).await;
        stream.write_all(&ending.bytes).await?;
        stream.flush().await?;
        self.worker.stats().sent.add(ending.bytes.len() as u64);
        Ok(After::Close)
    }
}
