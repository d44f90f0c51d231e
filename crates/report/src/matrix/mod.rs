//! A matrix: variants × cells × rounds, and the outcome of its runs.
//!
//! Pure: a plan becomes checked cells, variants and an order (`Matrix`), each run a record in a `MatrixDocument`, and
//! tables are made from that alone. Starting processes is the binary's work. What makes no sense is refused before
//! anything runs, with the place in the plan.

pub mod cells;
pub mod document;
pub mod failed_requests;
pub mod figures;
mod number;
pub mod order;
pub mod parts;
pub mod plan;
mod power;
pub mod server_stats;
pub mod table;
pub mod template;
pub mod time;

use std::collections::BTreeMap;

use cells::Cell;
use order::Turn;
use parts::{Amount, LoadKind, Names, Part, ServerKind};
use plan::{Plan, PlanError};

use crate::stats::MOST_PAIRS;

/// A plan that makes sense.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// As written.
    pub plan: Plan,
    /// All combinations of the axes' values.
    pub cells: Vec<Cell>,
    /// The variants, in the plan's order.
    pub parts: Vec<Part>,
}

impl Matrix {
    /// Checks a plan down to every placeholder of every run.
    pub fn new(plan: Plan) -> Result<Matrix, PlanError> {
        if plan.rounds == 0 {
            return Err(PlanError::near("rounds: found 0, expected 1 or more; a verdict needs 6", "rounds"));
        }
        if plan.rounds as usize > MOST_PAIRS {
            let text = format!("rounds: found {}, expected at most {MOST_PAIRS}", plan.rounds);
            return Err(PlanError::near(text, "rounds"));
        }
        let cells = cells::cells(&plan.axes)?;
        let parts = parts(&plan)?;
        let matrix = Matrix { plan, cells, parts };
        matrix.check_every_run()?;
        Ok(matrix)
    }

    /// Indices of the variants that run in each cell.
    pub fn variants(&self) -> Vec<Vec<usize>> {
        let of = |cell| (0..self.parts.len()).filter(|&part| self.parts[part].runs_in(cell)).collect();
        self.cells.iter().map(of).collect()
    }

    /// All turns, in order.
    pub fn order(&self) -> Vec<Turn> {
        order::order(self.plan.seed, self.plan.rounds, &self.variants())
    }

    /// Names as they would be, to see whether every placeholder has a value. They also tell what a dry run would start.
    pub fn sample_names(&self, part: &Part) -> Names {
        let port = part.port().unwrap_or(8080);
        let mut names: Names = ["folder", "scratch", "onrush", "round"].map(|name| (name, String::from("1"))).into();
        if part.base().is_some() {
            names.extend([("port", port.to_string()), ("tls_port", String::from("8443"))]);
            names.insert("stats_port", String::from("8081"));
            names.extend([("unix", String::from("/tmp/1.sock")), ("aunix", String::from("@1"))]);
        }
        names
    }

    /// A shell line of the plan, filled; `cell` is none for setup and teardown.
    pub fn command_line(&self, line: &str, cell: Option<&Cell>, names: &Names) -> Result<String, PlanError> {
        let value_of = |name: &str| cell.and_then(|cell| cell.value_of(name)).or_else(|| names.get(name).cloned());
        template::expand(line, &value_of).map_err(|error| match cell {
            Some(cell) => parts::unknown(&error, cell, "a command"),
            None => PlanError::near(
                format!("{error}: setup and teardown know {{folder}}, {{scratch}} and {{onrush}}"),
                line,
            ),
        })
    }

    fn check_commands(&self) -> Result<(), PlanError> {
        let mut names: Names = ["folder", "scratch", "onrush"].map(|name| (name, String::new())).into();
        for line in self.plan.setup.iter().chain(&self.plan.teardown) {
            self.command_line(line, None, &names)?;
        }
        names.insert("round", String::new());
        for line in self.plan.before_cell.iter().chain(&self.plan.after_cell) {
            self.cells.iter().try_for_each(|cell| self.command_line(line, Some(cell), &names).map(drop))?;
        }
        Ok(())
    }

    fn check_every_run(&self) -> Result<(), PlanError> {
        self.check_commands()?;
        let variants = self.variants();
        for (cell, variants) in self.cells.iter().zip(&variants) {
            for part in variants.iter().map(|&part| &self.parts[part]) {
                let names = self.sample_names(part);
                let server = part.server(cell, &names)?;
                let load = part.load(cell, &names)?;
                check_address(part, &server.kind)?;
                if let (LoadKind::Command(..), Amount::Requests(_)) = (&load.kind, load.amount) {
                    let problem = "a load that is a command takes a duration, not a number of requests";
                    return Err(PlanError::near(format!("variant '{}': {problem}", part.name), "requests"));
                }
            }
        }
        let idle = (0..self.parts.len()).find(|part| !variants.iter().any(|cell| cell.contains(part)));
        match idle {
            Some(part) => {
                let name = &self.parts[part].name;
                Err(PlanError::near(format!("variant '{name}': no cell has all the values of its 'only'"), name))
            }
            None => Ok(()),
        }
    }
}

/// A server that runs already is found by a URL.
fn check_address(part: &Part, server: &ServerKind) -> Result<(), PlanError> {
    match server {
        ServerKind::Address(address) if !address.starts_with("http://") && !address.starts_with("https://") => {
            let problem = "expected one that begins with http:// or https://";
            Err(PlanError::near(format!("variant '{}': found the address '{address}', {problem}", part.name), address))
        }
        _ => Ok(()),
    }
}

