//! What a debugged user does: it notes where it is before each statement, stops where it should, and answers while it
//! is stopped.
//!
//! Its calls are a list of its own, one entry a call, with the function that evaluates in the scope. Entries end
//! silently: one is known to be over when a statement runs at a place of the C stack that is not below it. What is left
//! of a call after an exception shows where that was thrown.

mod responses;
mod stack;

use std::cell::{Cell, RefCell};

use host::js::object::Property;
use host::js::{Ctx, Function, Persistent, Value};
use tokio::sync::mpsc;

use crate::debug::{Debugger, FrameView, Go, Inspection, InspectionResult, StopCommand, Stopped, Why, thread_of};
use crate::error::ScriptError;
use crate::loader::instrument;
use crate::vu::Vu;
pub(crate) use responses::watch as watch_responses;
use stack::RealFrame;

/// DebugState of one debugged user.
#[derive(Default)]
pub(super) struct Debugged {
    calls: RefCell<Vec<RunningCall>>,
    activations: Cell<u32>,
    /// Where the last step began.
    step: Cell<Option<PendingStep>>,
    /// It answers: statements that run meanwhile are not its own.
    is_busy: Cell<bool>,
    inspector: RefCell<Option<Persistent<Function<'static>>>>,
}

/// One call that has run a statement.
struct RunningCall {
    /// Address on the C stack: a call further in has a lower one.
    depth: usize,
    site: usize,
    /// Number of the activation; 0 for an arrow function that is an expression.
    activation: u32,
    evaluate: Persistent<Function<'static>>,
}

#[derive(Clone, Copy)]
struct PendingStep {
    go: Go,
    depth: usize,
    activation: u32,
    awaits: bool,
}

impl PendingStep {
    /// Whether a statement is where the step leads.
    fn is_over(self, depth: usize, activation: u32) -> bool {
        let is_same = activation == self.activation && activation != 0;
        match self.go {
            Go::In => true,
            Go::On => false,
            Go::Out => depth > self.depth && !is_same,
            Go::Over => is_same || depth > self.depth && !self.awaits,
        }
    }
}

/// Puts the native functions there that instrumented code calls.
pub(crate) fn install(ctx: &Ctx<'_>, vu: &Vu) -> host::js::Result<()> {
    let Some(debugger) = vu.debugger() else { return Ok(()) };
    let (enter, stop) = (Function::new(ctx.clone(), enter)?, Function::new(ctx.clone(), stop)?);
    ctx.globals().prop(instrument::ENTER, Property::from(enter))?;
    ctx.globals().prop(instrument::STOP, Property::from(stop))?;
    debugger.begin(thread_of(vu.id()));
    Ok(())
}

/// The number of a new activation.
fn enter(ctx: Ctx<'_>) -> u32 {
    let debugged = Vu::peek(&ctx).local::<Debugged>();
    let next = debugged.activations.get().wrapping_add(1).max(1);
    debugged.activations.set(next);
    next
}

/// Called before each statement.
fn stop<'js>(ctx: Ctx<'js>, site: u32, activation: u32, evaluate: Function<'js>) -> host::js::Result<()> {
    let vu = Vu::of(&ctx);
    let Some(debugger) = vu.debugger() else { return Ok(()) };
    let debugged = vu.local::<Debugged>();
    if debugged.is_busy.get() {
        return Ok(());
    }
    let marker = 0_u8;
    let depth = (&raw const marker).addr();
    let site = site as usize;
    debugged.note(RunningCall { depth, site, activation, evaluate: Persistent::save(&ctx, evaluate.clone()) });
    let is_step = debugged.step.get().is_some_and(|step| step.is_over(depth, activation));
    let Some((reason, condition)) = debugger.reason(thread_of(vu.id()), site, is_step) else { return Ok(()) };
    if condition.is_some_and(|condition| !debugged.is_true(&ctx, &evaluate, &condition)) {
        return Ok(());
    }
    let real = stack::current(&ctx)?;
    debugged.hold(&ctx, &vu, debugger, Why { reason, text: None }, real)
}

/// Stops at an exception that the script did not catch. It has been thrown; the calls are still known.
pub(crate) fn stop_at_uncaught(ctx: &Ctx<'_>, vu: &Vu, error: &ScriptError) {
    let Some(debugger) = vu.debugger() else { return };
    if !debugger.stops_at_uncaught() {
        return;
    }
    let debugged = vu.local::<Debugged>();
    let text = Some(error.message.clone());
    // Told to end meanwhile, the user ends by itself.
    let _told = debugged.hold(ctx, vu, debugger, Why { reason: "exception", text }, stack::of_error(error));
    debugged.step.set(None);
}

impl Debugged {
    fn note(&self, call: RunningCall) {
        let mut calls = self.calls.borrow_mut();
        while calls.last().is_some_and(|last| last.depth <= call.depth) {
            calls.pop();
        }
        calls.push(call);
    }

