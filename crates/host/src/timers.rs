//! Timers of one virtual user: `setTimeout` and `setInterval`.
//!
//! In the order in which they are due, then in that of their numbers. Adding, clearing and firing one of a million
//! costs what it costs with few. What they hold is on the user's memory account. No borrow is held while JavaScript
//! runs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::{Ctx, Function, Persistent, Result, Value};
use rustc_hash::FxHashMap;

use crate::memory::{Memory, Reservation};

/// Timers wait at most this long: the longest that browsers and Go's timers share (2^31-1 ms).
const LONGEST_DELAY_MS: f64 = 2_147_483_647.0;

/// What the two maps take for one timer, free places included.
const ENTRY_BYTES: usize = 2 * (size_of::<((Instant, u32), Timer)>() + size_of::<(u32, Instant)>());

/// A function to call later, and what to call it with.
pub type Call<'js> = (Function<'js>, Vec<Value<'js>>);

/// What a timer calls now.
pub struct Due<'js> {
    /// The function, and what to call it with.
    pub call: Call<'js>,
    /// The async context of the code that set it.
    pub async_context: i64,
    /// Whether it is due again later.
    pub repeats: bool,
}

struct Timer {
    /// The async context of the code that set it.
    async_context: i64,
    /// For `setInterval`.
    every: Option<Duration>,
    callback: Persistent<Function<'static>>,
    args: Vec<Persistent<Value<'static>>>,
}

impl Timer {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.args.capacity() * size_of::<Persistent<Value<'static>>>()
    }
}

/// The timers that will fire.
#[derive(Default)]
pub struct Timers {
    by_due: RefCell<BTreeMap<(Instant, u32), Timer>>,
    due: RefCell<FxHashMap<u32, Instant>>,
    last: Cell<u32>,
    held: RefCell<Option<Reservation>>,
}

impl Timers {
    /// Adds a timer and returns its number. `delay_ms` below 0 or not a number counts as 0. Throws when it does not fit
    /// into the user's memory.
    pub fn add<'js>(
        &self,
        ctx: &Ctx<'js>,
        memory: &Rc<Memory>,
        (callback, args): Call<'js>,
        delay_ms: f64,
        repeat: bool,
        async_context: i64,
    ) -> Result<u32> {
        let delay_ms = if delay_ms > 0.0 { delay_ms.min(LONGEST_DELAY_MS) } else { 0.0 };
        let delay = Duration::from_secs_f64(delay_ms / 1000.0);
        let timer = Timer {
            async_context,
            every: repeat.then_some(delay.max(Duration::from_millis(1))),
            callback: Persistent::save(ctx, callback),
            args: args.into_iter().map(|arg| Persistent::save(ctx, arg)).collect(),
        };
        self.hold(memory, timer.bytes()).map_err(|over| over.throw(ctx))?;
        let id = self.last.get() + 1;
        self.last.set(id);
        self.put(id, Instant::now() + delay, timer);
        Ok(id)
    }

    fn hold(&self, memory: &Rc<Memory>, bytes: usize) -> std::result::Result<(), crate::memory::OverLimit> {
        let mut held = self.held.borrow_mut();
        match &mut *held {
            Some(held) => held.grow(bytes),
            None => {
                *held = Some(memory.reserve(bytes)?);
                Ok(())
            }
        }
    }

    fn put(&self, id: u32, due: Instant, timer: Timer) {
        self.due.borrow_mut().insert(id, due);
        let before = self.by_due.borrow_mut().insert((due, id), timer);
        debug_assert!(before.is_none(), "a timer is set once at a time");
        debug_assert_eq!(self.due.borrow().len(), self.by_due.borrow().len(), "each timer is found both ways");
    }

    /// Removes a timer; unknown numbers are fine.
    pub fn clear(&self, id: u32) {
        let due = self.due.borrow_mut().remove(&id);
        let removed = due.and_then(|due| self.by_due.borrow_mut().remove(&(due, id)));
        debug_assert_eq!(due.is_some(), removed.is_some(), "each timer is found both ways");
        if let Some(timer) = removed {
            self.release(&timer);
        }
    }

    fn release(&self, timer: &Timer) {
        if let Some(held) = &mut *self.held.borrow_mut() {
            debug_assert!(timer.bytes() <= held.bytes(), "what is given back was taken");
            held.shrink(timer.bytes());
        }
    }

    /// Whether none will fire.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_due.borrow().is_empty()
    }

    /// When the first is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.by_due.borrow().first_key_value().map(|((due, _), _)| *due)
    }

    /// What the first timer calls, when it is due. One that repeats is due again later.
    pub fn take_due<'js>(&self, ctx: &Ctx<'js>) -> Result<Option<Due<'js>>> {
        if self.is_empty() {
            return Ok(None);
        }
        let now = Instant::now();
        let first = {
            let mut by_due = self.by_due.borrow_mut();
            let Some(first) = by_due.first_entry().filter(|first| first.key().0 <= now) else { return Ok(None) };
            first.remove_entry()
        };
        let ((_, id), timer) = first;
        let call = (timer.callback.clone(), timer.args.clone());
        let (async_context, repeats) = (timer.async_context, timer.every.is_some());
        match timer.every {
            Some(every) => self.put(id, now + every, timer),
            None => {
                self.due.borrow_mut().remove(&id);
                self.release(&timer);
            }
        }
        let args = call.1.into_iter().map(|arg| arg.restore(ctx)).collect::<Result<_>>()?;
        Ok(Some(Due { call: (call.0.restore(ctx)?, args), async_context, repeats }))
    }

    /// Removes all: their numbers, in the order in which they were added, and whether they repeat.
    pub fn take_all(&self) -> Vec<(u32, bool)> {
        let timers = std::mem::take(&mut *self.by_due.borrow_mut());
        self.due.take();
        self.held.take();
        let mut all: Vec<_> = timers.iter().map(|((_, id), timer)| (*id, timer.every.is_some())).collect();
        drop(timers);
        all.sort_unstable();
        all
    }
}
