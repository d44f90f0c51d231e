//! What goes in and out between the connections of a worker and the coroutine that runs its app.
//!
//! Events are put into the inbox and taken out by the coroutine in order. Bodies that the script wants more of are
//! polled here, each with a waker of its own, so that a wake-up costs what it is for and not a look at every upload.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use host::User;
use host::js::{Ctx, Function, Object, Persistent, Value};
use server::app::{BodyError, Piece};

use crate::memory::AppMemory;
use crate::outflow::{Listener, Outflow};
use crate::socket::{AppSocket, Objects, SocketEvent};
use crate::ticket::Ticket;

/// Something for the script to handle.
pub(crate) enum Event {
    /// A request begins.
    Request(Rc<Ticket>),
    /// The piece that the script asked for; nothing: the body has ended.
    Piece(Rc<Ticket>, Option<Result<Piece, BodyError>>),
    /// A body on its way out has room again, or is not wanted any more.
    Drained(Rc<Outflow>),
    /// The client has gone before its answer.
    Gone(Rc<Ticket>),
    /// Something happened on a WebSocket.
    Socket(Rc<AppSocket>, SocketEvent),
    /// A body may have a piece, and the app is to give memory for it first. The reader's number.
    Readable(usize),
}

/// What our JavaScript does for native code.
#[derive(Clone)]
pub(crate) struct SlowPaths {
    /// (body) → [body, type or undefined]
    pub extract: Persistent<Function<'static>>,
    /// (headers) → [name, value, …]
    pub flatten: Persistent<Function<'static>>,
    /// (response, body): keeps the body with the object
    pub keep: Persistent<Function<'static>>,
}

/// One per app; on its worker's thread.
#[derive(Default)]
pub(crate) struct Door {
    inbox: RefCell<VecDeque<Event>>,
    readers: RefCell<Vec<Option<Reader>>>,
    ready: Arc<Ready>,
    /// The coroutine is suspended because there is nothing to do.
    pub is_idle: Cell<bool>,
    kept: RefCell<Vec<Option<Persistent<Value<'static>>>>>,
    /// The class `Response` and its prototype.
    pub response: RefCell<Option<(Persistent<Value<'static>>, Persistent<Object<'static>>)>>,
    /// Our JavaScript for bodies and headers that are not plain.
    pub slow_paths: RefCell<Option<SlowPaths>>,
    /// Objects of WebSockets.
    pub objects: Objects,
    /// The app has an `allocate` function.
    pub allocates: Cell<bool>,
    /// Bytes of a message on a WebSocket at most, where the app says so.
    pub max_message: Cell<Option<u32>>,
    /// What it gave for the body that is being polled: it cannot be asked meanwhile, for then the coroutine does not
    /// run or is busy.
    pub allocated: RefCell<Option<AppMemory>>,
}

/// That of the app whose runtime this is.
pub(crate) fn of(ctx: &Ctx<'_>) -> Rc<Door> {
    User::of(ctx).local::<Door>()
}

/// The same, for bodies on their way out.
pub(crate) fn listener(ctx: &Ctx<'_>) -> Weak<dyn Listener> {
    let door: Rc<dyn Listener> = of(ctx);
    Rc::downgrade(&door)
}

struct Reader {
    ticket: Rc<Ticket>,
    waker: Waker,
}

/// Readers that were woken, and whom to tell.
#[derive(Default)]
struct Ready {
    woken: Mutex<Vec<usize>>,
    parent: Mutex<Option<Waker>>,
}

struct ReaderWake {
    index: usize,
    ready: Arc<Ready>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wake for ReaderWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        lock(&self.ready.woken).push(self.index);
        let parent = lock(&self.ready.parent).clone();
        if let Some(parent) = parent {
            parent.wake();
        }
    }
}

impl Listener for Door {
    fn drained(&self, flow: Rc<Outflow>) {
        self.put(Event::Drained(flow));
    }
}

impl Door {
    /// Adds an event and wakes the coroutine's task.
    pub fn put(&self, event: Event) {
        self.put_quietly(event);
        let parent = lock(&self.ready.parent).clone();
        if let Some(parent) = parent {
            parent.wake();
        }
    }

    /// Adds an event for a coroutine that is about to be resumed.
    pub fn put_quietly(&self, event: Event) {
        self.inbox.borrow_mut().push_back(event);
    }

    pub fn take(&self) -> Option<Event> {
        self.inbox.borrow_mut().pop_front()
    }

