//! Tables of a matrix, as data: groups of rows with a rate, percentiles and what server and generator used.
//!
//! Nothing is averaged over different loads: axes that are not grouped by are columns. A row is one variant in one
//! cell, its figures medians over the rounds; only valid runs count, and what was left out is said below.

mod best;
mod chooser;
mod cold;
mod column;
mod csv;
mod data;
mod grid;
mod html;
mod lines;
mod make;
mod notes;
mod options;
mod pivot;
mod sheet;
mod text;

pub use csv::csv;
pub use data::{JudgedBy, RowGroup, Spread, TableRow, Tables};
pub use html::html;
pub use lines::{RunLine, csv_lines, lines, text_lines};
pub use make::tables;
pub use options::{PERCENTILES, TableOptions};
pub use pivot::{Grid, PIVOT_PERCENTILES, Pivot, grids};
pub use text::{markdown, text};

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::notes::BEST_IS_BY_RATE;
    use super::*;
    use crate::document::Cause;
    use crate::matrix::document::{KIND, Outcome, SCHEMA, Timing};
    use crate::matrix::document::{MatrixDocument, RunRecord, Usage};
    use crate::matrix::figures::Figures;
    use crate::matrix::plan;

    fn timing() -> Timing {
        Timing { measured_s: 64.0, warm_up_s: 32.0, commands_s: 0.0, servers_s: 1.0, loads_s: 2.0, own_s: 1.0 }
    }

    /// Two variants in two cells over six rounds; b is 10 % faster than a at 1k, and as fast at 10k. c died once.
    pub fn document() -> MatrixDocument {
        let plan = plan::from_toml(
            "p.toml",
            "name = 'demo'\n[axes]\nsize = ['1k', '10k']\n[load]\nurl = 'http://h/'\n[[variants]]\nname = \
             'a'\n[[variants]]\nname = 'b'\n",
        )
        .unwrap();
        let mut runs = Vec::new();
        for round in 1..=8_u32 {
            for (size, variant, factor) in [
                ("1k", "a", 1.0),
                ("1k", "b", 1.1),
                ("10k", "a", 1.0),
                ("10k", "b", if round % 2 == 0 { 1.01 } else { 0.99 }),
            ] {
                let rate = (1000.0 + f64::from(round) * 10.0) * factor;
                runs.push(RunRecord {
                    axes: BTreeMap::from([(String::from("size"), size.to_owned())]),
                    variant: variant.to_owned(),
                    round,
                    position: runs.len() + 1,
                    at: String::from("2026-11-21T18:00:00.000Z"),
                    outcome: Outcome::Ok,
                    measured_s: 2.0,
                    reason: None,
                    output: vec![],
                    result: None,
                    figures: Some(Figures {
                        rate,
                        count: Some(rate * 2.0),
                        percentiles_ms: BTreeMap::from([(String::from("50"), 0.5), (String::from("99.9"), 123.456)]),
                        ..Figures::default()
                    }),
                    server_stats: None,
                    server: Some(Usage { cpu_s: 1.0, peak_bytes: Some(1 << 20) }),
                    load: Some(Usage { cpu_s: 0.5, peak_bytes: Some(1 << 20) }),
                    machine: None,
                });
            }
        }
        let last = runs.last_mut().unwrap();
        (last.outcome, last.reason, last.figures) = (Outcome::Dead, Some(String::from("the server died")), None);
        MatrixDocument {
            kind: KIND.to_owned(),
            schema: SCHEMA,
            onrush: String::from("0.1.0"),
            started_at: String::from("2026-11-21T18:00:00.000Z"),
            seed: 1,
            plan: plan::Plan { rounds: 8, ..plan },
            environment: Default::default(),
            timing: timing(),
            runs,
        }
    }

    #[test]
    fn who_else_had_the_processors_is_told() {
        let mut document = document();
        let machine = |steal: f64, throttled| {
            Some(crate::document::Environment { steal_share: Some(steal), throttled, ..Default::default() })
        };
        document.runs[0].machine = machine(0.01, Some(0));
        document.runs[1].machine = machine(0.05, None);
        document.runs[2].machine = machine(0.0, Some(3));
        let notes = tables(&document, &TableOptions::default()).unwrap().notes;
        assert_eq!(notes[1], "! in 1 of 3 runs the hypervisor took CPU time away, up to 5 %");
        assert_eq!(notes[2], "! in 1 of 3 runs a CPU limit of the control group held the processes up");
    }

    /// A result of the first run whose generator was late.
    fn late(document: &mut MatrixDocument, accepted: bool) {
        let mut result: crate::document::Document = serde_json::from_value(serde_json::json!({
            "kind": "onrush-result", "schema": 1, "onrush": "0.1.0", "started_at": "", "duration_s": 2.0, "script": "",
            "options": {}, "environment": crate::document::Environment::default(),
            "generator": crate::document::Generator::default(), "exit": { "code": 0, "reason": null },
            "metrics": [], "checks": [], "groups": { "name": "", "path": "", "checks": [], "groups": [] },
            "seconds": { "starts_s": [], "lengths_s": [], "series": [] },
        }))
        .unwrap();
        result.generator.saturated = true;
        result.generator.cause = Some(Cause::HeldUp);
        result.generator.complaint = Some(String::from("the generator was held up: why"));
        result.generator.late_accepted = accepted;
        document.runs[0].result = Some(result);
    }

    #[test]
    fn runs_that_were_held_up_are_not_blamed_on_the_generator() {
        let mut document = document();
        late(&mut document, false);
        let tables = super::tables(&document, &TableOptions::default()).unwrap();
        let row = &tables.groups[0].rows[0];
        assert_eq!((row.saturated, row.limited_by, row.late_accepted), (1, Some(Cause::HeldUp), 0));
        let expected = "! in 1 of 31 runs the generator was held up by something else: the server may do more than \
            these rates; end what else runs on the machine, or pin servers and load to cores of their own; \
            --accept-late counts such runs";
        assert_eq!(tables.notes[1], expected);
        late(&mut document, true);
        let tables = super::tables(&document, &TableOptions::default()).unwrap();
        let row = &tables.groups[0].rows[0];
        assert_eq!((row.saturated, row.limited_by, row.late_accepted), (0, None, 1));
        let expected = "! ~ in 1 of 31 runs: late accepted (--accept-late): the generator was held up: why";
        assert_eq!(tables.notes[1], expected);
        assert!(text(&tables).contains(" ~  "), "{}", text(&tables));
    }

    #[test]
    fn rows_are_medians_over_rounds() {
        let tables = tables(&document(), &TableOptions::default()).unwrap();
        assert_eq!(tables.columns, ["size", "variant"]);
        let [small, large] = &tables.groups[..] else { panic!("a group a cell") };
        assert_eq!((small.heading.as_str(), large.heading.as_str()), ("size=1k", "size=10k"));
        let b = &small.rows[1];
        assert_eq!((b.valid, b.made), (8, 8));
        let rate = b.rate.unwrap();
        assert!((rate.median - 1045.0 * 1.1).abs() < 1e-9 && (rate.low - 1010.0 * 1.1).abs() < 1e-9, "{rate:?}");
        assert!((b.ratio.unwrap() - 1.1).abs() < 1e-12);
        assert_eq!((b.percentiles[4], b.percentiles[0], b.percentiles[10]), (Some(0.5), None, Some(123.456)));
        assert!((b.per_server_cpu_s.unwrap() - 2.0 * rate.median).abs() < 1e-9);
        assert_eq!((b.server_cores, b.load_cores), (Some(0.5), Some(0.25)));
        assert_eq!((large.rows[1].valid, large.rows[1].made), (7, 8));
        assert_eq!(tables.notes.last().map(String::as_str), Some(BEST_IS_BY_RATE));
        assert_eq!(tables.notes[0], "✗ round 8 of b (size=10k) is left out: the server died");
        assert!(
            tables.notes[1].ends_with(
                "1.0 s (1.0 %) starting and stopping servers, 2.0 s (2.0 %) starting and ending loads and 1.0 s \
                 (1.0 %) between the runs"
            ),
            "{}",
            tables.notes[1]
        );
    }

    #[test]
    fn groups_are_by_any_axis() {
        let by = |axes: &[&str]| {
            let group_by = Some(axes.iter().map(|a| a.to_string()).collect());
            tables(&document(), &TableOptions { group_by, ..Default::default() })
        };
        let found = by(&["variant"]).unwrap();
        assert_eq!(found.columns, ["size"]);
        assert_eq!(found.groups.iter().map(|g| g.heading.as_str()).collect::<Vec<_>>(), ["variant=a", "variant=b"]);
        assert_eq!(by(&["sise"]).unwrap_err(), "--group-by: unknown axis 'sise', expected some of size, variant");
    }

    #[test]
    fn servers_that_were_measured_cold_have_no_best() {
        let mut cold = document();
        cold.plan.warm_up = plan::from_toml("p", "warm_up = '0s'\n[load]\nurl = 'http://h/'\n").unwrap().warm_up;
        let tables = super::tables(&cold, &TableOptions::default()).unwrap();
        assert!(tables.groups.iter().all(|group| group.rows.iter().all(|row| !row.best)));
        assert_eq!(tables.groups[0].verdict, "no best, because the servers were measured cold");
        let said = "! servers were measured cold: runs of 2.0 s with 0.0 s of warm-up";
        assert!(tables.notes.iter().any(|note| note.starts_with(said)), "{:?}", tables.notes);
        // Servers that run all the time are not started for each run.
        cold.timing.servers_s = 0.0;
        let tables = super::tables(&cold, &TableOptions::default()).unwrap();
        assert!(tables.groups.iter().any(|group| group.rows.iter().any(|row| row.best)));
    }

    #[test]
    fn a_first_run_that_is_slower_than_all_later_ones_is_told() {
        let mut slow = document();
        for run in slow.runs.iter_mut().filter(|run| run.round == 1 && run.variant == "a") {
            if let Some(figures) = &mut run.figures {
                figures.rate /= 2.0;
            }
        }
        let told = |document: &MatrixDocument| {
            let tables = super::tables(document, &TableOptions::default()).unwrap();
            tables.notes.iter().find(|note| note.contains("the first run was slower")).cloned()
        };
        assert!(told(&slow).is_some_and(|note| note.starts_with("! in 2 of 4 rows the first run was slower")));
        assert_eq!(told(&document()), None);
    }

    #[test]
    fn what_used_no_processor_has_no_figure_a_second_of_it() {
        let mut document = document();
        document.runs.iter_mut().filter(|run| run.variant == "a").for_each(|run| {
            run.server = Some(Usage { cpu_s: 0.0, peak_bytes: None });
            run.load = None;
        });
        let tables = tables(&document, &TableOptions::default()).unwrap();
        let row = |variant: &str| {
            let row = tables.groups[0].rows.iter().find(|row| row.values["variant"] == variant).unwrap();
            (row.per_server_cpu_s, row.per_load_cpu_s, row.server_cores, row.load_cores)
        };
        assert_eq!(row("a"), (None, None, Some(0.0), None));
        // Rates of 1,111 to 1,188 a second: a median of 1,149.5 for two seconds, by one second and by a half.
        assert_eq!(row("b"), (Some(2299.0), Some(4598.0), Some(0.5), Some(0.25)));
    }
}
