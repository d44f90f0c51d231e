//! What was asked for: the flags of `onrush k8s`, and names that Kubernetes takes.

use std::fmt;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::failure::Failure;
use crate::flags;
use crate::json_answer;

/// Names of Jobs become names of Pods and hosts, with an index behind: 63 characters in all.
const LONGEST_NAME: usize = 40;

/// What becomes objects of a cluster.
pub struct ClusterRun {
    /// Of the Jobs, and a label of everything.
    pub name: String,
    /// None: that of kubectl's context.
    pub namespace: Option<String>,
    /// For all Pods.
    pub image: String,
    /// How many.
    pub agents: u32,
    /// Where the coordinator listens.
    pub port: u16,
    /// CPUs that an agent asks for.
    pub cpu: String,
    /// Memory that an agent asks for, and has at most.
    pub memory: String,
    /// Where agents find the coordinator; none: by its Service.
    pub join_at: Option<String>,
    /// Where the archive is in the coordinator's Pod; none: in a Secret.
    pub archive_at: Option<String>,
    /// A PersistentVolumeClaim of the coordinator.
    pub claim: Option<String>,
    /// More flags for the coordinator's `onrush run`.
    pub run_flags: Vec<String>,
}

/// The command and its flags.
pub fn command() -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help).help_heading("Kubernetes")
    };
    flags::loading_command("k8s", "Print Kubernetes objects that run a test with many agents, or apply them", true)
        .after_help(
            "Flags behind -- are those of the coordinator's `onrush run`, such as --save and --fail-on. \
             docs/guides/kubernetes.md says what the objects do.",
        )
        .arg(value("agents", "N", "How many agents share the test").required(true))
        .arg(value("image", "IMAGE", "Image with onrush").default_value(concat!("onrush:", env!("CARGO_PKG_VERSION"))))
        .arg(value("name", "NAME", "Name of the Jobs [default: the script's, with letters that make it new]"))
        .arg(value("namespace", "NAMESPACE", "Where the objects are [default: that of kubectl]"))
        .arg(value("port", "PORT", "Where the coordinator listens for agents").default_value("6600"))
        .arg(value("cpu", "CPUS", "What each Pod asks for").default_value("1"))
        .arg(value("memory", "BYTES", "What each Pod asks for, and has at most").default_value("1Gi"))
        .arg(value("join-at", "HOST:PORT", "Where agents find the coordinator [default: by its Service]"))
        .arg(value(
            "archive-at",
            "PATH",
            "The test is in an archive there, in the image or on the claim; nothing is packed",
        ))
        .arg(value("claim", "NAME", "Mount this PersistentVolumeClaim at /data in the coordinator's Pod"))
        .arg(value("apply", "", "Hand the objects to kubectl instead of printing them").action(ArgAction::SetTrue))
        .arg(
            json_answer::flag_saying("As JSON: a List of the objects, which kubectl takes, too")
                .conflicts_with("apply")
                .help_heading("Kubernetes"),
        )
        .arg(
            Arg::new("run-flags")
                .value_name("RUN FLAGS")
                .num_args(0..)
                .last(true)
                .help("Flags of the coordinator's run"),
        )
}

