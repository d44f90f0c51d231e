//! One request that an app is to answer: what the server, the script's `Request` and the waiting connection share.
//!
//! It is answered at most once; what comes later is dropped. After the answer the head stays readable as long as the
//! script holds the request, and so does the body.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use host::js::{Ctx, Exception, Result as JsResult, Value};
use host::native;
use server::app::{AppRequest, RequestBody};
use server::respond::Response;

use crate::memory::AppMemory;

/// A request and its answer.
pub(crate) struct Ticket {
    /// The request without its body.
    pub head: AppRequest,
    /// Borrowed for the time of one poll, in which no JavaScript runs.
    pub body: RefCell<RequestBody>,
    answer: RefCell<Option<Result<Response, String>>>,
    waker: RefCell<Option<Waker>>,
    is_answered: Cell<bool>,
    is_gone: Cell<bool>,
    /// The slot of `Door` in which its body is being read.
    pub reader: Cell<Option<usize>>,
    /// The script's callback for the next piece.
    pub on_piece: Cell<Option<usize>>,
    /// What `Door::keep` has of the script's request, while an app that gives memory reads its body.
    pub request: Cell<Option<usize>>,
    /// Memory that the app gave for the next piece of this body.
    pub allocated: RefCell<Option<AppMemory>>,
    /// The body as far as it was read, while all of it is wanted.
    pub collected: RefCell<Option<Collected>>,
    /// The script's callback for the client's going away.
    pub on_gone: Cell<Option<usize>>,
}

impl Ticket {
    pub fn new(mut request: AppRequest) -> Rc<Self> {
        let body = std::mem::replace(&mut request.body, RequestBody::empty());
        Rc::new(Ticket {
            head: request,
            body: RefCell::new(body),
            answer: RefCell::default(),
            waker: RefCell::default(),
            is_answered: Cell::new(false),
            is_gone: Cell::new(false),
            reader: Cell::new(None),
            on_piece: Cell::new(None),
            request: Cell::new(None),
            allocated: RefCell::default(),
            collected: RefCell::default(),
            on_gone: Cell::new(None),
        })
    }

    /// `GET http://host/path`: for log lines.
    pub fn title(&self) -> String {
        format!("{} {}", self.head.method(), self.head.url())
    }

    /// Answers, unless that has happened.
    pub fn answer(&self, answer: Result<Response, String>) {
        if self.is_answered.replace(true) {
            return;
        }
        let before = self.answer.replace(Some(answer));
        debug_assert!(before.is_none(), "a request has one answer");
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub fn is_answered(&self) -> bool {
        self.is_answered.get()
    }

    /// The answer, taken out by the connection, which is woken when it comes.
    pub fn poll_answer(&self, cx: &mut Context<'_>) -> Poll<Result<Response, String>> {
        if let Some(answer) = self.answer.take() {
            return Poll::Ready(answer);
        }
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The client has gone: nobody waits for the answer.
    pub fn leave(&self) {
        self.is_gone.set(true);
        self.is_answered.set(true);
        self.waker.take();
        self.answer.take();
        debug_assert!(self.answer.borrow().is_none() && self.is_answered(), "who has gone gets no answer");
    }

    pub fn is_gone(&self) -> bool {
        self.is_gone.get()
    }
}

/// What the script's promise holds of a request: when it is forgotten without an answer, there will be none.
pub(crate) struct Reply(pub Rc<Ticket>);

impl Drop for Reply {
    fn drop(&mut self) {
        self.0.answer(Err(String::from("the handler ended without an answer")));
    }
}

/// A body being collected.
pub(crate) struct Collected {
    pub bytes: Vec<u8>,
    /// As `collect` numbers them.
    pub kind: i32,
}

/// The request behind the first argument.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> JsResult<Rc<Ticket>> {
    native::get::<Ticket>(value).ok_or_else(|| Exception::throw_type(ctx, "not called on a request of this server"))
}

/// The request behind a request or a reply.
pub(crate) fn answered<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> JsResult<Rc<Ticket>> {
    match native::get::<Reply>(value) {
        Some(reply) => Ok(reply.0.clone()),
        None => of(ctx, value),
    }
}
