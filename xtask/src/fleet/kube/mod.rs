//! `cargo xtask fleet kube`: what `onrush k8s` prints, run by Kubernetes' own control plane on this machine.
//!
//! etcd, kube-apiserver and kube-controller-manager are the real ones; they decide which Pods there are. What runs a
//! Pod is ours (`node.rs`): the command of its container as a process, with the files of its Secrets. So Jobs, indexes,
//! failure policies and suspension are tested, and images, networks of Pods, limits and probes are not.
//!
//! The programs are looked for in `$ENGINES/bin` (default /opt/engines/bin): etcd, kube-apiserver,
//! kube-controller-manager and kubectl, of Kubernetes 1.33 or later. Each is one `go build` of its own module.

mod cases;
mod cluster;
mod node;

use cluster::Cluster;

use crate::programs;

const PROGRAMS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"];

/// Runs the cases whose names contain one of the words, or all.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let programs = programs::engines(&PROGRAMS)?;
    let onrush = programs::onrush()?;
    let folder = programs::folder("kube")?;
    let cluster = Cluster::start(&programs, &folder)?;
    let is_asked = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let mut failed = Vec::new();
    for (name, case) in cases::CASES.iter().filter(|(name, _)| is_asked(name)) {
        match cases::run(*case, name, &cluster, &onrush) {
            Ok(said) => println!("{name}: {said}"),
            Err(why) => {
                println!("{name}: FAILED: {why}");
                failed.push(*name);
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("failed: {}; see {}", failed.join(", "), folder.display())),
    }
}
