//! Joins apps in JavaScript with the target: neither knows the other.
//!
//! An app is loaded once; each of the target's workers starts one of its own. What passes by here is moved, never copied.

use std::any::Any;
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use script::app::{Answer, AnswerBody, AnswerStream, AppOptions, AppProgram, Incoming, LentBuffer, Memory, Received};
use script::log::LogSink;
use script::options::Options;
use script::{ScriptError, Source};
use target::app::{Answering, AppFactory, AppRequest, Piece, PieceBuffer};
use target::respond::{Body, PieceStream, Response};

use crate::environment::{self, Variables};

/// How long JavaScript of an app may run without waiting when no flag says otherwise.
pub const BUSY_LIMIT: Duration = Duration::from_secs(5);

/// Reads an app and makes what the target starts on each worker.
pub fn load(
    path: &str,
    env: Variables,
    log: Arc<dyn LogSink>,
    busy_limit: Duration,
) -> Result<AppFactory, ScriptError> {
    let broken = |what: String| ScriptError::new(what, script::error::exit_code::GENERIC);
    let cwd = std::env::current_dir().map_err(|e| broken(format!("cannot tell the current folder: {e}")))?;
    let options = AppOptions {
        cwd,
        cache_dir: environment::cache_folder(&env),
        options: Options { proxies: environment::proxies(&env), ..Options::default() },
        env,
        log,
        busy_limit,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| broken(format!("cannot make an event loop: {e}")))?;
    let program = runtime.block_on(AppProgram::load(Source::File(PathBuf::from(path)), options))?;
    Ok(Arc::new(move || {
        let app = program.start().map_err(|error| error.to_string())?;
        Ok(Rc::new(OfTarget(app)) as Rc<dyn target::app::App>)
    }))
}

/// A worker's app as the target sees it.
struct OfTarget(Rc<script::app::App>);

impl target::app::App for OfTarget {
    fn fetch(&self, request: AppRequest) -> Answering {
        let handling = self.0.handle(Box::new(OfScript(request)));
        Box::pin(async move { handling.await.map(response) })
    }

    fn allocates(&self) -> bool {
        self.0.allocates()
    }

    fn allocate(&self, size: usize) -> Option<Box<dyn PieceBuffer>> {
        Some(Box::new(OfApp(self.0.allocate(size)?)))
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
            Ok(buffer) => Received::Lent(buffer.0, range),
            Err(_) => unreachable!("the app of this server gives memory of one kind"),
        },
    }
}

/// A piece in the target's memory.
struct OfPool(Piece);

impl Memory for OfPool {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.0.bytes_mut()
    }
}

/// Memory of the app.
struct OfApp(LentBuffer);

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
