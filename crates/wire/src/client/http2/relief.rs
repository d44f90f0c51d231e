//! Who polls a shared HTTP/2 connection when the request that should does not.
//!
//! The socket wakes the request that polled last. That one may have ended since, or its user may do something else for
//! seconds (a handler of a stream that sleeps), while other requests wait for what the socket has. So each connection
//! with more than one request has a task. It is woken behind that request and polls the connection where nobody did.

use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::client::http2::connection::SharedConnection;

/// What a connection registers with its socket.
pub(crate) struct SocketWaker {
    waker: Waker,
    state: Arc<SocketState>,
}

#[derive(Default)]
struct SocketState {
    /// The socket may have something, and calls nobody before it is asked.
    needs_poll: AtomicBool,
    wakers: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    /// Of the request that polled last.
    driver: Option<Waker>,
    /// Of the task that steps in, where there is one.
    relief: Option<Waker>,
    has_relief: bool,
    is_closed: bool,
}

impl SocketState {
    fn wakers(&self) -> MutexGuard<'_, Wakers> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for SocketState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.needs_poll.store(true, Ordering::Release);
        let wakers = self.wakers();
        // In this order: the task finds nothing to do where the request polls.
        wakers.driver.iter().chain(&wakers.relief).for_each(Waker::wake_by_ref);
    }
}

impl Default for SocketWaker {
    fn default() -> SocketWaker {
        let state = Arc::<SocketState>::default();
        SocketWaker { waker: Waker::from(Arc::clone(&state)), state }
    }
}

impl SocketWaker {
    /// The connection is polled, with this waker.
    pub(crate) fn driven_by(&self, waker: &Waker) {
        let wakers = &mut *self.state.wakers();
        match &mut wakers.driver {
            Some(driver) => driver.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// The socket has nothing left, and calls when it has.
    pub(crate) fn registered(&self) {
        self.state.needs_poll.store(false, Ordering::Release);
    }

    /// The socket gave something and may have more: it does not call before it was asked again.
    pub(crate) fn has_more(&self) {
        self.state.needs_poll.store(true, Ordering::Release);
        if let Some(relief) = &self.state.wakers().relief {
            relief.wake_by_ref();
        }
    }

    /// For the socket.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }
}

impl Drop for SocketWaker {
    fn drop(&mut self) {
        let mut wakers = self.state.wakers();
        wakers.is_closed = true;
        if let Some(relief) = wakers.relief.take() {
            relief.wake();
        }
    }
}

/// Has a task look after the connection, from now on. To be called within a `tokio::task::LocalSet`.
pub(crate) fn watch(connection: &Rc<SharedConnection>, on_socket: &SocketWaker) {
    if !std::mem::replace(&mut on_socket.state.wakers().has_relief, true) {
        tokio::task::spawn_local(relieve(Rc::downgrade(connection), Arc::clone(&on_socket.state)));
    }
}

async fn relieve(connection: Weak<SharedConnection>, state: Arc<SocketState>) {
    poll_fn(|cx| {
        {
            let mut wakers = state.wakers();
            if wakers.is_closed {
                return Poll::Ready(());
            }
            if !wakers.relief.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                wakers.relief = Some(cx.waker().clone());
            }
        }
        if state.needs_poll.load(Ordering::Acquire)
            && let Some(connection) = connection.upgrade()
        {
            connection.relieve(Waker::noop());
        }
        Poll::Pending
    })
    .await;
}
