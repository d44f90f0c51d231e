//! Joins apps in JavaScript with the target: neither knows the other.
//!
//! An app is loaded once; each of the target's workers starts one of its own. What passes by here is moved, never
//! copied.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use app::{
    Answer, AnswerBody, AnswerStream, AppOptions, AppProgram, AppSocket, ForeignMemory, Incoming, ReceiveBuffer,
    Received,
};
use app::{SocketEvent, SocketPeer};
use script::error::exit_code;
use script::log::LogSink;
use script::options::Options;
use script::{ScriptError, Source};
use server::app::{Answering, AppFactory, AppRequest, Opening, Origin, Piece, PieceBuffer, RequestBody, Upgrade};
use server::respond::{Body, PieceStream, Response};
use server::ws::{Kind, Message, Socket, SocketHandler};

use crate::builtins::BUILTINS;
use crate::process::environment::{self, Variables};

/// How long JavaScript of an app may run without waiting when no flag says otherwise.
pub const BUSY_LIMIT: Duration = Duration::from_secs(5);

/// Reads an app and makes what the target starts on each worker.
pub fn load(
    path: &str,
    env: Variables,
    log: Arc<dyn LogSink>,
    busy_limit: Duration,
) -> Result<AppFactory, ScriptError> {
    let broken = |what: String| ScriptError::new(what, exit_code::GENERIC);
    let cwd = std::env::current_dir().map_err(|e| broken(format!("cannot tell the current folder: {e}")))?;
    let options = AppOptions {
        cwd,
        cache_dir: environment::cache_folder(&env),
        options: Options {
            proxies: environment::proxies(&env),
            no_http2: environment::forbids_http2(&env),
            ..Options::default()
        },
        env,
        log,
        builtins: &BUILTINS,
        busy_limit,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| broken(format!("cannot make an event loop: {e}")))?;
    let loaded = runtime.block_on(AppProgram::load(Source::File(PathBuf::from(path)), options));
    let program = loaded.map_err(|error| placed(error, path))?;
    Ok(Arc::new(move || {
        let app = program.start().map_err(|error| error.to_string())?;
        Ok(Rc::new(OfTarget(app)) as Rc<dyn server::app::App>)
    }))
}

/// What is wrong with the default export is found by JavaScript of ours, and has no place in the app.
fn placed(error: ScriptError, path: &str) -> ScriptError {
    match &error.place {
        None if error.exit_code == exit_code::SCRIPT_EXCEPTION => {
            ScriptError::new(format!("{path}: {}", error.message), error.exit_code)
        }
        _ => error,
    }
}

/// A worker's app as the target sees it.
struct OfTarget(Rc<app::App>);

impl server::app::App for OfTarget {
    fn fetch(&self, request: AppRequest) -> Answering {
        let handling = self.0.handle(Box::new(OfScript(request)));
        Box::pin(async move { handling.await.map(response) })
    }

    fn accepts_websockets(&self) -> bool {
        self.0.has_sockets()
    }

    fn websocket(&self, request: &AppRequest, upgrade: Upgrade) -> Option<Opening> {
        let handler =
            OfSocket { app: self.0.clone(), head: RefCell::new(Some(copy(request))), socket: OnceCell::new() };
        let protocol = upgrade.protocols.first().map(ToString::to_string);
        Some(Opening::new(upgrade, Rc::new(handler)).protocol(protocol))
    }

    fn allocates(&self) -> bool {
        self.0.allocates()
    }

    fn allocate(&self, _size: usize) -> Option<Box<dyn PieceBuffer>> {
        Some(Box::new(OfApp(self.0.take_allocated()?)))
    }
}

/// The head of a request, to outlive it.
fn copy(request: &AppRequest) -> AppRequest {
    let tls = request.is_tls();
    let origin = Origin { peer: request.peer(), tls, version: request.version() };
    AppRequest::new(request.method(), request.target(), request.headers(), origin, RequestBody::empty())
}

/// What happens on a WebSocket, told to the app.
struct OfSocket {
    app: Rc<app::App>,
    head: RefCell<Option<AppRequest>>,
    socket: OnceCell<Rc<AppSocket>>,
}

impl OfSocket {
    fn tell(&self, event: SocketEvent) {
        if let Some(socket) = self.socket.get() {
            self.app.socket_event(socket, event);
        }
    }
}

impl SocketHandler for OfSocket {
    fn open(&self, socket: &Socket) {
        if let Some(head) = self.head.take() {
            let opened = self.app.socket(Box::new(OfScript(head)), Box::new(OfPeer(socket.clone())));
            self.socket.get_or_init(|| opened);
            self.tell(SocketEvent::Open);
        }
    }

