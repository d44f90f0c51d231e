//! `onrush k8s`: what it prints is run here, without a cluster: the commands of its Jobs with the files of its Secrets.
//! `cargo xtask fleet kube` hands the same to Kubernetes' own control plane.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;

use crate::api::free_port;
use crate::lab::Lab;

const SCRIPT: &str =
    "export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 4, iterations: 60 } } };
    export default function () { console.log(`${__ENV.FROM} by ${__VU}`); }";

/// The text behind a name that stands once; quoted where it could be a number.
fn field<'a>(yaml: &'a str, name: &str) -> &'a str {
    let line = yaml.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name} in {yaml}")).trim_matches('"')
}

/// The command of the container behind this object's head, with folders of the lab for mounted ones.
fn command(yaml: &str, head: &str, lab: &Lab) -> Vec<String> {
    let object = yaml.split("---\n").find(|object| object.contains(head)).unwrap();
    let words = object.split("        command:\n").nth(1).unwrap().lines();
    let words = words.map_while(|line| line.strip_prefix("        - "));
    let words = words.map(|word| match word.starts_with('"') {
        true => serde_json::from_str(word).unwrap(),
        false => word.to_owned(),
    });
    words.map(|word: String| word.replace("/run/onrush", &lab.path().display().to_string())).collect()
}

#[test]
fn the_jobs_run_with_the_secrets() {
    let (lab, port) = (Lab::with(SCRIPT), free_port());
    let (at, port) = (format!("127.0.0.1:{port}"), port.to_string());
    let flags = ["k8s", "--agents", "2", "--name", "shop", "--port", &port, "--join-at", &at, "-e", "FROM=archive"];
    let behind = ["script.js", "--", "--summary-export", "summary.json", "--tag", "a=b c"];
    let yaml = lab.onrush(&[&flags[..], &behind[..]].concat()).code(0).stdout;
    for folder in ["test", "fleet", "join"] {
        std::fs::create_dir(lab.path().join(folder)).unwrap();
    }
    let archive = base64_simd::STANDARD.decode_to_vec(field(&yaml, "archive.tar")).unwrap();
    std::fs::write(lab.path().join("test/archive.tar"), archive).unwrap();
    lab.file("fleet/credentials", field(&yaml, "credentials"));
    lab.file("join/invitation", field(&yaml, "invitation"));
    let start = |head: &str| {
        let words = command(&yaml, head, &lab);
        assert_eq!(words[0], "onrush");
        lab.start(&words.iter().skip(1).map(String::as_str).collect::<Vec<_>>())
    };
    let coordinator = start("component: coordinator\nspec:\n  backoffLimit");
    let agents = [start("completionMode: Indexed"), start("completionMode: Indexed")];
    let run = coordinator.wait().code(0);
    assert_eq!(agents.map(|agent| agent.wait().code), [0, 0]);
    let summary: serde_json::Value = serde_json::from_str(&lab.read("summary.json")).unwrap();
    assert_eq!(summary["metrics"]["iterations"]["count"], 60, "{summary}");
    assert!(!run.stderr.contains("undefined"), "{}", run.stderr);
    // Whoever has the agents' Secret cannot be the coordinator.
    let invitation = field(&yaml, "invitation");
    assert!(!invitation.contains(field(&yaml, "credentials")));
}

#[test]
fn a_test_that_is_too_large_for_a_secret_says_where_to_put_it() {
    let lab = Lab::with("const data = open('./data.bin', 'b'); export default function () {}");
    std::fs::write(lab.path().join("data.bin"), vec![7; 1_100_000]).unwrap();
    let refused = lab.onrush(&["k8s", "--agents", "2", "script.js"]).code(255);
    refused.says("a Secret takes 1 MiB at most").says("--archive-at PATH");
    let printed = lab.onrush(&["k8s", "--agents", "2", "--archive-at", "/data/a.tar", "script.js"]).code(0);
    printed.prints("- /data/a.tar\n");
}

#[test]
fn what_kubernetes_would_refuse_is_refused_at_once() {
    let lab = Lab::with("export default function () {}");
    for (flags, says) in [
        (&["--agents", "0"][..], "--agents: found '0', expected a whole number from 1 on"),
        (&["--agents", "2", "--name", "Shop"], "--name: found 'Shop', expected small letters"),
        (&["--agents", "2", "--memory", "1GB"], "--memory: found '1GB', expected a number with Kubernetes' unit"),
        (&["--agents", "2", "--port", "70000"], "--port: found '70000', expected a port"),
    ] {
        lab.onrush(&[&["k8s"], flags, &["script.js"]].concat()).code(255).says(says);
    }
    lab.file("script.js", "throw new Error('boo')");
    lab.onrush(&["k8s", "--agents", "2", "script.js"]).code(107).says("Error: boo");
}

#[test]
fn objects_are_handed_to_kubectl() {
    let lab = Lab::with("export default function () {}");
    let arguments = ["k8s", "--agents", "2", "--name", "shop", "--namespace", "load", "--apply", "script.js"];
    let run = |path: &str| {
        let mut command = lab.command(&arguments);
        command.env("PATH", path);
        crate::lab::finish(command)
    };
    run("/nonexistent").code(255).says("--apply: cannot run kubectl").says("without --apply the objects are printed");
    let kubectl = lab.file("kubectl", "#!/bin/sh\necho \"$@\" > arguments\n/bin/cat > objects\n");
    std::fs::set_permissions(&kubectl, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = lab.path().display().to_string();
    run(&path).code(0).prints("follow:  kubectl logs -f job/shop -n load");
    assert_eq!(lab.read("arguments"), "apply --server-side -f -\n");
    assert!(lab.read("objects").contains("kind: NetworkPolicy\n"));
    lab.file("kubectl", "#!/bin/sh\nexit 1\n");
    run(&path).code(255).says("kubectl apply did not succeed: exit status: 1");
}
