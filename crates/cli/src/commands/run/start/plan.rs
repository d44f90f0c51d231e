//! From options to what will be run: scenarios, the segment, thresholds, system tags, network. Everything that can be
//! refused is refused here, before the first VU is made.

use std::str::FromStr;
use std::sync::Arc;

use engine::Plan;
use engine::scenario::ConfigError;
use engine::segment::Stripes;
use metrics::{Registry, ThresholdSpecs, Thresholds};
use report::{SummaryMode, TimeUnit, TrendStat};
use script::log::Level;
use script::options::Options;
use wire::mask::Mask;

use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::limits;
use crate::commands::run::start::load::{Script, script_failure};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::process::descriptors;
use crate::secrets::masked_key;

/// What is about to run.
pub struct Planned {
    /// Scenarios dealt over workers.
    pub plan: Plan,
    /// Checked thresholds.
    pub thresholds: Thresholds,
    /// This instance's share of the test, 0 to 1.
    pub share: f64,
    /// The options, with the scenarios that the shortcuts stand for.
    pub options: Arc<Options>,
    /// What the summary tells of trends.
    pub columns: SummaryColumns,
}

/// Statistics and unit of trends in the summary.
#[derive(Clone, Debug)]
pub struct SummaryColumns {
    /// `summaryTrendStats`.
    pub trend_stats: Vec<TrendStat>,
    /// `summaryTimeUnit`.
    pub time_unit: Option<TimeUnit>,
}

/// Why `debugVU` shows nothing, where it does not. Of a part of a test another one may have the user.
fn shown_user_problem(options: &Options, plan: &Plan) -> Option<String> {
    let user = options.debug_vu.map(u64::from).filter(|_| options.execution_segment.is_none())?;
    let most = plan.requirements().max_vus;
    if options.http_debug.is_none() && options.ws_debug != Some(true) {
        return Some(format!(
            "debugVU: found {user} and nothing to show of it, expected --http-debug or --ws-debug, too"
        ));
    }
    (user > most).then(|| format!("debugVU: found user {user}, expected one of at most {most}, or 0 for setup()"))
}

/// Checks everything and hands the options to the script.
pub fn plan(
    flags: &Flags,
    mut options: Options,
    script: &Script,
    registry: &Arc<Registry>,
    log: &Logger,
) -> Result<Planned, Failure> {
    let mut derived = options.execution.clone().derive().map_err(config_failure)?;
    derived.scenarios = flags.load.selection.of(derived.scenarios).map_err(config_failure)?;
    derived.scenarios.read_traces(|file| script.program.read_beside(file)).map_err(config_failure)?;
    if let Some(hold) = &flags.load.hold {
        derived.scenarios = hold.of(derived.scenarios).map_err(config_failure)?;
    }
    derived.warnings.iter().for_each(|warning| log.write(Level::Warning, warning, &[]));
    let wanted = derived.scenarios.iter().map(|scenario| (scenario.name.as_str(), scenario.exec.as_str()));
    script.program.check_functions(wanted).map_err(script_failure)?;
    options.execution = engine::scenario::Shortcuts { scenarios: Some(derived.scenarios), ..Default::default() };
    options.read_scenarios().map_err(|problem| Failure::new(ExitCode::InvalidConfig, problem))?;
    let scenarios = options.execution.scenarios.as_ref().expect("they were put there");
    let stripes = stripes(&options)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    // A coordinator runs nothing itself: each agent stands for a worker.
    let agents = flags.load.fleet.as_ref().map(|fleet| fleet.agents as usize);
    let workers = agents.or(flags.load.workers).unwrap_or_else(cores);
    let least = Plan::least_users(scenarios, &stripes).map_err(config_failure)?;
    if agents.is_none() {
        descriptors::check(least, flags.descriptors_per_vu())?;
    }
    let plan = Plan::new(scenarios, &stripes, workers).map_err(config_failure)?;
    shown_user_problem(&options, &plan).iter().for_each(|problem| log.write(Level::Warning, problem, &[]));
    limits::add_thresholds(&mut options.thresholds, &flags.verdict.thresholds)
        .map_err(|problem| Failure::new(ExitCode::InvalidConfig, problem))?;
    if flags.load.hold.is_some() {
        // Who holds a load wants to see what becomes of it.
        let all = options.thresholds.iter_mut().flat_map(|specs| specs.values_mut()).flatten();
        all.for_each(|spec| spec.abort_on_fail = false);
    }
    let thresholds = match (&options.thresholds, flags.verdict.no_thresholds) {
        (Some(specs), false) => Thresholds::resolve(&masked(specs, &options.url_mask()), registry)
            .map_err(|error| Failure::new(ExitCode::InvalidConfig, error.to_string()))?,
        _ => Thresholds::default(),
    };
    let columns = summary_columns(&options)?;
    registry.set_breakdown(flags.shown.summary_mode == Some(SummaryMode::Full));
    let settings = Arc::new(options.network_settings());
    script
        .runtime
        .block_on(async { wire::ClientContext::new(settings).map(drop) })
        .map_err(|error| Failure::new(ExitCode::InvalidConfig, error.message))?;
    script.program.set_options(options);
    Ok(Planned { plan, thresholds, share: stripes.share(), options: script.program.options(), columns })
}

/// Tags hold URLs without their secrets; a filter that names one has to read the same.
fn masked(specs: &ThresholdSpecs, mask: &Mask) -> ThresholdSpecs {
    let mut masked = ThresholdSpecs::new();
    for (key, list) in specs {
        masked.entry(masked_key(key, mask)).or_default().extend(list.iter().cloned());
    }
    masked
}

fn stripes(options: &Options) -> Result<Stripes, Failure> {
    let segment = options.execution_segment.as_deref().copied();
    Stripes::new(segment, options.execution_segment_sequence.as_deref())
        .map_err(|error| Failure::new(ExitCode::InvalidConfig, format!("option 'executionSegment': {error}")))
}

/// Statistics and unit as the options name them.
fn summary_columns(options: &Options) -> Result<SummaryColumns, Failure> {
    let refuse = |name: &str, error: &dyn std::fmt::Display| {
        Failure::new(ExitCode::InvalidConfig, format!("option '{name}': {error}"))
    };
    let trend_stats = match options.summary_trend_stats.as_deref().filter(|stats| !stats.is_empty()) {
        // k6's code for this option, unlike for others.
        Some(stats) => report::parse_trend_stats(stats)
            .map_err(|error| Failure { code: ExitCode::Generic, ..refuse("summaryTrendStats", &error) })?,
        None => TrendStat::defaults(),
    };
    let time_unit = options.summary_time_unit.as_deref().filter(|unit| !unit.is_empty());
    let time_unit = time_unit.map(TimeUnit::from_str).transpose().map_err(|error| refuse("summaryTimeUnit", &error))?;
    Ok(SummaryColumns { trend_stats, time_unit })
}

fn config_failure(error: ConfigError) -> Failure {
    Failure::new(ExitCode::InvalidConfig, error.to_string())
}
