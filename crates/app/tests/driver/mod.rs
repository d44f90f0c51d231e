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

use host::log::{LogSink, Record};
use onrush_app::{Answer, AnswerBody, App, AppOptions, AppProgram, ForeignMemory, Incoming, ReceiveBuffer, Received};
use script::options::Options;
use script::{ScriptError, Source};

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
    pub url: String,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: VecDeque<Result<Received, String>>,
    /// The body never ends.
    pub hangs: bool,
    pub lends: Option<Lending>,
}

/// Who gives the memory of pieces.
pub struct Lending {
    pub app: Weak<App>,
    /// What it gave that no piece was put into.
    pub kept: Rc<RefCell<Option<ReceiveBuffer>>>,
}

pub struct Bytes {
    pub bytes: Vec<u8>,
    pub released: Rc<RefCell<Vec<u8>>>,
}

impl ForeignMemory for Bytes {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        Some(&mut self.bytes)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.released.borrow_mut().push(self.bytes[0]);
    }
}

pub fn get(path: &str) -> Asked {
    let url = format!("http://h{path}");
    Asked { method: "GET", url, headers: Vec::new(), body: VecDeque::new(), hangs: false, lends: None }
}

pub fn post(path: &str, pieces: &[&str], released: &Rc<RefCell<Vec<u8>>>) -> Asked {
    let piece = |piece: &&str| -> Result<Received, String> {
        Ok(Received::Own(Box::new(Bytes { bytes: piece.as_bytes().to_vec(), released: released.clone() })))
    };
    Asked { method: "POST", body: pieces.iter().map(piece).collect(), ..get(path) }
}

impl Incoming for Asked {
    fn method(&self) -> &str {
        self.method
    }
    fn url(&self) -> String {
        self.url.clone()
    }
    fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }
    fn each_header(&self, show: &mut dyn FnMut(&str, &[u8])) {
        self.headers.iter().for_each(|(name, value)| show(name, value.as_bytes()));
    }
    fn peer(&self) -> Option<IpAddr> {
        Some(IpAddr::from([127, 0, 0, 1]))
    }
    fn body_length(&self) -> Option<u64> {
        (self.method == "GET").then_some(0)
    }
    fn poll_wanted(&mut self, _: &mut Context<'_>) -> Poll<usize> {
        Poll::Ready(if self.body.is_empty() && !self.hangs { 0 } else { 8 })
    }
    fn poll_piece(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Received, String>>> {
        let mut next = self.body.pop_front();
        if let Some(Lending { app, kept }) = &self.lends {
            let lent = app.upgrade().and_then(|app| app.take_allocated());
            next = match (next, lent) {
                (Some(Ok(Received::Own(piece))), Some(mut lent)) => {
                    let range = 2..2 + piece.bytes().len();
                    lent.bytes_mut()[range.clone()].copy_from_slice(piece.bytes());
                    Some(Ok(Received::Allocated(lent, range)))
                }
                (next, lent) => {
                    kept.replace(lent);
                    next
                }
            };
        }
        if next.is_none() && self.hangs { Poll::Pending } else { Poll::Ready(next) }
    }
}

pub struct Served {
    pub app: Rc<App>,
    pub lines: Arc<Lines>,
}

impl Served {
    pub async fn ask(&self, asked: Asked) -> Result<Answer, String> {
        self.app.handle(Box::new(asked)).await
    }

    pub async fn text(&self, asked: Asked) -> String {
        match self.ask(asked).await {
            Ok(answer) => body(answer).await,
            Err(error) => format!("500: {error}"),
        }
    }
}

pub async fn body(answer: Answer) -> String {
    let bytes = match answer.body {
        AnswerBody::Bytes(bytes) => bytes.to_vec(),
        AnswerBody::Pieces(pieces) => pieces.concat(),
        AnswerBody::Stream(mut stream) => {
            let mut all = Vec::new();
            while let Some(piece) = std::future::poll_fn(|cx| stream.poll_next(cx)).await {
                match piece {
                    Ok(piece) => all.extend_from_slice(&piece),
                    Err(error) => all.extend_from_slice(format!("[broke off: {error}]").as_bytes()),
                }
            }
            all
        }
        AnswerBody::File { length, .. } => format!("file of {length}").into_bytes(),
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
    AppProgram::load(Source::Text { name: String::from("app.js"), text: source.to_string() }, options).await
}

pub fn with_app<F: Future<Output = ()>>(source: &str, test: impl FnOnce(Served) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("an event loop");
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let lines = Arc::new(Lines::default());
        let program = load(source, &lines).await.unwrap_or_else(|error| panic!("{error}\n{}", error.stack));
        let app = program.start().unwrap_or_else(|error| panic!("{error}"));
        let test = test(Served { app, lines });
        tokio::time::timeout(Duration::from_secs(60), test).await.expect("the app answers");
    });
}