fn parts(plan: &Plan) -> Result<Vec<Part>, PlanError> {
    if plan.variants.is_empty() {
        return Err(PlanError::new("there are no variants: expected one or more [[variants]], each with a name"));
    }
    let mut seen = BTreeMap::new();
    for variant in &plan.variants {
        if variant.name.trim().is_empty() {
            return Err(PlanError::near("a variant has no name", "[[variants]]"));
        }
        if seen.insert(&variant.name, ()).is_some() {
            let problem = format!("two variants are called '{}'", variant.name);
            return Err(PlanError::near(problem, &variant.name));
        }
    }
    plan.variants.iter().map(|variant| Part::new(plan, variant)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "rounds = 2\n[axes]\nsize = ['1k', '10k']\n[load]\nurl = '{base}/bytes/{size}'\n\
                        [[variants]]\nname = 'a'\nserve = {}\n[[variants]]\nname = 'b'\ncommand = 'server -p {port}'\n";

    fn matrix(text: &str) -> Result<Matrix, String> {
        let plan = plan::from_toml("p.toml", text)?;
        Matrix::new(plan).map_err(|error| error.shown("p.toml", text))
    }

    fn problem(text: &str) -> String {
        matrix(text).expect_err(text).lines().next().unwrap().to_owned()
    }

    #[test]
    fn a_plan_becomes_cells_variants_and_an_order() {
        let matrix = matrix(PLAN).unwrap();
        assert_eq!((matrix.cells.len(), matrix.parts.len(), matrix.order().len()), (2, 2, 4));
        let names = Names::from([("port", String::from("81"))]);
        let load = matrix.parts[1].load(&matrix.cells[1], &names).unwrap();
        let LoadKind::Url { url, method, .. } = load.kind else { panic!("a url") };
        assert_eq!((url.as_str(), method.as_str()), ("http://127.0.0.1:81/bytes/10k", "GET"));
        assert_eq!(
            (load.connections, load.amount),
            (10, Amount::Time(time::Time::try_from(String::from("5s")).unwrap()))
        );
        let server = matrix.parts[1].server(&matrix.cells[1], &names).unwrap();
        assert_eq!(server.kind, ServerKind::Command(plan::Command::Line(String::from("server -p 81"))));
    }

    #[test]
    fn a_variant_may_bring_its_own_load_and_keep_to_some_cells() {
        let text = PLAN.to_owned()
            + "only = { size = '1k' }\nload = { command = ['wrk', '-d{seconds}', '-c{connections}', '{base}/'], \
               connections = 7, duration = '1500ms', figures = ['(?<rate>.)'] }\n";
        let matrix = matrix(&text).unwrap();
        assert_eq!(matrix.variants(), [vec![0, 1], vec![0]]);
        let load = matrix.parts[1].load(&matrix.cells[0], &Names::from([("port", String::from("81"))])).unwrap();
        let LoadKind::Command(plan::Command::Words(words), _) = load.kind else { panic!("a command") };
        assert_eq!(words, ["wrk", "-d1.5", "-c7", "http://127.0.0.1:81/"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place() {
        let with = |from: &str, to: &str| problem(&PLAN.replacen(from, to, 1));
        assert_eq!(
            with("rounds = 2", "rounds = 0"),
            "p.toml:1:1: rounds: found 0, expected 1 or more; a verdict needs 6"
        );
        assert!(
            with("{size}", "{sise}").starts_with("p.toml:5:8: unknown name {sise}: the axes are size; also {variant}"),
            "{}",
            with("{size}", "{sise}")
        );
        assert_eq!(with("'b'", "'a'"), "p.toml:7:9: two variants are called 'a'");
        assert_eq!(
            problem("[axes]\na = [1]\n"),
            "p.toml: there are no variants: expected one or more [[variants]], each with a name"
        );
        assert!(
            with("serve = {}", "serve = {}\ncommand = 'x'")
                .contains("variant 'a': found several of serve, command and address")
        );
        assert!(
            with("serve = {}", "serve = {}\nonly = { size = '2k' }")
                .contains("only: axis 'size' has no value '2k', it has 1k, 10k")
        );
        assert!(
            with("serve = {}", "serve = {}\nonly = { sise = '2k' }")
                .contains("only: unknown axis 'sise': the axes are size")
        );
        assert!(with("serve = {}", "").contains("unknown name {base}: variant 'a' has none here"));
        assert!(
            with("rounds = 2", "setup = ['x {size}']")
                .ends_with("setup and teardown know {folder}, {scratch} and {onrush}")
        );
        assert!(with("rounds = 2", "before_cell = ['x {sise}']").contains("unknown name {sise}: the axes are size"));
        for (field, complaint) in [
            ("connections = 0", "variant 'a': connections: found '0', expected a whole number, 1 or more"),
            ("requests = 0", "variant 'a': requests: found '0', expected a whole number, 1 or more"),
            ("rate = 5\nrequests = 5", "its load has a rate and a number of requests: with a rate, give a duration"),
            ("rate = '{size}'", "variant 'a': rate: found '1k', expected a number above 0"),
            ("duration = '0.5s'", "variant 'a': duration: found 0.5s, expected 1s or more"),
            ("duration = '5'", "variant 'a': duration: found '5', expected a time with its unit"),
            ("duration = '5s'\nrequests = 5", "its load has a duration and a number of requests, expected one of them"),
            ("script = 'x.js'", "its load has several of url, script and command, expected one"),
            ("body = { size = '5q' }", "body: found the size '5q', expected bytes, as 100, 64k or 1m"),
        ] {
            let found = with("[load]", &format!("[load]\n{field}"));
            assert!(found.contains(complaint), "{field}: {found}");
        }
        assert!(
            with("url = '{base}", "url = 'ftp://x")
                .contains("found the url 'ftp://x/bytes/1k', expected one that begins with")
        );
        assert!(with("url = '{base}/bytes/{size}'", "").contains("variant 'a': it has no load"));
    }
}
