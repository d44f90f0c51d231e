//! The objects: Secrets, a Service, NetworkPolicies, the coordinator's Job and the agents' Job.
//!
//! The coordinator is not tried again: a test that was broken off has no result, and a second one must not begin
//! unasked. An agent is, by its index, because it may come before the coordinator does. Pods run as a user without
//! rights, on a read-only root. CPUs are asked for and not limited: a limit would stop a generator for parts of each
//! 100 ms.

use std::time::Duration;

use serde_json::{Value, json};

use super::cluster_run::ClusterRun;
use super::joining::Joining;
use crate::exit_code::ExitCode;

/// How often an index of the agents' Job is tried again.
const TRIES_TO_RESUME: u32 = 3;
/// Exit codes of a process that SIGKILL or SIGTERM has ended.
const KILLED: [u8; 2] = [137, 143];
const TRIES: u32 = 6;
/// Within this time all Pods have been placed, and images pulled.
const SLACK: Duration = Duration::from_secs(1800);
/// How long finished Jobs stay.
const KEPT: Duration = Duration::from_secs(86_400);
/// As in k6's image.
const USER: u32 = 12345;

const TEST_AT: &str = "/run/onrush/test";
const CREDENTIALS_AT: &str = "/run/onrush/fleet";
const INVITATION_AT: &str = "/run/onrush/join";

/// The test that is run.
pub struct CarriedTest {
    /// Its archive, unless it is in the image or on a volume.
    pub archive: Option<Vec<u8>>,
    /// The longest it may take, where that is known.
    pub longest: Option<Duration>,
}

/// Everything, in the order in which it is needed.
pub fn objects(run: &ClusterRun, test: &CarriedTest, joining: &Joining) -> Vec<Value> {
    let secret = |part: &str, data: Value| object("v1", "Secret", metadata(run, part, "coordinator"), data);
    let archive = test.archive.as_ref().map(|archive| {
        let text = base64_simd::STANDARD.encode_to_string(archive);
        secret("-test", json!({ "immutable": true, "data": { "archive.tar": text } }))
    });
    let credentials = json!({ "immutable": true, "stringData": { "credentials": joining.credentials } });
    let invitation = json!({ "immutable": true, "stringData": { "invitation": joining.invitation } });
    archive
        .into_iter()
        .chain([
            secret("-fleet", credentials),
            object("v1", "Secret", metadata(run, "-join", "agent"), invitation),
            service(run),
        ])
        .chain(policies(run))
        .chain([coordinator(run, test), agents(run, test)])
        .collect()
}

fn labels(run: &ClusterRun, component: &str) -> Value {
    json!({
        "app.kubernetes.io/name": "onrush",
        "app.kubernetes.io/instance": run.name,
        "app.kubernetes.io/component": component,
    })
}

fn selector(run: &ClusterRun, component: &str) -> Value {
    json!({ "app.kubernetes.io/instance": run.name, "app.kubernetes.io/component": component })
}

fn metadata(run: &ClusterRun, suffix: &str, component: &str) -> Value {
    let mut metadata = json!({ "name": format!("{}{suffix}", run.name) });
    if let Some(namespace) = &run.namespace {
        metadata["namespace"] = namespace.as_str().into();
    }
    metadata["labels"] = labels(run, component);
    metadata
}

/// The name by which agents find the coordinator, before it is ready too.
fn service(run: &ClusterRun) -> Value {
    let spec = json!({
        "clusterIP": "None",
        "publishNotReadyAddresses": true,
        "selector": selector(run, "coordinator"),
        "ports": [{ "name": "fleet", "port": run.port }],
    });
    object("v1", "Service", metadata(run, "", "coordinator"), json!({ "spec": spec }))
}

/// Agents reach the coordinator, and nobody reaches an agent.
fn policies(run: &ClusterRun) -> [Value; 2] {
    let policy = |component: &str, ingress: Value| {
        let spec = json!({
            "podSelector": { "matchLabels": selector(run, component) },
            "policyTypes": ["Ingress"],
            "ingress": ingress,
        });
        let metadata = metadata(run, &format!("-{component}"), component);
        object("networking.k8s.io/v1", "NetworkPolicy", metadata, json!({ "spec": spec }))
    };
    let from_agents = json!([{
        "from": [{ "podSelector": { "matchLabels": selector(run, "agent") } }],
        "ports": [{ "port": run.port }],
    }]);
    [policy("coordinator", from_agents), policy("agent", json!([]))]
}