    /// A condition that throws holds: somebody wants to see why.
    fn is_true<'js>(&self, ctx: &Ctx<'js>, evaluate: &Function<'js>, condition: &str) -> bool {
        self.is_busy.set(true);
        let value = evaluate.call::<_, Value<'js>>((condition,));
        self.is_busy.set(false);
        match value {
            Ok(value) => value.get::<host::js::Coerced<bool>>().is_ok_and(|truth| truth.0),
            Err(_) => {
                ctx.catch();
                true
            }
        }
    }

    /// Waits until it is told to go on, and answers meanwhile.
    fn hold(
        &self,
        ctx: &Ctx<'_>,
        vu: &Vu,
        debugger: &Debugger,
        why: Why,
        real: Vec<RealFrame>,
    ) -> host::js::Result<()> {
        let frames = self.frames(debugger, real);
        let (commands, mut heard) = mpsc::unbounded_channel();
        let thread = thread_of(vu.id());
        let views = frames.iter().map(|frame| frame.view.clone()).collect();
        if !debugger.stop(Stopped { thread, frames: views, commands }, why) {
            return Ok(());
        }
        let top = frames.first().and_then(|frame| frame.call);
        self.step.set(None);
        self.is_busy.set(true);
        // Values that were told at the last stop are of no use any more.
        if let Some(inspector) = self.inspector.borrow().clone() {
            inspector.restore(ctx)?.call::<_, ()>(("forget",))?;
        }
        let told = loop {
            match vu.block_on(ctx, heard.recv()) {
                Ok(Some(StopCommand::Ask(question, reply))) => match self.answer(ctx, &frames, question) {
                    Ok(answer) => reply.send(answer),
                    Err(error) => break Err(error),
                },
                Ok(Some(StopCommand::Go(go))) => break Ok(go),
                Ok(None) => break Ok(Go::On),
                Err(error) => break Err(error),
            }
        };
        self.is_busy.set(false);
        if told.is_err() {
            debugger.ran_on(thread);
        }
        let go = told?;
        let awaits = frames.first().and_then(|frame| frame.view.site.as_ref()).is_some_and(|site| site.awaits);
        if go != Go::On
            && let Some(call) = top.and_then(|at| self.calls.borrow().get(at).map(|call| (call.depth, call.activation)))
        {
            self.step.set(Some(PendingStep { go, depth: call.0, activation: call.1, awaits }));
        }
        Ok(())
    }

    /// The frames of the real stack, each with what is known of its call.
    fn frames(&self, debugger: &Debugger, real: Vec<RealFrame>) -> Vec<ShownFrame> {
        let calls = self.calls.borrow();
        let places = debugger.places().all();
        let mut below = calls.len();
        let frames = real.into_iter().map(|frame| {
            let is_here = |call: &RunningCall| {
                places.get(call.site).is_some_and(|(module, site)| {
                    **module == *frame.module && (site.start.line..=site.end.line).contains(&frame.position.line)
                })
            };
            let call = calls[..below].iter().rposition(is_here);
            below = call.unwrap_or(below);
            let site = call.and_then(|at| places.get(calls[at].site)).map(|(_, site)| site.clone());
            let RealFrame { function, module, position } = frame;
            ShownFrame { call, view: FrameView { function, module, position, site } }
        });
        frames.collect()
    }

    /// The answer to a question; an error when the user must stop.
    fn answer(&self, ctx: &Ctx<'_>, frames: &[ShownFrame], question: Inspection) -> host::js::Result<InspectionResult> {
        let evaluate = |frame: usize| {
            let calls = self.calls.borrow();
            let call = frames.get(frame).and_then(|frame| calls.get(frame.call?));
            call.map(|call| call.evaluate.clone())
        };
        let ask = |what: &str, frame: Option<usize>, argument: String| {
            let evaluate = match frame {
                Some(frame) => match evaluate(frame) {
                    Some(evaluate) => Some(evaluate.restore(ctx)?),
                    None => return Ok(Err(String::from("the scope of this frame is not known"))),
                },
                None => None,
            };
            let inspector = self.inspector(ctx)?;
            inspector.call::<_, String>((what, argument, evaluate)).map(Ok)
        };
        let json = |names: &[String]| serde_json::to_string(names).unwrap_or_default();
        let answer = match question {
            Inspection::Value { frame, text } => {
                // A part of the language that no module of the script names may be missing.
                host::intrinsics::for_source(ctx, &text)?;
                ask("value", Some(frame), text)
            }
            Inspection::Names { frame, names } => ask("names", Some(frame), json(&names)),
            Inspection::Globals(names) => ask("globals", None, json(&names)),
            Inspection::LastResponse => ask("response", None, String::new()),
            Inspection::Parts(number) => ask("parts", None, number.to_string()),
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) if error.is_exception() => {
                let thrown = ctx.catch();
                if host::exception::is_uncatchable(&thrown) {
                    return Err(ctx.throw(thrown));
                }
                let text = thrown.get::<host::js::Coerced<String>>().map(|text| text.0);
                Ok(Err(text.unwrap_or_else(|_| String::from("an exception without a text"))))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// The function that looks at values, made at its first use.
    pub(super) fn inspector<'js>(&self, ctx: &Ctx<'js>) -> host::js::Result<Function<'js>> {
        if let Some(known) = self.inspector.borrow().clone() {
            return known.restore(ctx);
        }
        let made = host::module::evaluate_own(ctx, stack::OWN, include_str!("inspect.js"))?;
        let made = made.into_function().ok_or(host::js::Error::Unknown)?;
        self.inspector.replace(Some(Persistent::save(ctx, made.clone())));
        Ok(made)
    }
}

/// A frame of the real stack, and its call.
struct ShownFrame {
    call: Option<usize>,
    view: FrameView,
}
