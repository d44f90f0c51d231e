//! The handlers that a script registers for what happens to an object (`socket.on("open", …)`), in its order.
//!
//! Invariant: no borrow is held while a handler runs, so a handler may register another: as in k6, that one hears of
//! what happens next.

use std::cell::RefCell;

use host::js::function::Args;
use host::js::{Ctx, Function, Persistent, Result, Value};
use host::{async_context, object};

/// What can happen, and what `on` calls it.
pub trait NamedEvent: Copy + PartialEq + 'static {
    /// All of them.
    const NAMES: &'static [(&'static str, Self)];

    /// The event of that name.
    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }
}

/// A handler with the async context of the code that registered it; 0 where none is kept.
#[derive(Clone)]
struct Registered<E> {
    event: E,
    handler: Persistent<Function<'static>>,
    async_context: i64,
}

/// Handlers by event.
pub struct Handlers<E> {
    registered: RefCell<Vec<Registered<E>>>,
}

impl<E> Default for Handlers<E> {
    fn default() -> Handlers<E> {
        Handlers { registered: RefCell::default() }
    }
}

impl<E: NamedEvent> Handlers<E> {
    /// Registers one more.
    pub fn add<'js>(&self, ctx: &Ctx<'js>, event: E, handler: Function<'js>) {
        self.add_in(ctx, event, handler, 0);
    }

    /// Registers one that will run with the tags and metadata of now, where async contexts are kept. The context is
    /// kept until the iteration ends.
    pub fn add_with_context<'js>(&self, ctx: &Ctx<'js>, event: E, handler: Function<'js>) {
        self.add_in(ctx, event, handler, async_context::keep(ctx));
    }

    fn add_in<'js>(&self, ctx: &Ctx<'js>, event: E, handler: Function<'js>, async_context: i64) {
        let handler = Persistent::save(ctx, handler);
        self.registered.borrow_mut().push(Registered { event, handler, async_context });
    }

    /// Whether anybody hears of it.
    pub fn has(&self, event: E) -> bool {
        self.registered.borrow().iter().any(|one| one.event == event)
    }

    /// Lets go of all functions.
    pub fn clear(&self) {
        // Dropped after the borrow: a function's end may run the script's finalizers.
        drop(self.registered.take());
    }

    /// Calls the handlers of an event.
    pub fn emit<'js>(&self, ctx: &Ctx<'js>, event: E, arguments: &[Value<'js>]) -> Result<()> {
        self.each(ctx, event, |handler| {
            let mut args = Args::new(ctx.clone(), arguments.len());
            args.push_args(arguments.iter().cloned())?;
            handler.call_arg::<Value<'js>>(args).map(drop)
        })
    }

    /// Calls them with one argument: as `emit` does, in fewer steps.
    pub fn emit_one<'js>(&self, ctx: &Ctx<'js>, event: E, argument: &Value<'js>) -> Result<()> {
        self.each(ctx, event, |handler| object::call(ctx, handler.as_value(), argument).map(drop))
    }

    fn each<'js>(&self, ctx: &Ctx<'js>, event: E, call: impl Fn(Function<'js>) -> Result<()>) -> Result<()> {
        let count = self.registered.borrow().len();
        for index in 0..count {
            let handler = match self.registered.borrow().get(index) {
                None => break,
                Some(one) if one.event == event => one.clone(),
                Some(_) => continue,
            };
            let function = handler.handler.restore(ctx)?;
            async_context::run_in(ctx, handler.async_context, || call(function))?;
        }
        Ok(())
    }
}