    fn message(&self, socket: &Socket, message: Message<'_>) {
        let arrived_ns = socket.arrived_ns();
        self.tell(match message {
            Message::Text(text) => SocketEvent::Text(text.to_owned(), arrived_ns),
            Message::Binary(bytes) => SocketEvent::Binary(bytes.to_vec(), arrived_ns),
        });
    }

    fn wants_arrivals(&self) -> bool {
        self.app.wants_arrivals()
    }

    fn max_message(&self) -> usize {
        self.app.max_message().unwrap_or(server::ws::MAX_MESSAGE)
    }

    fn drain(&self, _: &Socket) {
        self.tell(SocketEvent::Drain);
    }

    fn close(&self, _: &Socket, code: u16, reason: &str) {
        self.tell(SocketEvent::Close(code, reason.to_owned()));
    }
}

/// A WebSocket as the app uses it.
struct OfPeer(Socket);

fn kind(is_text: bool) -> Kind {
    if is_text { Kind::Text } else { Kind::Binary }
}

impl SocketPeer for OfPeer {
    fn send(&self, is_text: bool, payload: &[u8]) -> bool {
        self.0.send(kind(is_text), payload)
    }

    fn ping(&self, payload: &[u8]) -> bool {
        self.0.ping(payload)
    }

    fn close(&self, code: u16, reason: &str) -> bool {
        self.0.close(code, reason)
    }

    fn terminate(&self) {
        self.0.terminate();
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn buffered(&self) -> usize {
        self.0.buffered()
    }

    fn protocol(&self) -> Option<String> {
        self.0.protocol().map(str::to_owned)
    }

    fn subscribe(&self, room: &str) {
        self.0.subscribe(room);
    }

    fn unsubscribe(&self, room: &str) {
        self.0.unsubscribe(room);
    }

    fn is_subscribed(&self, room: &str) -> bool {
        self.0.is_subscribed(room)
    }

    fn publish(&self, room: &str, is_text: bool, payload: &[u8]) {
        self.0.publish(room, kind(is_text), payload);
    }
}

/// A request as the app sees it.
struct OfScript(AppRequest);

impl Incoming for OfScript {
    fn method(&self) -> &str {
        self.0.method()
    }

    fn url(&self) -> String {
        self.0.url()
    }

    fn header(&self, name: &str) -> Option<&[u8]> {
        self.0.header(name)
    }

    fn each_header(&self, show: &mut dyn FnMut(&str, &[u8])) {
        self.0.headers().for_each(|(name, value)| show(name, value));
    }

    fn peer(&self) -> Option<IpAddr> {
        self.0.peer()
    }

    fn body_length(&self) -> Option<u64> {
        self.0.body.length_hint()
    }

    fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        self.0.body.poll_wanted(cx)
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Received, String>>> {
        Poll::Ready(ready!(self.0.body.poll_next(cx)).map(|piece| match piece {
            Ok(piece) => Ok(received(piece)),
            Err(error) => Err(error.to_string()),
        }))
    }
}

fn received(piece: Piece) -> Received {
    match piece.into_buffer() {
        Err(piece) => Received::Own(Box::new(OfPool(piece))),
        Ok((buffer, range)) => match buffer.into_any().downcast::<OfApp>() {
            Ok(buffer) => Received::Allocated(buffer.0, range),
            Err(_) => unreachable!("the app of this server gives memory of one kind"),
        },
    }
}

/// A piece in the target's memory.
struct OfPool(Piece);

impl ForeignMemory for OfPool {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.0.bytes_mut()
    }
}

/// Memory of the app.
struct OfApp(ReceiveBuffer);

impl PieceBuffer for OfApp {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// An answer as the target sends it.
fn response(answer: Answer) -> Response {
    let body = match answer.body {
        AnswerBody::Bytes(bytes) => Body::Shared(bytes),
        AnswerBody::Pieces(pieces) => Body::Array(pieces),
        AnswerBody::Stream(stream) => Body::stream(OfBody(stream)),
        AnswerBody::File { file, offset, length } => Body::File { file, offset, length },
    };
    let mut response = Response::bare(answer.status, body);
    response.headers = answer.headers;
    response.content_type = answer.content_type;
    response
}

struct OfBody(AnswerStream);

impl PieceStream for OfBody {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<bytes::Bytes, String>>> {
        self.0.poll_next(cx)
    }
}