fn coordinator(run: &ClusterRun, test: &CarriedTest) -> Value {
    let archive = run.archive_at.clone().unwrap_or_else(|| format!("{TEST_AT}/archive.tar"));
    let mut command = ["onrush", "run"].map(String::from).to_vec();
    command.extend([archive, String::from("--agents"), run.agents.to_string(), String::from("--fleet-listen")]);
    command.extend([format!("0.0.0.0:{}", run.port), String::from("--fleet-credentials")]);
    command.push(format!("{CREDENTIALS_AT}/credentials"));
    command.extend(run.run_flags.iter().cloned());
    command.extend(resuming(run));
    let mut volumes = vec![Volume::secret("fleet", format!("{}-fleet", run.name), CREDENTIALS_AT)];
    if test.archive.is_some() {
        volumes.push(Volume::secret("test", format!("{}-test", run.name), TEST_AT));
    }
    volumes.extend(run.claim.iter().map(|claim| Volume {
        name: "data",
        at: "/data",
        is_read_only: false,
        source: json!({ "persistentVolumeClaim": { "claimName": claim } }),
    }));
    let mut template = template(run, "coordinator", command, volumes);
    template["spec"]["containers"][0]["ports"] = json!([{ "name": "fleet", "containerPort": run.port }]);
    let mut spec = match run.claim {
        Some(_) => json!({ "backoffLimit": TRIES_TO_RESUME, "podFailurePolicy": killed_policy() }),
        None => json!({ "backoffLimit": 0 }),
    };
    spec["ttlSecondsAfterFinished"] = KEPT.as_secs().into();
    spec["template"] = template;
    object("batch/v1", "Job", metadata(run, "", "coordinator"), json!({ "spec": spec }))
}

/// On a claim a coordinator writes down what another one needs, which goes on with the test when the first is killed.
fn resuming(run: &ClusterRun) -> Vec<String> {
    if run.claim.is_none() {
        return Vec::new();
    }
    let is_given = |name: &str| run.run_flags.iter().any(|flag| flag == name || flag.starts_with(&format!("{name}=")));
    let save = (!is_given("--save")).then(|| [String::from("--save"), format!("/data/{}", run.name)]);
    let resume = (!is_given("--resume")).then(|| String::from("--resume"));
    save.into_iter().flatten().chain(resume).collect()
}

