//! Users whose iterations are futures.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use onrush_engine::{Iteration, IterationEnd, Progress, VirtualUser};

/// Runs an iteration as a future.
pub trait Iterate: 'static {
    fn iterate(self: Rc<Self>, iteration: Iteration) -> impl Future<Output = IterationEnd> + 'static;
}

/// A user for the engine.
pub struct ByFuture<U> {
    user: Rc<U>,
    running: Option<Pin<Box<dyn Future<Output = IterationEnd>>>>,
}

impl<U: Iterate> ByFuture<U> {
    pub fn new(user: U) -> ByFuture<U> {
        ByFuture { user: Rc::new(user), running: None }
    }
}

impl<U: Iterate> VirtualUser for ByFuture<U> {
    fn begin(&mut self, iteration: Iteration) {
        self.running = Some(Box::pin(Rc::clone(&self.user).iterate(iteration)));
    }

    fn resume(&mut self, context: &mut Context<'_>) -> Progress<IterationEnd> {
        match self.running.as_mut().expect("an iteration was begun").as_mut().poll(context) {
            Poll::Ready(end) => Progress::Over(end),
            Poll::Pending => Progress::Waits,
        }
    }
}