impl ClusterRun {
    /// Reads the flags.
    pub fn read(matches: &ArgMatches) -> Result<ClusterRun, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let given = |name: &str| text(name).unwrap_or_default();
        let agents = given("agents");
        let agents: Option<u32> = agents.parse().ok().filter(|count| (1..=100_000).contains(count));
        let agents =
            agents.ok_or_else(|| Failure::of_flag("--agents", &given("agents"), "a whole number from 1 on"))?;
        let port = given("port").parse().ok().filter(|port| *port > 0);
        let name = match text("name") {
            Some(name) if is_name(&name) => name,
            Some(name) => return Err(Failure::of_flag("--name", &name, Expected::NAME.0)),
            None => format!("{}-{}", name_of(&given("script")), new_letters()),
        };
        let namespace = text("namespace");
        if let Some(bad) = namespace.iter().find(|name| !is_name(name)) {
            return Err(Failure::of_flag("--namespace", bad, Expected::NAME.0));
        }
        for flag in ["cpu", "memory"] {
            if !is_quantity(&given(flag)) {
                return Err(Failure::of_flag(&format!("--{flag}"), &given(flag), Expected::QUANTITY.0));
            }
        }
        Ok(ClusterRun {
            name,
            namespace,
            agents,
            image: given("image"),
            port: port.ok_or_else(|| Failure::of_flag("--port", &given("port"), "a port from 1 to 65535"))?,
            cpu: given("cpu"),
            memory: given("memory"),
            join_at: text("join-at"),
            archive_at: text("archive-at"),
            claim: text("claim"),
            run_flags: matches.get_many("run-flags").into_iter().flatten().cloned().collect(),
        })
    }

    /// Where agents find the coordinator.
    pub fn join_address(&self) -> impl fmt::Display + use<> {
        self.join_at.clone().unwrap_or_else(|| format!("{}:{}", self.name, self.port))
    }

    /// What a reader wants to know first.
    pub fn heading(&self) -> String {
        let ClusterRun { name, agents, .. } = self;
        let namespace = self.namespace.iter().map(|namespace| format!(" -n {namespace}")).collect::<String>();
        format!(
            "# A test for {agents} agents, by onrush {version}.\n\
             # It holds secrets: who has this file can join the test.\n\
             # start:   kubectl apply --server-side -f FILE{namespace}\n\
             # follow:  kubectl logs -f job/{name}{namespace}\n\
             # verdict: kubectl wait --for=condition=complete --timeout=1h job/{name}{namespace}\n\
             # remove:  kubectl delete job,service,secret,networkpolicy \
             -l app.kubernetes.io/instance={name}{namespace}\n",
            version = env!("CARGO_PKG_VERSION"),
        )
    }
}

/// What a value should have been.
struct Expected(&'static str);

impl Expected {
    const NAME: Expected = Expected("small letters, digits and '-', a letter first, 40 characters at most");
    const QUANTITY: Expected = Expected("a number with Kubernetes' unit, as in 2, 500m or 1Gi");
}

fn is_name(name: &str) -> bool {
    let holds = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    holds && name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-') && name.len() <= LONGEST_NAME
}

fn is_quantity(text: &str) -> bool {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[number.len()..];
    number.parse::<f64>().is_ok_and(|number| number > 0.0)
        && ["", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"].contains(&unit)
}

/// A name for the test in this file.
fn name_of(script: &str) -> String {
    let stem = std::path::Path::new(script).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let letters = stem.chars().map(|c| c.to_ascii_lowercase());
    let joined: String = letters.map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(30).collect();
    let name = joined.trim_start_matches(|c: char| !c.is_ascii_lowercase()).trim_end_matches('-');
    if name.is_empty() { String::from("onrush") } else { name.to_owned() }
}

/// Jobs cannot be changed, so that each run has a name of its own: the milliseconds of a year, in letters.
fn new_letters() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut rest = since.as_millis() % (365 * 86_400_000);
    let mut letters = String::new();
    for _ in 0..7 {
        letters.insert(0, char::from(b"bcdfghjklmnpqrstvwxz2456789"[(rest % 27) as usize]));
        rest /= 27;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_kubernetes_takes() {
        for (script, name) in [
            ("a/Check Out.js", "check-out"),
            ("2-x_.ts", "x"),
            ("-", "onrush"),
            ("ärger.js", "rger"),
            ("a.b.js", "a-b"),
        ] {
            assert_eq!(name_of(script), name, "{script}");
            assert!(is_name(&format!("{name}-{}", new_letters())));
        }
        assert!(!is_name("") && !is_name("Shop") && !is_name("2x") && !is_name("x-") && !is_name(&"x".repeat(41)));
    }

    #[test]
    fn quantities_of_kubernetes() {
        assert!(["1", "500m", "0.5", "1Gi", "2.5G"].into_iter().all(is_quantity));
        assert!(["", "x", "0", "-1", "1GB", "1 Gi", "Gi"].into_iter().all(|text| !is_quantity(text)));
    }
}