/// A coordinator that was killed, or moved away, is followed by another. One that ended by itself has said its result.
fn killed_policy() -> Value {
    json!({ "rules": [
        { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
        {
            "action": "FailJob",
            "onExitCodes": { "containerName": "onrush", "operator": "NotIn", "values": KILLED },
        },
    ] })
}

fn agents(run: &ClusterRun, test: &CarriedTest) -> Value {
    let command = ["onrush", "agent", "--join"].map(String::from).into_iter();
    let command = command.chain([format!("@{INVITATION_AT}/invitation")]).collect();
    let volumes = vec![Volume::secret("join", format!("{}-join", run.name), INVITATION_AT)];
    let mut template = template(run, "agent", command, volumes);
    // Generators on one machine compete for it.
    template["spec"]["topologySpreadConstraints"] = json!([{
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": { "matchLabels": selector(run, "agent") },
    }]);
    let mut spec = json!({
        "completionMode": "Indexed",
        "completions": run.agents,
        "parallelism": run.agents,
        "backoffLimitPerIndex": TRIES,
        "podFailurePolicy": failure_policy(),
    });
    if let Some(longest) = test.longest {
        spec["activeDeadlineSeconds"] = (longest + SLACK).as_secs().into();
    }
    spec["ttlSecondsAfterFinished"] = KEPT.as_secs().into();
    spec["template"] = template;
    object("batch/v1", "Job", metadata(run, "-agents", "agent"), json!({ "spec": spec }))
}

/// A Pod that was moved away counts for nothing. A test that cannot be loaded is the same on every machine. An agent
/// that has run its part and lost its coordinator has nothing to try again.
fn failure_policy() -> Value {
    let with = |action: &str, codes: &[ExitCode]| {
        let codes: Vec<u8> = codes.iter().map(|code| *code as u8).collect();
        let on = json!({ "containerName": "onrush", "operator": "In", "values": codes });
        json!({ "action": action, "onExitCodes": on })
    };
    json!({ "rules": [
        { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
        with("FailJob", &[ExitCode::InvalidConfig, ExitCode::ScriptException]),
        with("FailIndex", &[ExitCode::AgentsLost]),
    ] })
}

/// A volume and where it is mounted.
struct Volume {
    name: &'static str,
    at: &'static str,
    is_read_only: bool,
    source: Value,
}

impl Volume {
    /// Only the Pod's own user reads its files.
    fn secret(name: &'static str, secret: String, at: &'static str) -> Volume {
        Volume {
            name,
            at,
            is_read_only: true,
            source: json!({ "secret": { "secretName": secret, "defaultMode": 0o440 } }),
        }
    }

    fn mount(&self) -> Value {
        let mut mount = json!({ "name": self.name, "mountPath": self.at });
        if self.is_read_only {
            mount["readOnly"] = true.into();
        }
        mount
    }

    fn declare(&self) -> Value {
        let mut volume = json!({ "name": self.name });
        if let (Value::Object(volume), Value::Object(source)) = (&mut volume, &self.source) {
            volume.extend(source.clone());
        }
        volume
    }
}

/// A Pod with one container, without rights.
fn template(run: &ClusterRun, component: &str, command: Vec<String>, mut volumes: Vec<Volume>) -> Value {
    // Kubernetes would put a variable where a flag has `$(NAME)`.
    let command: Vec<String> = command.iter().map(|word| word.replace("$(", "$$(")).collect();
    volumes.push(Volume { name: "tmp", at: "/tmp", is_read_only: false, source: json!({ "emptyDir": {} }) });
    let container = json!({
        "name": "onrush",
        "image": run.image,
        "command": command,
        // The root is read-only: what is fetched is kept with other temporary files.
        "env": [{ "name": "XDG_CACHE_HOME", "value": "/tmp" }],
        "resources": {
            "requests": { "cpu": run.cpu, "memory": run.memory },
            "limits": { "memory": run.memory },
        },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": volumes.iter().map(Volume::mount).collect::<Value>(),
    });
    json!({
        "metadata": { "labels": labels(run, component) },
        "spec": {
            "restartPolicy": "Never",
            // teardown() and the summary take their time after the signal.
            "terminationGracePeriodSeconds": 90,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": USER,
                "runAsGroup": USER,
                "fsGroup": USER,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "containers": [container],
            "volumes": volumes.iter().map(Volume::declare).collect::<Value>(),
        },
    })
}

/// One object of the API.
fn object(version: &str, kind: &str, metadata: Value, rest: Value) -> Value {
    let mut object = json!({ "apiVersion": version, "kind": kind, "metadata": metadata });
    if let (Value::Object(all), Value::Object(rest)) = (&mut object, rest) {
        all.extend(rest);
    }
    object
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::super::{cluster_run, yaml};
    use super::*;

    fn printed(flags: &[&str], test: &CarriedTest) -> String {
        let words = ["k8s", "shop.js", "--agents", "3", "--name", "shop"].iter().chain(flags);
        let matches = Command::new("onrush")
            .subcommand(cluster_run::command())
            .try_get_matches_from(["onrush"].iter().chain(words));
        let run = ClusterRun::read(matches.unwrap().subcommand_matches("k8s").unwrap()).unwrap();
        let invitation = format!("TOKEN@{}", run.join_address());
        let joining = Joining { credentials: String::from("CREDENTIALS"), invitation };
        format!("{}{}", run.heading(), yaml::documents(&objects(&run, test, &joining)))
    }

    /// `ONRUSH_WRITE_DOCS=1` writes what is printed now.
    fn holds(name: &str, printed: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k8s").join(name);
        if std::env::var_os("ONRUSH_WRITE_DOCS").is_some() {
            std::fs::write(&path, printed).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), printed, "{} is stale", path.display());
    }

    #[test]
    fn a_test_in_a_secret() {
        let test = CarriedTest { archive: Some(b"archive".to_vec()), longest: Some(Duration::from_secs(330)) };
        holds("secret.yaml", &printed(&["--image", "registry.example/onrush:1"], &test));
    }

    #[test]
    fn a_test_on_a_claim_in_a_namespace() {
        let flags = ["--namespace", "load", "--archive-at", "/data/shop.tar", "--claim", "tests", "--cpu", "500m"];
        let more = [
            "--join-at",
            "203.0.113.7:7000",
            "--port",
            "7000",
            "--",
            "--save",
            "/data/shop",
            "--tag",
            "a=b c",
            "--tag",
            "d=$(e)",
        ];
        let test = CarriedTest { archive: None, longest: None };
        holds("claim.yaml", &printed(&[&flags[..], &more[..]].concat(), &test));
    }
}
