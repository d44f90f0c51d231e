//! Test plans of JMeter (`.jmx`): thread groups become scenarios, HTTP samplers requests, controllers groups and loops.
//!
//! An element applies to what stands beside and below it, as in JMeter. Elements without a counterpart are named and
//! counted; their children are kept. Elements that are switched off are left out, with a note. Scripts in other
//! languages stay as comments.

mod expressions;
mod plan;
mod sampler;
mod scope;
mod threads;
mod xml;

use serde_json::{Map, Value};

use crate::conversion::{Converted, Settings};
use crate::identifier::identifier;
use crate::model::{Function, Step, Test};
use crate::notes::{Notes, Problem};
use crate::recording::group_name;
use crate::source;
use expressions::PlanVariables;
use plan::Plan;
use scope::Scope;
use xml::Element;

/// What only shows, or happens anyway.
const SILENT: [&str; 8] = [
    "ResultCollector",
    "CookieManager",
    "AuthManager",
    "DNSCacheManager",
    "Summariser",
    "DebugSampler",
    "TestPlan",
    "Arguments",
];

/// An element with the tree that belongs to it.
type Place<'e> = (&'e Element, &'e [Element]);

/// Reads a plan.
pub fn read(text: &str, settings: &Settings) -> Result<Converted, Problem> {
    let root = xml::read(text)?;
    if root.tag != "jmeterTestPlan" {
        return Err(Problem::at(root.line, format!("found <{}>, expected <jmeterTestPlan>", root.tag)));
    }
    let mut plan = Plan {
        settings,
        variables: PlanVariables::default(),
        notes: Notes::default(),
        test: Test::default(),
        scenarios: Map::new(),
        rows: Vec::new(),
    };
    let tree = root.children.iter().find(|child| child.tag == "hashTree").map_or(&[][..], |tree| &tree.children);
    plan.declarations(tree);
    let mut steps = Vec::new();
    plan.tree(tree, &Scope::default(), &mut steps);
    if !steps.is_empty() {
        plan.test.functions.push(Function { name: None, steps });
    }
    if !plan.scenarios.is_empty() {
        let scenarios = Value::Object(std::mem::take(&mut plan.scenarios));
        plan.test.option("scenarios", &scenarios);
    }
    plan.variables.declare(&mut plan.test, &mut plan.notes);
    Ok(Converted { test: plan.test, notes: plan.notes })
}

fn entries(tree: &[Element]) -> impl Iterator<Item = Place<'_>> {
    tree.iter().enumerate().filter(|(_, element)| element.tag != "hashTree").map(|(at, element)| {
        let own = tree.get(at + 1).filter(|next| next.tag == "hashTree");
        (element, own.map_or(&[][..], |tree| &tree.children))
    })
}

fn is_on(element: &Element) -> bool {
    element.attribute("enabled") != "false"
}

