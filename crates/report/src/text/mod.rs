//! The summary at the end of a run, for people.
//!
//! Blocks (thresholds, total results, with mode `full` each scenario and group, errors) of paragraphs of lines. A block
//! has a heading and two empty lines before it; paragraphs are separated by one. Within a block all metric lines are
//! aligned. Groups that belong to a shown scenario are shown there; a scenario with k6's own name `default` is not
//! shown apart from the run.

mod errors;
mod paint;
mod requests;
mod rows;
mod without_samples;

use std::collections::HashSet;

use metrics::results::{CheckResult, GroupResult, MetricResult, Results, ThresholdResult, Value};

use crate::confidence;
use crate::document::Trust;
use crate::one_sided;
use crate::options::{SummaryMode, SummaryOptions};
use crate::section::{Section, is_phase};
use crate::visible;
use paint::Paint;
use rows::SummaryRow;
pub(crate) use rows::{threshold_value, was_never_answered};
use units::show;

/// Lines that belong together.
type Paragraph = Vec<String>;

/// The whole summary, ending with a line break.
pub fn text(results: &Results, options: &SummaryOptions) -> String {
    let writer = Writer { options, paint: Paint { on: options.color } };
    let mut blocks = Vec::new();
    let thresholds = writer.thresholds(results);
    if !thresholds.is_empty() {
        blocks.push(writer.block("THRESHOLDS", thresholds));
    }
    let total = writer.results(&results.metrics, &results.checks, results.duration.as_secs_f64(), 4);
    blocks.push(writer.block("TOTAL RESULTS", total));
    if options.mode == SummaryMode::Full {
        blocks.extend(writer.breakdown(results));
    }
    if options.mode == SummaryMode::Full {
        let all = requests::paragraph(results, options, None);
        if !all.is_empty() {
            blocks.push(writer.block("REQUESTS", indented(vec![all], 4)));
        }
    }
    let mut errors = if options.errors { errors::paragraphs(results, writer.paint, options.width) } else { Vec::new() };
    if options.errors && options.mode != SummaryMode::Full {
        // Of other protocols than HTTP nothing else in a summary says what failed.
        let failed = match errors.is_empty() && !requests::others_failed(results) {
            true => Vec::new(),
            false => requests::paragraph(results, options, Some(requests::SHOWN)),
        };
        errors.extend(indented(vec![failed], 4).into_iter().filter(|lines| !lines.is_empty()));
    }
    if !errors.is_empty() {
        blocks.push(writer.block("ERRORS", errors));
    }
    let sure: Vec<String> = confidence::lines(results, options)
        .into_iter()
        .chain(options.steadiness.clone())
        .chain(one_sided::lines(results, options))
        .collect();
    if !sure.is_empty() {
        let lines = sure.iter().flat_map(|line| wrapped(&visible(line), writer.room(4))).collect();
        blocks.push(writer.block("CONFIDENCE", indented(vec![lines], 4)));
    }
    if !options.load.is_empty() {
        let lines = options.load.iter().flat_map(|line| wrapped(&visible(line), writer.room(4))).collect();
        blocks.push(writer.block("LOAD", indented(vec![lines], 4)));
    }
    if !options.health.is_empty() {
        let lines = options.health.iter().flat_map(|line| wrapped(line, writer.room(4)));
        let lines = lines.map(|line| writer.paint.warning(&line)).collect();
        blocks.push(writer.block("GENERATOR", indented(vec![lines], 4)));
    }
    format!("{}\n\n\n", blocks.concat())
}

/// The first lines of a summary: whether its figures can be trusted, and what became of the planned iterations. Empty
/// where nobody judged.
pub fn verdict(options: &SummaryOptions) -> String {
    let writer = Writer { options, paint: Paint { on: options.color } };
    let Some(judgement) = &options.judgement else { return String::new() };
    let paint = |line: String| match judgement.verdict {
        Trust::Invalid if !options.late_accepted => writer.paint.bad(&line),
        Trust::Invalid | Trust::Suspect => writer.paint.warning(&line),
        Trust::Trusted | Trust::NotJudged => writer.paint.good(&line),
    };
    let line = judgement.line(options.late_accepted).into_iter();
    let first = line.flat_map(|line| wrapped(&visible(&line), writer.room(2))).map(paint);
    let limit = judgement.limit_line().into_iter().flat_map(|line| wrapped(&visible(&line), writer.room(2)));
    let timing = judgement.timing_line().into_iter().flat_map(|line| wrapped(&line, writer.room(2)));
    let lines: Vec<String> = first.chain(limit).chain(timing).chain(judgement.iterations.line()).collect();
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.iter().map(|line| format!("  {line}\n"));
    format!("\n{}", lines.collect::<String>())
}