    /// Whether there is an event to take; otherwise wakes the task when one comes.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        {
            let mut parent = lock(&self.ready.parent);
            if !parent.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                *parent = Some(cx.waker().clone());
            }
        }
        let woken = std::mem::take(&mut *lock(&self.ready.woken));
        woken.into_iter().for_each(|index| self.poll_in_turn(index));
        if self.inbox.borrow().is_empty() { Poll::Pending } else { Poll::Ready(()) }
    }

    /// Asks for the next piece of a body; it comes as an event.
    pub fn read(&self, ticket: &Rc<Ticket>) {
        let index = ticket.reader.get().unwrap_or_else(|| self.add_reader(ticket));
        self.poll_in_turn(index);
    }

    /// Polls a reader now, or as an event when memory has to be asked for.
    fn poll_in_turn(&self, index: usize) {
        if self.allocates.get() {
            self.put_quietly(Event::Readable(index));
        } else {
            self.poll_reader(index);
        }
    }

    fn add_reader(&self, ticket: &Rc<Ticket>) -> usize {
        let mut readers = self.readers.borrow_mut();
        let index = readers.iter().position(Option::is_none).unwrap_or(readers.len());
        debug_assert!(ticket.reader.get().is_none(), "a body is read by one reader");
        let waker = Waker::from(Arc::new(ReaderWake { index, ready: self.ready.clone() }));
        let reader = Some(Reader { ticket: ticket.clone(), waker });
        if index == readers.len() {
            readers.push(reader)
        } else {
            readers[index] = reader
        }
        debug_assert!(readers[index].is_some() && ticket.reader.get().is_none(), "place {index} was free");
        ticket.reader.set(Some(index));
        index
    }

    /// A request whose body the script waits for a piece of, and how it is woken.
    pub fn reader(&self, index: usize) -> Option<(Rc<Ticket>, Waker)> {
        let readers = self.readers.borrow();
        let reader = readers.get(index)?.as_ref();
        let has_place = |reader: &Reader| reader.ticket.reader.get() == Some(index);
        debug_assert!(reader.is_none_or(has_place), "a reader and its request name the same place");
        let reader = reader.filter(|reader| reader.ticket.on_piece.get().is_some())?;
        Some((reader.ticket.clone(), reader.waker.clone()))
    }

    /// Asks a body for its next piece, if the script still waits for one.
    pub fn poll_reader(&self, index: usize) {
        let Some((ticket, waker)) = self.reader(index) else { return };
        let before = self.allocated.replace(ticket.allocated.take());
        debug_assert!(before.is_none(), "the memory of one request is not offered to another");
        let polled = ticket.body.borrow_mut().poll_next(&mut Context::from_waker(&waker));
        ticket.allocated.replace(self.allocated.take());
        let Poll::Ready(piece) = polled else { return };
        if !matches!(piece, Some(Ok(_))) {
            self.forget_reader(&ticket);
        }
        self.put_quietly(Event::Piece(ticket, piece));
    }

    fn forget_reader(&self, ticket: &Ticket) {
        let reader = ticket.reader.take().and_then(|index| self.readers.borrow_mut()[index].take());
        debug_assert!(reader.as_ref().is_none_or(|reader| std::ptr::eq(&*reader.ticket, ticket)), "of another request");
        drop(reader);
    }

    /// The client has gone: tells the script, when it wants to know, and stops reading.
    pub fn leave(&self, ticket: &Rc<Ticket>) {
        ticket.leave();
        self.forget_reader(ticket);
        if ticket.on_gone.get().is_some() || ticket.on_piece.get().is_some() {
            self.put(Event::Gone(ticket.clone()));
        }
    }

    /// Keeps a function or an object of the script; its number.
    pub fn keep<'js>(&self, ctx: &Ctx<'js>, value: Value<'js>) -> usize {
        let saved = Some(Persistent::save(ctx, value));
        let mut kept = self.kept.borrow_mut();
        match kept.iter().position(Option::is_none) {
            Some(index) => {
                kept[index] = saved;
                index
            }
            None => {
                kept.push(saved);
                kept.len() - 1
            }
        }
    }

    /// Lets go of a value that is not needed any more.
    pub fn forget(&self, number: &Cell<Option<usize>>) {
        let kept = number.take().and_then(|number| self.kept.borrow_mut().get_mut(number)?.take());
        drop(kept);
    }

    /// Takes a kept function out.
    pub fn recall<'js>(&self, ctx: &Ctx<'js>, number: Option<usize>) -> Option<Function<'js>> {
        let kept = self.kept.borrow_mut().get_mut(number?)?.take();
        kept?.restore(ctx).ok()?.into_function()
    }

    /// A kept value, which stays.
    pub fn kept<'js>(&self, ctx: &Ctx<'js>, number: Option<usize>) -> Option<Value<'js>> {
        let kept = self.kept.borrow().get(number?)?.clone();
        kept?.restore(ctx).ok()
    }

    /// Lets go of what is left, before the runtime goes.
    pub fn clear(&self) {
        let events = std::mem::take(&mut *self.inbox.borrow_mut());
        let readers = std::mem::take(&mut *self.readers.borrow_mut());
        let kept = std::mem::take(&mut *self.kept.borrow_mut());
        self.objects.clear();
        drop(self.allocated.take());
        drop((self.slow_paths.take(), self.response.take()));
        drop((events, readers, kept));
    }
}
