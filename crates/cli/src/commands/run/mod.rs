//! `onrush run`, from the flags to the exit code, top to bottom: load, plan, run, drain, judge, summarise.

pub mod drive;
pub mod end;
pub mod facts;
pub mod saved;
pub mod start;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use clap::ArgMatches;
use clap::parser::ValueSource;
use engine::Stopper;
use journal::{AgentsReport, Timeline};
use metrics::{Aggregate, Registry};
use script::debug::Debugger;
use script::log::Level;

use crate::api::{Api, Board, Stage};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::messages::Messages;
use crate::process::descriptors;
use crate::process::machine::Moment;
use crate::quick::Quick;
use crate::terminal::banner;
use crate::terminal::progress::Screen;
use crate::viewers::{LiveScreen, Viewers, WebPage};
use crate::{browser, called_as, output};

use drive::phases::Phases;
use drive::{pause, progress};
use end::finish;
use saved::{save, shards};
use start::flags::Flags;
pub use start::load::script_failure;
use start::{fleet_flags, load, outputs, plan};

/// Runs a test: a script, or what a URL stands for.
pub fn main(matches: &ArgMatches, quick: Option<Quick>, start: progress::Start) -> Result<ExitCode, Failure> {
    with_flags(Flags::read(matches, quick, true)?, matches, start)
}

/// Runs a test that somebody looks at: each scenario once, where no flag says another load.
pub fn debug(
    matches: &ArgMatches,
    debugger: Option<Arc<Debugger>>,
    start: progress::Start,
) -> Result<ExitCode, Failure> {
    let mut flags = Flags::read(matches, None, true)?;
    if flags.load.fleet.is_some() {
        let text = "--agents: the users of agents cannot be debugged; leave it out";
        return Err(Failure::new(ExitCode::Generic, text));
    }
    let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    if !["vus", "iterations", "duration", "stages", "hold"].into_iter().any(is_given) {
        flags.load.selection.is_once = true;
        flags.load.selection.once_for = Some(script::debug::TIME_LIMIT);
    }
    flags.test.debugger = debugger;
    with_flags(flags, matches, start)
}

fn with_flags(flags: Flags, matches: &ArgMatches, start: progress::Start) -> Result<ExitCode, Failure> {
    let log = Arc::new(Logger::new(&flags.shown.log)?.folding().hiding(flags.test.secrets.clone()));
    flags.test.without_effect.iter().for_each(|(level, text)| log.write(*level, text, &[]));
    warn_of_slow_lookups(&log);
    let ended = run(matches, flags, log.clone(), start);
    log.close().iter().for_each(|line| output::stderr().print(format!("{line}\n").as_bytes()));
    ended
}