struct Writer<'a> {
    options: &'a SummaryOptions,
    paint: Paint,
}

impl Writer<'_> {
    /// Columns that are left behind an indentation.
    fn room(&self, indent: usize) -> Option<usize> {
        self.options.width.map(|width| width.saturating_sub(indent))
    }

    fn block(&self, title: &str, paragraphs: Vec<Paragraph>) -> String {
        let mut block = format!("\n\n  █ {} \n", self.paint.bold(title));
        for paragraph in paragraphs {
            block.push('\n');
            paragraph.iter().for_each(|line| {
                block.push_str(line);
                block.push('\n');
            });
        }
        block
    }

    /// A paragraph for each metric that has thresholds; sub-metrics go below their parent when it has some too.
    fn thresholds(&self, results: &Results) -> Vec<Paragraph> {
        let mut paragraphs = Vec::new();
        let mut parent = "";
        for metric in results.metrics.iter().filter(|metric| !metric.thresholds.is_empty()) {
            let (indent, title) = match &metric.filter {
                None => (4, metric.name.clone()),
                Some(filter) if parent == metric.name => (6, format!("{{{}}}", visible(filter.trim()))),
                Some(filter) => (4, format!("{}{{{}}}", metric.name, visible(filter.trim()))),
            };
            if metric.filter.is_none() {
                parent = &metric.name;
            }
            let mut lines = vec![format!("{:indent$}{title}", "")];
            for threshold in &metric.thresholds {
                let mark = match threshold {
                    ThresholdResult { has_samples: false, .. } => self.paint.warning("?"),
                    ThresholdResult { ok: true, .. } => self.paint.good("✓"),
                    ThresholdResult { ok: false, .. } => self.paint.bad("✗"),
                };
                let source = self.paint.plain(&format!("'{}'", visible(&threshold.source)));
                let label = self.paint.plain(&visible(&threshold.label));
                if !threshold.has_samples {
                    let seen = without_samples::told(metric, &results.requests);
                    lines.push(format!("{:indent$}{mark} {source} {}", "", visible(&seen)));
                    continue;
                }
                let left = rows::threshold_value(metric, &threshold.label, threshold.left, self.options);
                lines.push(format!("{:indent$}{mark} {source} {label}={}", "", self.paint.value(&left)));
            }
            paragraphs.push(lines);
        }
        paragraphs
    }

    /// Checks and metrics of the run, a scenario or a group.
    fn results(&self, metrics: &[MetricResult], checks: &[CheckResult], seconds: f64, indent: usize) -> Vec<Paragraph> {
        let mut paragraphs = self.checks(metrics, checks, seconds, self.room(indent));
        let (titles, sections): (Vec<Section>, Vec<Vec<SummaryRow>>) = self.sections(metrics).into_iter().unzip();
        for (section, lines) in titles.iter().zip(rows::render(&sections, self.paint, self.room(indent))) {
            let title = self.paint.bold(section.title());
            paragraphs.push(std::iter::once(title).chain(lines).collect());
        }
        indented(paragraphs, indent)
    }

    /// As in k6 the totals are there, too, where the system tag `check` is off and no check has a line of its own.
    fn checks(
        &self,
        metrics: &[MetricResult],
        checks: &[CheckResult],
        seconds: f64,
        room: Option<usize>,
    ) -> Vec<Paragraph> {
        let of_metric = metrics.iter().find_map(|metric| match metric.value {
            Value::Rate { passes, total } if metric.name == "checks" && metric.filter.is_none() => {
                Some((passes, total - passes))
            }
            _ => None,
        });
        let (passes, fails) = match checks {
            [] => of_metric.unwrap_or_default(),
            checks => checks.iter().fold((0, 0), |(passes, fails), check| (passes + check.passes, fails + check.fails)),
        };
        let total = passes + fails;
        if total == 0 && checks.is_empty() {
            return Vec::new();
        }
        let rate = if seconds > 0.0 { total as f64 / seconds } else { 0.0 };
        let share = |part: u64| (show::share(part, total), format!("{part} out of {total}"));
        let ((good, good_of), (bad, bad_of)) = (share(passes), share(fails));
        let totals = vec![
            SummaryRow::pair("checks_total", total.to_string(), format!("{}/s", show::number(rate))),
            SummaryRow::pair("checks_succeeded", good, good_of),
            SummaryRow::pair("checks_failed", bad, bad_of),
        ];
        let mut paragraphs = rows::render(&[totals], self.paint, room);
        paragraphs.push(checks.iter().flat_map(|check| self.check(check)).collect());
        paragraphs
    }

    fn check(&self, check: &CheckResult) -> Vec<String> {
        let CheckResult { passes, fails, .. } = check;
        let name = visible(&check.name);
        if *fails == 0 {
            return vec![self.paint.good(&format!("✓ {name}"))];
        }
        let percent = u128::from(*passes) * 100 / u128::from(passes + fails);
        // Two more spaces on every level; k6 doubles what the level has.
        let detail = self.paint.bad(&format!("↳  {percent}% — ✓ {passes} / ✗ {fails}"));
        vec![self.paint.bad(&format!("✗ {name}")), format!("  {detail}")]
    }

    /// The sections that have lines, in k6's order; the metrics come sorted by name.
    fn sections(&self, metrics: &[MetricResult]) -> Vec<(Section, Vec<SummaryRow>)> {
        let compact = self.options.mode == SummaryMode::Compact;
        let rows = |section: Section| {
            let own = metrics.iter().filter(move |metric| Section::of(&metric.name) == Some(section));
            let own = own.filter(move |metric| !(compact && is_phase(&metric.name)));
            own.map(|metric| SummaryRow::of(metric, self.options)).collect::<Vec<_>>()
        };
        let sections = Section::ALL.iter().map(|section| (*section, rows(*section)));
        sections.filter(|(_, rows)| !rows.is_empty()).collect()
    }

    /// Blocks of the scenarios and of the groups outside of them.
    fn breakdown(&self, results: &Results) -> Vec<String> {
        let seconds = results.duration.as_secs_f64();
        let scenarios: Vec<_> = results.scenarios.iter().filter(|scenario| scenario.name != "default").collect();
        let inside: HashSet<&str> =
            scenarios.iter().flat_map(|s| &s.root.groups).map(|group| group.path.as_str()).collect();
        let mut blocks = Vec::new();
        for group in results.root.groups.iter().filter(|group| !inside.contains(group.path.as_str())) {
            let paragraphs = self.group(group, seconds, 4);
            blocks.push(self.block(&format!("GROUP: {}", visible(&group.name)), paragraphs));
        }
        for scenario in scenarios {
            let mut paragraphs = self.results(&scenario.metrics, &scenario.checks, seconds, 4);
            paragraphs.extend(self.inner_groups(&scenario.root, seconds, 4));
            blocks.push(self.block(&format!("SCENARIO: {}", visible(&scenario.name)), paragraphs));
        }
        blocks
    }

    fn group(&self, group: &GroupResult, seconds: f64, indent: usize) -> Vec<Paragraph> {
        let mut paragraphs = self.results(&group.metrics, &group.checks, seconds, indent);
        paragraphs.extend(self.inner_groups(group, seconds, indent));
        paragraphs
    }

    fn inner_groups(&self, group: &GroupResult, seconds: f64, indent: usize) -> Vec<Paragraph> {
        let mut paragraphs = Vec::new();
        for inner in &group.groups {
            let title = self.paint.bold(&format!("GROUP: {}", visible(&inner.name)));
            paragraphs.push(vec![format!("{:indent$}↳ {title} ", "")]);
            paragraphs.extend(self.group(inner, seconds, indent + 2));
        }
        paragraphs
    }
}

fn indented(paragraphs: Vec<Paragraph>, indent: usize) -> Vec<Paragraph> {
    let shift = |line: String| format!("{:indent$}{line}", "");
    paragraphs.into_iter().map(|lines| lines.into_iter().map(shift).collect()).collect()
}

/// A text in lines of this many columns, broken at spaces; a word that is longer stays whole.
fn wrapped(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