impl Plan<'_> {
    /// PlanVariables hold for the whole plan, wherever they stand.
    fn declarations(&mut self, tree: &[Element]) {
        for (element, below) in entries(tree).filter(|(element, _)| is_on(element)) {
            match element.tag.as_str() {
                "Arguments" => self.arguments(element),
                "TestPlan" => {
                    if let Some(arguments) = element.property("TestPlan.user_defined_variables") {
                        self.arguments(arguments);
                    }
                }
                "CSVDataSet" => self.csv(element),
                "JSONPostProcessor" => {
                    element
                        .text_of("JSONPostProcessor.referenceNames")
                        .split(';')
                        .for_each(|name| self.variables.extracted(name.trim()));
                }
                "RegexExtractor" => self.variables.extracted(element.text_of("RegexExtractor.refname").trim()),
                _ => {}
            }
            self.declarations(below);
        }
    }

    fn arguments(&mut self, element: &Element) {
        for argument in element.list("Arguments.arguments") {
            self.variables.define(argument.text_of("Argument.name").trim(), argument.text_of("Argument.value"));
        }
    }

    /// A file of values: a shared array, of which each iteration has the next row.
    fn csv(&mut self, element: &Element) {
        let place = format!("line {}", element.line);
        let (file, names) = (element.text_of("filename"), element.text_of("variableNames"));
        let delimiter = match element.text_of("delimiter") {
            "" => ",",
            "\\t" => "\t",
            other => other,
        };
        let number = self.rows.len() + 1;
        let (rows, row) = if number == 1 {
            ("rows".to_owned(), "row".to_owned())
        } else {
            (format!("rows{number}"), format!("row{number}"))
        };
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            self.notes
                .add(place.as_str(), format!("{file}: name its columns in the script, because the plan does not"));
        }
        names.iter().for_each(|name| self.variables.column(name, &row));
        let skips = element.is("ignoreFirstLine") || names.is_empty();
        let fields = names.iter().map(|name| source::text(name)).collect::<Vec<_>>().join(", ");
        self.test.imports.insert(String::from("import { SharedArray } from 'k6/data';"));
        self.test.imports.insert(String::from("import exec from 'k6/execution';"));
        let name = source::text(file);
        let lines = [
            format!("const {rows} = new SharedArray({name}, () => {{"),
            format!("  const names = [{fields}];"),
            format!("  const lines = open({name}).trim().split(/\\r?\\n/){};", if skips { ".slice(1)" } else { "" }),
            format!("  const fields = (line) => line.split({});", source::text(delimiter)),
            String::from(
                "  const row = (line) => Object.fromEntries(fields(line).map((value, at) => [names[at], value]));",
            ),
            String::from("  return lines.map(row);"),
            String::from("});"),
        ];
        self.test.init.extend(lines);
        self.rows.push(format!("const {row} = {rows}[exec.scenario.iterationInTest % {rows}.length];"));
        self.notes.add(place.as_str(), format!("the file {file} is opened from where the script is"));
        if element.is("quotedData") {
            self.notes
                .add(place, format!("{file}: values in quotes are not taken apart; use papaparse of jslib.k6.io"));
        }
    }

    /// The elements of one place, with what they hand to each other.
    fn tree(&mut self, tree: &[Element], above: &Scope, steps: &mut Vec<Step>) {
        let mut scope = above.clone();
        for (element, _) in entries(tree).filter(|(element, _)| is_on(element)) {
            scope.take(element, self);
        }
        for (element, below) in entries(tree) {
            if !is_on(element) {
                self.notes
                    .add(format!("line {}", element.line), format!("a {} is switched off; left out", element.tag));
                continue;
            }
            self.element(element, below, &scope, steps);
        }
    }

    fn element(&mut self, element: &Element, below: &[Element], scope: &Scope, steps: &mut Vec<Step>) {
        let name = element.attribute("testname");
        match element.tag.as_str() {
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => self.group(element, below, scope),
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => self.sampler(element, below, scope, steps),
            "GenericController" | "TransactionController" => {
                let inner = self.inner(below, scope);
                steps.push(Step::Group(group_name(name), inner));
            }
            "LoopController" => {
                let inner = self.inner(below, scope);
                let text = element.text_of("LoopController.loops");
                match self.variables.number(text) {
                    Some(loops) => steps.push(Step::Block(format!("for (let i = 0; i < {loops}; i++)"), inner)),
                    None => {
                        self.notes.add(format!("line {}", element.line), format!("a loop of '{text}' runs once"));
                        steps.extend(inner);
                    }
                }
            }
            "OnceOnlyController" => {
                let inner = self.inner(below, scope);
                steps.push(Step::Block(String::from("if (__ITER === 0)"), inner));
            }
            "CSVDataSet" => {}
            "TestAction" => self.pause_action(element, steps),
            tag if SILENT.contains(&tag) => self.tree(below, scope, steps),
            _ if scope::hands_down(element) => {}
            tag => {
                self.notes.add(
                    format!("line {}", element.line),
                    format!("a {tag} has no counterpart; what is below it is kept"),
                );
                let script =
                    ["script", "BeanShellSampler.query", "IfController.condition", "WhileController.condition"];
                let script = script.iter().map(|name| element.text_of(name)).find(|text| !text.trim().is_empty());
                let lines = std::iter::once(format!("{tag} '{name}' of the plan has no counterpart here"));
                let script = script.unwrap_or_default().lines().map(|line| format!("  {line}"));
                steps.push(Step::Comment(lines.chain(script).collect()));
                self.tree(below, scope, steps);
            }
        }
    }

    fn inner(&mut self, below: &[Element], scope: &Scope) -> Vec<Step> {
        let mut steps = Vec::new();
        self.tree(below, scope, &mut steps);
        steps
    }

    fn group(&mut self, element: &Element, below: &[Element], scope: &Scope) {
        let mut steps = self.inner(below, scope);
        let special = match element.tag.as_str() {
            "SetupThreadGroup" => Some("setup"),
            "PostThreadGroup" => Some("teardown"),
            _ => None,
        };
        let base = special.map_or_else(|| identifier(element.attribute("testname")), str::to_owned);
        let is_free = |name: &String| self.test.functions.iter().all(|function| function.name.as_ref() != Some(name));
        let numbered = (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}{n}") });
        let function = numbered.into_iter().find(is_free).unwrap_or(base);
        if special.is_none() {
            let scenario = self.scenario(element, &function);
            self.scenarios.insert(function.clone(), scenario);
            if !self.rows.is_empty() {
                steps.insert(0, Step::Code(self.rows.clone()));
            }
        }
        self.test.functions.push(Function { name: Some(function), steps });
    }

    fn sampler(&mut self, element: &Element, below: &[Element], scope: &Scope, steps: &mut Vec<Step>) {
        let mut own = scope.clone();
        let is_kept = |element: &&Element| is_on(element);
        for (inner, _) in entries(below).filter(|(inner, _)| is_kept(inner)) {
            own.take(inner, self);
            if !scope::hands_down(inner) && !SILENT.contains(&inner.tag.as_str()) {
                self.notes.add(format!("line {}", inner.line), format!("a {} below a sampler is left out", inner.tag));
                let script = inner.text_of("script").lines().map(|line| format!("  {line}"));
                let lines = std::iter::once(format!("{} of the plan has no counterpart here", inner.tag));
                steps.push(Step::Comment(lines.chain(script).collect()));
            }
        }
        if self.settings.keeps_timing {
            steps.extend(own.pauses.iter().map(|seconds| Step::Sleep(seconds.clone())));
        }
        let mut request = self.request(element, &own);
        own.after.iter().for_each(|after| self.add_after(after, &mut request));
        steps.push(Step::Request(Box::new(request)));
    }

    fn pause_action(&mut self, element: &Element, steps: &mut Vec<Step>) {
        match self.variables.number(element.text_of("ActionProcessor.duration")) {
            Some(ms) if element.text_of("ActionProcessor.action").trim() == "1" => {
                if self.settings.keeps_timing {
                    steps.push(Step::Sleep(format!("{}", ms as f64 / 1e3)));
                }
            }
            _ => {
                self.notes.add(format!("line {}", element.line), "a Flow Control Action other than a pause is left out")
            }
        }
    }
}
