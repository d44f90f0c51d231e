//! The page of a run: one file and a stream of server-sent events, on a thread of its own by the server of `server`.
//!
//! Who joins late gets the past first. A reader that is slow misses seconds, never holds the test up, and costs a
//! bounded queue. The page asks nothing of any other place, and answers no page of another site (`ListenerGuard`).

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use server::app::Answering;
use server::{App, AppRequest, Body, PieceStream, Response, Server, ServerConfig};
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::listener_guard::ListenerGuard;
use crate::live::{Glance, History};

/// Seconds that wait for a slow reader at most.
const MOST_WAITING: usize = 16;
/// Ticks come a little early or late.
const NEARLY: Duration = Duration::from_millis(500);
/// The page itself.
const PAGE: &str = include_str!("page.html");
/// It needs nothing from anywhere else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A page that is served.
pub struct WebPage {
    hub: Arc<Hub>,
    address: SocketAddr,
    period: Duration,
    _server: Server,
}

/// What the run and those who look at it share.
struct Hub {
    title: String,
    guard: ListenerGuard,
    seen: Mutex<Published>,
}

#[derive(Default)]
struct Published {
    history: Arc<History>,
    /// The last second, as JSON.
    last: Option<String>,
    at: Option<Duration>,
    is_over: bool,
    readers: Vec<Sender<Bytes>>,
}

impl WebPage {
    /// Listens there; a second is sent every `period`.
    pub fn start((host, port): (&str, u16), period: Duration, title: String) -> Result<WebPage, String> {
        let found = (host, port).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
        let tcp: Vec<SocketAddr> = found.take(1).collect();
        let guard = ListenerGuard::of(&tcp);
        let hub = Arc::new(Hub { title, guard, seen: Mutex::default() });
        let answers = Arc::clone(&hub);
        let factory = move || Ok(Rc::new(PageApp(Arc::clone(&answers))) as Rc<dyn App>);
        let config = ServerConfig { tcp, app: Some(Arc::new(factory)), ..ServerConfig::default() };
        let server = Server::start(config).map_err(|error| error.to_string())?;
        let address = server.addresses().tcp.first().copied().ok_or("it has no address")?;
        Ok(WebPage { hub, address, period, _server: server })
    }

    /// Where a browser finds it.
    pub fn url(&self) -> String {
        match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => format!("http://127.0.0.1:{}", self.address.port()),
            _ => format!("http://{}", self.address),
        }
    }

    /// Shows a second to all who look.
    pub fn show(&self, glance: &Glance, history: &Arc<History>) {
        let mut seen = self.hub.seen();
        seen.history = Arc::clone(history);
        let is_due = seen.at.is_none_or(|at| glance.elapsed + NEARLY >= at + self.period);
        if !is_due && !glance.is_last() {
            return;
        }
        let Ok(json) = serde_json::to_string(glance) else { return };
        seen.at = Some(glance.elapsed);
        let event = Bytes::from(format!("event: second\ndata: {json}\n\n"));
        seen.last = Some(json);
        // A full queue is a slow reader's; a closed one is nobody's any more.
        seen.readers
            .retain(|reader| !matches!(reader.try_send(event.clone()), Err(mpsc::error::TrySendError::Closed(_))));
    }

    /// The scenarios have ended: tells those who look, and lets them go.
    pub fn close(&self) {
        let mut seen = self.hub.seen();
        seen.is_over = true;
        for reader in seen.readers.drain(..) {
            // One that is too slow for it learns by the end of its stream.
            let _told = reader.try_send(Bytes::from_static(END));
        }
    }
}

const END: &[u8] = b"event: end\ndata: {}\n\n";

impl Hub {
    fn seen(&self) -> MutexGuard<'_, Published> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a reader gets: the past, and from then on each second.
    fn join(&self) -> Events {
        let mut seen = self.seen();
        let tracks = serde_json::to_string(&seen.history.tracks).unwrap_or_default();
        let title = serde_json::Value::from(self.title.as_str());
        let last = seen.last.as_deref().unwrap_or("null");
        let mut first =
            format!("retry: 2000\nevent: past\ndata: {{\"title\":{title},\"tracks\":{tracks},\"last\":{last}}}\n\n");
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        match seen.is_over {
            true => first.push_str(&String::from_utf8_lossy(END)),
            false => seen.readers.push(sender),
        }
        Events { first: Some(Bytes::from(first)), receiver }
    }

    fn answer(&self, request: &AppRequest) -> Response {
        if let Some(refusal) = self.guard.refusal(request) {
            return refusal;
        }
        let path = request.target().split('?').next().unwrap_or_default();
        let response = match (request.method(), path) {
            ("GET" | "HEAD", "/") => Response::new(200, "text/html; charset=utf-8", Body::Static(PAGE.as_bytes())),
            ("GET", "/events") => {
                let body = Body::Stream { length: None, pieces: Box::new(self.join()) };
                Response::new(200, "text/event-stream", body)
            }
            ("GET", "/favicon.ico") => Response::empty(204),
            (_, "/" | "/events") => Response::empty(405),
            _ => Response::text(404, "there is / and /events\n"),
        };
        let response = response.header("Content-Security-Policy", POLICY);
        response.header("X-Content-Type-Options", "nosniff").header("Cache-Control", "no-store")
    }
}

struct PageApp(Arc<Hub>);

impl App for PageApp {
    fn fetch(&self, request: AppRequest) -> Answering {
        let hub = Arc::clone(&self.0);
        Box::pin(async move { Ok(hub.answer(&request)) })
    }
}

/// The stream of one reader.
struct Events {
    first: Option<Bytes>,
    receiver: Receiver<Bytes>,
}

impl PieceStream for Events {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => self.receiver.poll_recv(cx).map(|piece| piece.map(Ok)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_reads_nothing_costs_a_bounded_queue() {
        let page = WebPage::start(("127.0.0.1", 0), Duration::from_secs(1), String::from("t")).unwrap();
        let mut events = page.hub.join();
        let history = Arc::new(History::default());
        for s in 1..=100 {
            page.show(&Glance { elapsed: Duration::from_secs(s), ..Glance::default() }, &history);
        }
        page.close();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut pieces = Vec::new();
        while let Poll::Ready(Some(Ok(piece))) = events.poll_next(&mut context) {
            pieces.push(String::from_utf8(piece.to_vec()).unwrap());
        }
        assert_eq!(pieces.len(), 1 + MOST_WAITING);
        assert!(pieces[0].starts_with("retry: 2000\nevent: past\n") && pieces[1].contains("\"elapsed_s\":1.0"));
        let mut late = page.hub.join();
        let Poll::Ready(Some(Ok(first))) = late.poll_next(&mut context) else { panic!("nothing of the past") };
        let first = String::from_utf8(first.to_vec()).unwrap();
        assert!(first.contains("\"elapsed_s\":100.0") && first.ends_with("event: end\ndata: {}\n\n"), "{first}");
    }
}
