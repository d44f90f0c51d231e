//! What `--out` names, or `K6_OUT` with commas between. `web-dashboard` is no output here: it is the page of `--web`,
//! and its parameters say the same as the flags of the page.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use units::suggest;

use crate::commands::run::start::flag_source::{FlagSource, generic};
use crate::failure::Failure;
use crate::flags::{OF_K6, Treated};

/// k6's name of the page.
const DASHBOARD: &str = "web-dashboard";
/// Its parameters that are obeyed, and the flags that say the same.
const PARAMETERS: [(&str, &str); 5] = [
    ("host", "web-host"),
    ("port", "web-port"),
    ("period", "web-period"),
    ("open", "web-open"),
    ("export", "web-export"),
];
/// Its parameters that are not, and the variables whose rows say why.
const NOT_OBEYED: [(&str, &str); 3] =
    [("record", "K6_WEB_DASHBOARD_RECORD"), ("tag", "K6_WEB_DASHBOARD_TAGS"), ("tags", "K6_WEB_DASHBOARD_TAGS")];

/// Outputs that samples are sent to.
pub fn outputs(source: &FlagSource<'_>) -> Vec<String> {
    all(source).into_iter().filter(|text| name(text) != DASHBOARD).collect()
}

/// What `--out web-dashboard` says, by the flags that say the same; none when it is not given.
pub fn dashboard(source: &FlagSource<'_>) -> Result<Option<BTreeMap<&'static str, String>>, Failure> {
    let Some(parameters) = parameters(source) else { return Ok(None) };
    let mut said = BTreeMap::new();
    for (name, value) in parameters {
        if let Some((_, flag)) = PARAMETERS.iter().find(|(known, _)| *known == name) {
            said.insert(*flag, value);
        } else if !NOT_OBEYED.iter().any(|(known, _)| *known == name) {
            let names = PARAMETERS.map(|(name, _)| name);
            let hint = suggest::hint(&name, names);
            let text = format!(
                "--out {DASHBOARD}: unknown parameter '{name}'{hint}, expected one of {}, as in \
                 {DASHBOARD}=port=5665&period=10s",
                names.join(", ")
            );
            return Err(generic(text));
        }
    }
    Ok(Some(said))
}

/// What is said of its parameters that change nothing.
pub fn not_obeyed(source: &FlagSource<'_>) -> Vec<String> {
    let given = parameters(source).unwrap_or_default().into_iter();
    let why = |variable| match OF_K6.iter().find(|row| row.variable == variable).map(|row| row.treated) {
        Some(Treated::Warned(instead)) => instead,
        _ => "there is nothing of the kind",
    };
    let rows = given.filter_map(|(name, _)| NOT_OBEYED.iter().find(|(known, _)| *known == name));
    rows.map(|(name, variable)| format!("--out {DASHBOARD}: '{name}' is not obeyed: {}", why(*variable))).collect()
}

fn all(source: &FlagSource<'_>) -> Vec<String> {
    let given: Vec<String> = source.all("out").filter(|text| !text.is_empty()).cloned().collect();
    if !given.is_empty() {
        return given;
    }
    let listed = source.env.get("K6_OUT").into_iter().flat_map(|text| text.split(','));
    listed.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

fn name(output: &str) -> &str {
    output.split_once('=').map_or(output, |(name, _)| name)
}

/// The pairs behind `web-dashboard=`; of several the last one counts. None where it is not named.
fn parameters(source: &FlagSource<'_>) -> Option<Vec<(String, String)>> {
    let last = all(source).into_iter().rfind(|text| name(text) == DASHBOARD)?;
    let query = last.split_once('=').map_or("", |(_, query)| query);
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| match pair.split_once('=') {
        Some((name, value)) => (decoded(name), decoded(value)),
        // As with a flag, a name alone switches on.
        None => (decoded(pair), String::from("true")),
    });
    Some(pairs.collect())
}