/// What `--verbose` says of a test before it begins.
fn log_details(script: &load::Script, planned: &plan::Planned, log: &Logger) {
    let debug = |text: String| log.write(Level::Debug, &text, &[]);
    debug(format!("onrush {} ({}, {} cores)", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, cores()));
    debug(format!("script: {}, exports {}", script.program.entry(), script.program.functions().join(", ")));
    for (module, _) in script.program.modules() {
        debug(format!("module: {module}"));
    }
    debug(format!("built-in modules: {}", script.program.builtins_used().join(", ")));
    debug(format!("options: {}", planned.options.to_json()));
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A name server that does not answer is named while the test waits for it, once for each host.
fn warn_of_slow_lookups(log: &Arc<Logger>) {
    let (log, known) = (Arc::downgrade(log), Mutex::new(HashSet::new()));
    wire::client::hear_of_slow_lookups(move |host, after| {
        let is_new = known.lock().is_ok_and(|mut known| known.insert(host.to_owned()));
        if let Some(log) = log.upgrade().filter(|_| is_new) {
            let text = format!(
                "looking up {host}: no name server has answered for {} s; see the servers in /etc/resolv.conf, or give \
                 the address with the option hosts",
                after.as_secs()
            );
            log.write(Level::Warning, &text, &[]);
        }
    });
}

/// From the flags to the exit code.
fn run(matches: &ArgMatches, flags: Flags, log: Arc<Logger>, start: progress::Start) -> Result<ExitCode, Failure> {
    let (saving, messages) = prepare_saving(&flags, &log)?;
    let saves = saving.as_ref().is_some_and(save::Saving::is_writable);
    let stopper = Stopper::new();
    let board = flags.load.address.as_ref().map(|_| Board::new(stopper.clone()));
    let phases = Phases::listen(stopper.clone())?;
    let beside = flags.load.serve.as_ref().map(|serve| load::start_target(serve, &flags, &log)).transpose()?;
    let target = beside.as_ref().map(|beside| &beside.server);
    let registry = registry(&flags, saving.is_some(), &log);
    let layers = load::Layers::read(&flags, matches, target, &log)?;
    let trusted_pem = layers.trusted_pem().cloned();
    let script = load::script(&flags, target, layers.without_script(), log.clone(), registry.clone())?;
    connect(&script, &flags, messages.as_ref());
    let planned = plan::plan(&flags, layers.with_script(&script, &log)?, &script, &registry, &log)?;
    log_details(&script, &planned, &log);
    check_descriptors(&flags, &planned)?;
    let outputs = outputs::open(&flags, &script, &planned, &registry, &log)?;
    let shards = flags.kept.shards.as_ref().map(|url| shards::Shards::open(url, &planned.options)).transpose()?;
    let _api = open_to_clients(&flags, &planned, board.as_ref(), &log)?;
    let (screen, _page) = announce(&flags, &planned, &log);
    let aggregate = Aggregate::new(registry.clone(), planned.thresholds.clone());
    let drive = progress::Drive {
        script: &script,
        log: &log,
        stopper: stopper.clone(),
        registry: registry.clone(),
        screen,
        flags: &flags,
        saving: saving.as_ref(),
        shards: shards.as_ref(),
        outputs: &outputs,
        board: board.as_deref(),
    };
    phases.begin();
    let before = Moment::now();
    let test =
        progress::Test { flags: &flags, matches, planned: &planned, script: &script, target, trusted_pem, saves };
    let mut elsewhere = flags.load.fleet.as_ref().map(|_| start(&test, &registry, &log)).transpose()?;
    let ran = drive.finish_scenarios(planned, aggregate, elsewhere.as_deref_mut());
    let (agents, ran) = let_go(elsewhere.as_deref_mut(), ran)?;
    let ending = finish::Ending {
        flags: &flags,
        script: &script,
        log: &log,
        stopper: &stopper,
        phases: &phases,
        saving: saving.as_ref(),
        messages: messages.as_deref(),
        agents,
        fleet: elsewhere.as_deref(),
        before,
    };
    let code = end(&ending, (ran, outputs), board.as_deref())?;
    if flags.load.lingers {
        let service = pause::Service { script: &script, registry: &registry, log: &log };
        pause::linger(&phases, &stopper, board.as_deref(), &service);
    }
    Ok(code)
}

/// What follows the load.
fn end(
    ending: &finish::Ending<'_>,
    (ran, outputs): (progress::Ran, ::outputs::Outputs),
    board: Option<&Board>,
) -> Result<ExitCode, Failure> {
    let enter = |stage| board.iter().for_each(|board| board.enter(stage));
    enter(Stage::Teardown);
    let code = ending.finish(ran, outputs)?;
    ending.fleet.iter().for_each(|fleet| fleet.close());
    enter(Stage::Ended);
    Ok(code)
}

/// Lets the agents go, also those of a test that could not be run.
fn let_go(
    fleet: Option<&mut (dyn progress::Elsewhere + '_)>,
    ran: Result<progress::Ran, Failure>,
) -> Result<(Option<AgentsReport>, progress::Ran), Failure> {
    let Some(fleet) = fleet else { return Ok((None, ran?)) };
    let timeline = ran.as_ref().ok().and_then(|ran| ran.samples.timeline.as_ref());
    let agents = fleet.finish(timeline.and_then(Timeline::journal_length));
    if ran.is_err() {
        fleet.close();
    }
    Ok((Some(agents), ran?))
}

/// Agents have descriptors of their own.
fn check_descriptors(flags: &Flags, planned: &plan::Planned) -> Result<(), Failure> {
    match flags.load.fleet {
        None => descriptors::check(planned.plan.requirements().max_vus, flags.descriptors_per_vu()),
        Some(_) => Ok(()),
    }
}

/// Tells the script's requests who looks at them.
fn connect(script: &load::Script, flags: &Flags, messages: Option<&Arc<Messages>>) {
    flags.verdict.referee.iter().for_each(|address| script.program.referee().switch_on(address.as_deref()));
    messages.into_iter().for_each(|messages| script.program.log_messages(messages.clone()));
}

/// The metrics of the run: all that there are before its script is read.
fn registry(flags: &Flags, is_saved: bool, log: &Logger) -> Arc<Registry> {
    let registry = Registry::new();
    registry.set_details(is_saved || flags.kept.shards.is_some() || flags.export().is_some());
    flags.test.quick.iter().for_each(|quick| quick.prepare(&registry, log));
    registry
}

/// Where the result goes, and the messages beside it.
fn prepare_saving(flags: &Flags, log: &Arc<Logger>) -> Result<(Option<save::Saving>, Option<Arc<Messages>>), Failure> {
    let saving = flags.kept.save.as_deref().map(|dir| save::Saving::prepare(dir, log)).transpose()?;
    // Agents log what they receive, and send it here.
    let can_log = flags.kept.save_messages
        && flags.load.fleet.is_none()
        && saving.as_ref().is_some_and(save::Saving::is_writable);
    let logged = flags.kept.save.as_deref().filter(|_| can_log);
    let messages = logged.map(|dir| Messages::prepare(dir, log.clone())).transpose()?;
    Ok((saving, messages))
}

/// Starts the REST API when there is an address for it. The script is loaded: what clients see and want is possible.
fn open_to_clients(
    flags: &Flags,
    planned: &plan::Planned,
    board: Option<&Arc<Board>>,
    log: &Logger,
) -> Result<Option<Api>, Failure> {
    pause::announce(planned, board.map(Arc::as_ref))?;
    let (Some(address), Some(board)) = (&flags.load.address, board) else { return Ok(None) };
    board.seen().descriptors_per_vu = flags.descriptors_per_vu();
    let api = Api::start(address, Arc::clone(board))?;
    if let Some(address) = api.address() {
        log.write(Level::Info, &format!("the REST API listens at http://{address}/v1/status"), &[]);
    }
    Ok(Some(api))
}

/// Starts the page. As in k6, a run that cannot show itself goes on.
fn open_page(flags: &Flags, planned: &plan::Planned, log: &Logger) -> Option<Arc<WebPage>> {
    let web = flags.shown.web.as_ref()?;
    let (host, port) = web.listen.as_ref()?;
    let title = planned.options.url_mask().url(&flags.test.script).into_owned();
    match WebPage::start((host, *port), web.period, title) {
        Ok(page) => {
            log.write(Level::Info, &format!("the page of this run is at {}", page.url()), &[]);
            if web.opens
                && let Err(error) = browser::open(&page.url())
            {
                log.write(Level::Warning, &format!("--web-open: cannot start xdg-open: {error}"), &[]);
            }
            Some(Arc::new(page))
        }
        Err(why) => {
            let text = format!("--web: {why}; the test goes on without the page: --web-port 0 takes a free port");
            log.write(Level::Warning, &text, &[]);
            None
        }
    }
}

/// Says what will run, and where the progress will be drawn. The page is there for as long as somebody holds it: a run
/// that lingers still shows it.
fn announce(flags: &Flags, planned: &plan::Planned, log: &Logger) -> (Screen, Option<Arc<WebPage>>) {
    let page = open_page(flags, planned, log);
    // Standard output belongs to a program, or to an output that writes there.
    let screen = match flags.shown.answers_json || ::outputs::take_stdout(&flags.kept.outputs) {
        true => Screen::on_stderr(flags.shown.quiet),
        false => Screen::new(flags.shown.quiet, flags.color()),
    };
    let needs = planned.plan.requirements();
    let scenarios: Vec<_> = planned.plan.scenarios().collect();
    let address = planned.options.url_mask().url(&flags.test.script).into_owned();
    let place = flags.load.fleet.as_ref().map_or_else(|| String::from("local"), fleet_flags::FleetFlags::place);
    let banner = banner::banner((&address, &place), planned.share, &scenarios, needs.max_vus, needs.duration);
    screen.say(&screen.columns().map_or_else(|| banner.clone(), |columns| banner::fit(&banner, columns)));
    let live = LiveScreen::new(
        flags.shown.screen,
        &flags.test.system_env,
        called_as::is_k6(),
        address,
        !flags.shown.log.no_color,
    );
    (screen.watched_by(Viewers::new(live, page.clone())), page)
}
