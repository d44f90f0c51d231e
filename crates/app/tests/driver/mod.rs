//! Requests made by hand for an app without a server.
#![allow(dead_code, clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use host::log::{LogSink, Record};
use onrush_app::{AppOptions, AppProgram};
use script::options::Options;
use script::{ScriptError, Source as ScriptSource};
use server::app::{App, AppRequest, BodyError, BodySource, Origin, Piece, PieceBuffer, RequestBody, Version};
use server::respond::{Body, Response};

#[derive(Default)]
pub struct Lines(pub Mutex<Vec<String>>);

impl LogSink for Lines {
    fn log(&self, record: &Record<'_>) {
        self.0.lock().expect("no panic while logging").push(record.message.to_string());
    }
}

/// A request with a body in pieces.
pub struct Asked {
    pub method: &'static str,
    pub target: String,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: VecDeque<Piece>,
    /// The body never ends.
    pub hangs: bool,
    pub lends: Option<Lending>,
}

/// Who is asked for memory.
pub struct Lending {
    pub app: Weak<dyn App>,
    /// What it gave.
    pub kept: Rc<RefCell<Option<Box<dyn PieceBuffer>>>>,
}

/// First bytes of the pieces that were given back, in order.
pub type Released = Arc<Mutex<Vec<u8>>>;

struct Tracked {
    bytes: Vec<u8>,
    released: Released,
}

impl AsRef<[u8]> for Tracked {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.released.lock().unwrap().push(self.bytes[0]);
    }
}

pub fn get(path: &str) -> Asked {
    let headers = vec![("Host", "h")];
    Asked { method: "GET", target: path.to_string(), headers, body: VecDeque::new(), hangs: false, lends: None }
}

pub fn post(path: &str, pieces: &[&str], released: &Released) -> Asked {
    let piece = |piece: &&str| {
        let tracked = Tracked { bytes: piece.as_bytes().to_vec(), released: released.clone() };
        Piece::from(Bytes::from_owner(tracked))
    };
    Asked { method: "POST", body: pieces.iter().map(piece).collect(), ..get(path) }
}

impl Asked {
    pub fn request(self) -> AppRequest {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let origin = Origin { peer: Some(IpAddr::from([127, 0, 0, 1])), tls: false, version: Version::Http11 };
        let body = match self.method {
            "GET" => RequestBody::empty(),
            _ => {
                let pieces = RefCell::new(self.body);
                RequestBody::from_source(Rc::new(Source { pieces, hangs: self.hangs, lends: self.lends }))
            }
        };
        AppRequest::new(self.method, &self.target, headers.into_iter(), origin, body)
    }
}

struct Source {
    pieces: RefCell<VecDeque<Piece>>,
    hangs: bool,
    lends: Option<Lending>,
}

impl BodySource for Source {
    fn poll_wanted(&self, _: &mut Context<'_>) -> Poll<usize> {
        Poll::Ready(if self.pieces.borrow().is_empty() && !self.hangs { 0 } else { 8 })
    }

    fn poll_piece(&self, _: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        if let Some(Lending { app, kept }) = &self.lends {
            kept.replace(app.upgrade().and_then(|app| app.allocate(8)));
        }
        let next = self.pieces.borrow_mut().pop_front();
        if next.is_none() && self.hangs { Poll::Pending } else { Poll::Ready(next.map(Ok)) }
    }

    fn length_hint(&self) -> Option<u64> {
        None
    }

    fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }
}

pub struct Served {
    pub app: Rc<dyn App>,
    pub lines: Arc<Lines>,
}

impl Served {
    pub async fn ask(&self, asked: Asked) -> Result<Response, String> {
        self.app.fetch(asked.request()).await
    }

    pub async fn text(&self, asked: Asked) -> String {
        match self.ask(asked).await {
            Ok(answer) => body(answer).await,
            Err(error) => format!("500: {error}"),
        }
    }
}

pub async fn body(response: Response) -> String {
    let bytes = match response.body {
        Body::Static(bytes) => bytes.to_vec(),
        Body::Bytes(bytes) => bytes,
        Body::Shared(bytes) => bytes.to_vec(),
        Body::Array(pieces) => pieces.concat(),
        Body::Stream { length, mut pieces } => {
            assert_eq!(length, None, "the script does not say it ahead");
            let mut all = Vec::new();
            while let Some(piece) = std::future::poll_fn(|cx| pieces.poll_next(cx)).await {
                match piece {
                    Ok(piece) => all.extend_from_slice(&piece),
                    Err(error) => all.extend_from_slice(format!("[broke off: {error}]").as_bytes()),
                }
            }
            all
        }
        Body::File { length, .. } => format!("file of {length}").into_bytes(),
    };
    String::from_utf8(bytes).expect("text")
}

pub async fn load(source: &str, lines: &Arc<Lines>) -> Result<AppProgram, ScriptError> {
    let options = AppOptions {
        env: BTreeMap::from([(String::from("NAME"), String::from("value"))]),
        cwd: PathBuf::from("/"),
        cache_dir: None,
        options: Options::default(),
        log: lines.clone(),
        builtins: &modules::BUILTINS,
        busy_limit: Duration::from_millis(100),
    };
    AppProgram::load(ScriptSource::Text { name: String::from("app.js"), text: source.to_string() }, options).await
}

pub fn with_app<F: Future<Output = ()>>(source: &str, test: impl FnOnce(Served) -> F) {
    let runtime = wire::event_loop().expect("an event loop");
    runtime.block_on(async {
        let lines = Arc::new(Lines::default());
        let program = load(source, &lines).await.unwrap_or_else(|error| panic!("{error}\n{}", error.stack));
        let app = program.start().unwrap_or_else(|error| panic!("{error}"));
        let test = test(Served { app, lines });
        tokio::time::timeout(Duration::from_secs(60), test).await.expect("the app answers");
    });
}
