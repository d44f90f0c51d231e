//! What elements of a plan hand to the samplers below and beside them: headers, defaults, credentials, timers,
//! assertions, extractors.

use super::assert::ASSERTIONS;
use super::extract::EXTRACTORS;
use super::plan::Plan;
use super::sampler::OF_DEFAULTS;
use super::xml::Element;

/// Timers that become pauses.
const TIMERS: [&str; 4] = ["ConstantTimer", "UniformRandomTimer", "GaussianRandomTimer", "PoissonRandomTimer"];

/// Of one place in the plan.
#[derive(Clone, Default)]
pub struct Scope<'e> {
    /// Later ones of a name replace earlier ones.
    pub headers: Vec<(String, String)>,
    /// HTTP Request Defaults, the innermost last.
    pub defaults: Vec<&'e Element>,
    /// Parameters of the defaults.
    pub arguments: Vec<&'e Element>,
    /// Authorization Managers, the innermost last.
    pub credentials: Vec<&'e Element>,
    /// Expressions of seconds.
    pub pauses: Vec<String>,
    /// Extractors.
    pub extractors: Vec<&'e Element>,
    /// Assertions.
    pub assertions: Vec<&'e Element>,
}

/// Whether an element hands something to others.
pub fn hands_down(element: &Element) -> bool {
    let tag = element.tag.as_str();
    let is_manager = ["HeaderManager", "AuthManager"].contains(&tag);
    is_manager || [&TIMERS[..], &EXTRACTORS, &ASSERTIONS].iter().any(|tags| tags.contains(&tag)) || is_defaults(element)
}

fn is_defaults(element: &Element) -> bool {
    let is_of_http = |child: &Element| child.attribute("name").starts_with("HTTPSampler.");
    let is_named = element.attribute("guiclass") == "HttpDefaultsGui";
    element.tag == "ConfigTestElement" && (is_named || element.children.iter().any(is_of_http))
}

impl<'e> Scope<'e> {
    /// What the defaults say of a property.
    pub fn standard(&self, name: &str) -> String {
        let found = self.defaults.iter().rev().map(|element| element.text_of(name).trim());
        found.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
    }

    /// Takes an element in, when it hands something down.
    pub fn take(&mut self, element: &'e Element, plan: &mut Plan) {
        if hands_down(element) {
            element.visit();
        }
        match element.tag.as_str() {
            "HeaderManager" => self.take_headers(element, plan),
            "AuthManager" => {
                plan.visit_credentials(element);
                self.credentials.push(element);
            }
            _ if is_defaults(element) => {
                self.defaults.push(element);
                // A sampler that has its own does not ask for them.
                for name in OF_DEFAULTS {
                    element.text_of(&format!("HTTPSampler.{name}"));
                }
                let holder = element.property("HTTPsampler.Arguments");
                holder.into_iter().for_each(Element::visit);
                self.arguments.extend(holder.map_or(&[][..], |holder| holder.list("Arguments.arguments")));
            }
            tag if TIMERS.contains(&tag) => self.pauses.extend(plan.pause(element)),
            tag if EXTRACTORS.contains(&tag) => self.extractors.push(element),
            tag if ASSERTIONS.contains(&tag) => self.assertions.push(element),
            _ => {}
        }
    }

    fn take_headers(&mut self, element: &'e Element, plan: &mut Plan) {
        for header in element.list("HeaderManager.headers") {
            let name = header.text_of("Header.name").trim().to_owned();
            let value = header.text_of("Header.value").to_owned();
            // Recorders of HTTP/2 write what stands in the request line.
            if name.starts_with(':') {
                let text = format!("the header {name} is of HTTP/2's request line; left out");
                plan.notes.add(format!("line {}", element.line), text);
                continue;
            }
            self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            if !name.is_empty() {
                self.headers.push((name, value));
            }
        }
    }
}

impl Plan<'_> {
    fn pause(&mut self, timer: &Element) -> Option<String> {
        let constant = timer.text_of("ConstantTimer.delay");
        let range = timer.text_of("RandomTimer.range");
        let (constant, random) = (self.variables.number(constant), self.variables.number(range));
        if constant.is_none() && random.is_none() {
            let place = format!("line {}", timer.line);
            self.notes.add(place, format!("the pause of the {} is not a number; left out", timer.tag));
            return None;
        }
        if ["GaussianRandomTimer", "PoissonRandomTimer"].contains(&timer.tag.as_str()) {
            self.notes.add(format!("line {}", timer.line), format!("a {} becomes an even one", timer.tag));
        }
        let seconds = |ms: u64| format!("{}", ms as f64 / 1e3);
        Some(match (constant.unwrap_or(0), random.unwrap_or(0)) {
            (constant, 0) => seconds(constant),
            (constant, random) => format!("{} + Math.random() * {}", seconds(constant), seconds(random)),
        })
    }
}
