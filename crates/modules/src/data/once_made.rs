//! Elements that one virtual user makes and all get.
//!
//! Who asks first gets a turn to make them, and the others wait. Nothing is locked while the script's function runs: it
//! may suspend its user, and another user of the same thread may ask meanwhile. A turn that ends without elements,
//! because the function threw or its user was stopped, passes to the next who asks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::elements::Elements;

/// Elements that are made once.
#[derive(Default)]
pub struct OnceMade {
    progress: Mutex<Progress>,
    /// Somebody's turn has ended.
    ended: Notify,
}

#[derive(Default)]
enum Progress {
    #[default]
    Waiting,
    Busy,
    Made(Arc<Elements>),
}

/// The answer for a caller that asks for the elements.
pub enum Asked {
    /// Here they are.
    Made(Arc<Elements>),
    /// Make them.
    Turn(Turn),
    /// Somebody else is making them: wait, and ask again.
    Busy,
}

/// The right to make the elements.
pub struct Turn(Arc<OnceMade>);

impl OnceMade {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the elements.
    pub fn ask(self: &Arc<Self>) -> Asked {
        let mut progress = self.lock();
        match &*progress {
            Progress::Made(elements) => Asked::Made(elements.clone()),
            Progress::Busy => Asked::Busy,
            Progress::Waiting => {
                *progress = Progress::Busy;
                Asked::Turn(Turn(self.clone()))
            }
        }
    }

    /// Waits until nobody is making the elements.
    pub async fn wait(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // From here on an end is noticed, also one that comes before the wait.
            ended.as_mut().enable();
            if !matches!(*self.lock(), Progress::Busy) {
                return;
            }
            ended.await;
        }
    }
}

impl Turn {
    /// Ends the turn with these elements.
    pub fn end(self, elements: Elements) -> Arc<Elements> {
        let elements = Arc::new(elements);
        let mut progress = self.0.lock();
        debug_assert!(matches!(*progress, Progress::Busy), "only the one who has the turn makes it");
        *progress = Progress::Made(elements.clone());
        drop(progress);
        elements
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut progress = self.0.lock();
        if let Progress::Busy = *progress {
            *progress = Progress::Waiting;
        }
        drop(progress);
        self.0.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn turn(array: &Arc<OnceMade>) -> Turn {
        match array.ask() {
            Asked::Turn(turn) => turn,
            Asked::Made(_) | Asked::Busy => panic!("it is nobody's turn"),
        }
    }

    #[test]
    fn the_second_waits_for_what_the_first_makes() {
        let array = Arc::new(OnceMade::default());
        let first = turn(&array);
        assert!(matches!(array.ask(), Asked::Busy));
        let mut waiting = Box::pin(array.wait());
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Pending);
        let mut elements = Elements::default();
        elements.push(Some("1"));
        first.end(elements);
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Ready(()));
        let Asked::Made(elements) = array.ask() else { panic!("they were made") };
        assert_eq!(elements.len(), 1);
    }

    #[test]
    fn a_turn_that_ends_with_nothing_passes_on() {
        let array = Arc::new(OnceMade::default());
        let first = turn(&array);
        let mut waiting = Box::pin(array.wait());
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Pending);
        drop(first);
        assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Ready(()));
        drop(turn(&array));
    }
}
