//! Test plans of JMeter (`.jmx`): thread groups become scenarios, HTTP samplers requests, controllers groups and loops.
//!
//! An element applies to what stands beside and below it, as in JMeter. Elements without a counterpart are named and
//! counted; their children are kept. Elements that are switched off are left out, with a note. Scripts in other
//! languages stay as comments.

mod assert;
mod expressions;
mod extract;
mod managers;
mod plan;
mod sampler;
mod scope;
mod threads;
mod xml;

use serde_json::Map;

use crate::Format;
use crate::conversion::{Converted, Settings};
use crate::identifier::identifier;
use crate::meaningless::is_meaningless;
use crate::model::{Function, Step, Test, requests_mut};
use crate::notes::{Notes, Problem};
use crate::recording::group_name;
use crate::source;
use expressions::PlanVariables;
use extract::EXTRACTORS;
use plan::{Declarations, Plan};
use scope::Scope;
use xml::Element;

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
        declarations: Declarations::default(),
        cookies: Vec::new(),
        is_in_group: false,
        is_once: false,
        keeps_cookies: false,
        hosts: Vec::new(),
        keep_alive: Vec::new(),
    };
    let tree = root.children.iter().find(|child| child.tag == "hashTree").map_or(&[][..], |tree| &tree.children);
    plan.declarations(tree);
    let mut steps = Vec::new();
    plan.tree(tree, &Scope::default(), &mut steps);
    if !steps.is_empty() {
        plan.test.functions.push(Function { name: None, steps });
    }
    plan.finish_groups();
    plan.finish_connections();
    root.unread(&mut |path, element| plan.unread(path, element));
    plan.variables.declare(&mut plan.test, &mut plan.notes);
    Ok(Converted { test: plan.test, notes: plan.notes })
}

fn entries(tree: &[Element]) -> impl Iterator<Item = Place<'_>> {
    tree.iter().enumerate().filter(|(_, element)| element.tag != "hashTree").map(|(at, element)| {
        let own = tree.get(at + 1).filter(|next| next.tag == "hashTree");
        (element, own.map_or(&[][..], |tree| &tree.children))
    })
}

/// The lines of the script that an element holds.
fn script_of(element: &Element) -> Vec<String> {
    const NAMES: [&str; 7] = [
        "script",
        "BeanShellSampler.query",
        "IfController.condition",
        "WhileController.condition",
        "BeanShellAssertion.query",
        "query",
        "filename",
    ];
    let script = NAMES.iter().map(|name| element.text_of(name)).find(|text| !text.trim().is_empty());
    script.unwrap_or_default().lines().map(|line| format!("  {line}")).collect()
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
                    element.visit();
                    self.declarations.is_serial = element.is("TestPlan.serialize_threadgroups");
                    if let Some(arguments) = element.property("TestPlan.user_defined_variables") {
                        self.arguments(arguments);
                    }
                }
                "CSVDataSet" => self.csv(element),
                "CookieManager" => self.declarations.has_cookies = true,
                "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => {
                    self.declarations.has_new_users |=
                        element.text_of("ThreadGroup.same_user_on_next_iteration") == "false";
                }
                "ForeachController" => self.variables.extracted(element.text_of("ForeachController.returnVal").trim()),
                tag if EXTRACTORS.contains(&tag) => self.declare_extracted(element),
                _ => {}
            }
            self.declarations(below);
        }
    }

    fn arguments(&mut self, element: &Element) {
        element.visit();
        for argument in element.list("Arguments.arguments") {
            self.variables.define(argument.text_of("Argument.name").trim(), argument.text_of("Argument.value"));
        }
    }

    /// A file of values: a shared array, of which each iteration has the next row.
    fn csv(&mut self, element: &Element) {
        element.visit();
        let place = format!("line {}", element.line);
        let (file, names) = (element.text_of("filename"), element.text_of("variableNames"));
        let delimiter = match element.text_of("delimiter") {
            "" => ",",
            "\\t" => "\t",
            other => other,
        };
        let number = self.declarations.rows.len() + 1;
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
        self.declarations.rows.push(format!("const {row} = {rows}[exec.scenario.iterationInTest % {rows}.length];"));
        self.declarations.first_rows.push(format!("const {row} = {rows}[0];"));
        self.notes.add(place.as_str(), format!("the file {file} is opened from where the script is"));
        self.name_reading(element, file, &place);
        if element.is("quotedData") {
            self.notes
                .add(place, format!("{file}: values in quotes are not taken apart; use papaparse of jslib.k6.io"));
        }
    }

    /// How JMeter reads a file otherwise.
    fn name_reading(&mut self, element: &Element, file: &str, place: &str) {
        let encoding = element.text_of("fileEncoding");
        if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("utf-8") {
            self.notes.add(place, format!("{file} is read in UTF-8, not in {}", encoding.escape_debug()));
        }
        let (recycles, stops) = (element.text_of("recycle") != "false", element.is("stopThread"));
        if !recycles {
            let end = if stops { "JMeter's thread ends there" } else { "JMeter has <EOF> there" };
            self.notes.add(place, format!("{file} is begun anew at its end; {end}"));
        }
        let mode = element.text_of("shareMode");
        if !["", "shareMode.all"].contains(&mode) {
            let mode = mode.escape_debug();
            self.notes.add(place, format!("{file} is shared by all users; in the plan its sharing is '{mode}'"));
        }
    }

    /// The elements of one place, with what they hand to each other.
    fn tree(&mut self, tree: &[Element], above: &Scope, steps: &mut Vec<Step>) {
        let mut scope = above.clone();
        let mut cookies = Vec::new();
        for (element, _) in entries(tree).filter(|(element, _)| is_on(element)) {
            scope.take(element, self);
            if element.tag == "CookieManager" {
                cookies.extend(self.cookies(element));
            }
        }
        match self.is_in_group {
            true if !cookies.is_empty() => steps.push(self.cookie_step(cookies)),
            true => {}
            false => self.cookies.extend(cookies),
        }
        for (element, below) in entries(tree) {
            if !is_on(element) {
                element.settle();
                below.iter().for_each(Element::settle);
                self.notes
                    .add(format!("line {}", element.line), format!("a {} is switched off; left out", element.tag));
                continue;
            }
            self.element(element, below, &scope, steps);
        }
    }

    fn element(&mut self, element: &Element, below: &[Element], scope: &Scope, steps: &mut Vec<Step>) {
        let name = element.attribute("testname");
        element.visit();
        match element.tag.as_str() {
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => self.group(element, below, scope),
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => self.sampler(element, below, scope, steps),
            "GenericController" | "RecordingController" | "TransactionController" => {
                let inner = self.inner(below, scope);
                let has_pauses = inner.iter().any(|step| matches!(step, Step::Sleep(_)));
                if !element.is("TransactionController.includeTimers") && has_pauses {
                    self.notes.add(format!("line {}", element.line), "group_duration has the pauses of its group too");
                }
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
            "TestFragmentController" => {
                element.settle();
                below.iter().for_each(Element::settle);
                let why = "a Test Fragment runs where a Module Controller names it; left out with what is below it";
                self.notes.add(format!("line {}", element.line), why);
            }
            "ForeachController" => self.for_each(element, below, scope, steps),
            "CSVDataSet" | "CookieManager" => {}
            "DNSCacheManager" => self.addresses(element),
            "TestPlan" | "Arguments" => self.tree(below, scope, steps),
            "TestAction" => self.pause_action(element, steps),
            tag if is_meaningless(Format::Jmeter, &[tag]) => self.tree(below, scope, steps),
            _ if scope::hands_down(element) => {}
            _ => self.without_counterpart(element, below, scope, steps),
        }
    }

    /// Names an element, keeps its script as a comment, and what is below it.
    fn without_counterpart(&mut self, element: &Element, below: &[Element], scope: &Scope, steps: &mut Vec<Step>) {
        let (tag, name) = (&element.tag, element.attribute("testname"));
        element.settle();
        self.notes
            .add(format!("line {}", element.line), format!("a {tag} has no counterpart; what is below it is kept"));
        let lines = std::iter::once(format!("{tag} '{name}' of the plan has no counterpart here"));
        steps.push(Step::Comment(lines.chain(script_of(element)).collect()));
        self.tree(below, scope, steps);
    }

    /// A loop over all matches of an extractor.
    fn for_each(&mut self, element: &Element, below: &[Element], scope: &Scope, steps: &mut Vec<Step>) {
        let (list, name) = (
            element.text_of("ForeachController.inputVal").trim(),
            element.text_of("ForeachController.returnVal").trim(),
        );
        let is_separated = element.text_of("ForeachController.useSeparator") != "false";
        if !self.variables.is_list(list) || name.is_empty() || !is_separated {
            return self.without_counterpart(element, below, scope, steps);
        }
        let bounds = ["startIndex", "endIndex"].map(|name| element.text_of(&format!("ForeachController.{name}")));
        let number = |text: &str| self.variables.number(text).map(|number| number.to_string());
        let slice = match bounds.map(number) {
            [None, None] => String::new(),
            [start, end] => {
                let end = end.map(|end| format!(", {end}")).unwrap_or_default();
                format!(".slice({}{end})", start.unwrap_or_else(|| String::from("0")))
            }
        };
        let (list, variable) = (self.variables.assign(list), self.variables.assign(name));
        let mut inner = vec![Step::Code(vec![format!("{variable} = found;")])];
        inner.extend(self.inner(below, scope));
        steps.push(Step::Block(format!("for (const found of {list}{slice})"), inner));
    }

    /// Says what nothing read.
    fn unread(&mut self, path: &[&str], element: &Element) {
        let place = format!("line {}", element.line);
        match path {
            [tag] => self.notes.add(place, format!("a {tag} is left out")),
            [tag, inner @ ..] => {
                self.notes.add(place, format!("{} of a {tag} is left out", inner.join(".").escape_debug()));
            }
            [] => {}
        }
    }

    fn inner(&mut self, below: &[Element], scope: &Scope) -> Vec<Step> {
        let mut steps = Vec::new();
        self.tree(below, scope, &mut steps);
        steps
    }

    fn sampler(&mut self, element: &Element, below: &[Element], scope: &Scope, steps: &mut Vec<Step>) {
        let mut own = scope.clone();
        for (inner, deeper) in entries(below) {
            if !is_on(inner) {
                inner.settle();
                deeper.iter().for_each(Element::settle);
                self.notes.add(format!("line {}", inner.line), format!("a {} is switched off; left out", inner.tag));
                continue;
            }
            own.take(inner, self);
            let is_known = scope::hands_down(inner) || ["CookieManager", "Arguments"].contains(&inner.tag.as_str());
            if is_known || is_meaningless(Format::Jmeter, &[&inner.tag]) {
                if inner.tag == "CookieManager" {
                    let lines = self.cookies(inner);
                    steps.extend((!lines.is_empty()).then(|| self.cookie_step(lines)));
                }
                continue;
            }
            inner.settle();
            self.notes.add(format!("line {}", inner.line), format!("a {} below a sampler is left out", inner.tag));
            let lines = std::iter::once(format!("{} of the plan has no counterpart here", inner.tag));
            steps.push(Step::Comment(lines.chain(script_of(inner)).collect()));
        }
        if self.settings.keeps_timing {
            steps.extend(own.pauses.iter().map(|seconds| Step::Sleep(seconds.clone())));
        }
        let mut request = self.request(element, &own);
        own.extractors.iter().for_each(|extractor| self.add_extractor(extractor, &mut request));
        own.assertions.iter().for_each(|assertion| self.add_assertion(assertion, &mut request));
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
