//! What is run while something fails: the commands that matter most, each for a second.
//!
//! A script keeps nothing outside of the folder of its run, so that several runs may go on at once.

use std::path::Path;

/// A command of Onrush.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

/// What a workload leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of this script that is saved. Its target is in the same process, or the one that counts.
    Run { script: &'static str, is_own: bool },
    /// The same by a coordinator and two agents, which it starts; the target counts.
    Fleet { script: &'static str },
    /// A report of a saved run.
    Report,
    /// A comparison of two saved runs.
    Compare,
}

pub(crate) const WORKLOADS: [Workload; 6] = [
    Workload { name: "requests", kind: Kind::Run { script: "requests.js", is_own: false } },
    Workload { name: "websocket", kind: Kind::Run { script: "websocket.js", is_own: true } },
    Workload { name: "upload", kind: Kind::Run { script: "upload.js", is_own: true } },
    Workload { name: "fleet", kind: Kind::Fleet { script: "requests.js" } },
    Workload { name: "report", kind: Kind::Report },
    Workload { name: "compare", kind: Kind::Compare },
];

impl Workload {
    /// The words behind `onrush`: results go into `folder`, requests to `target`, saved runs are in `saved`.
    pub(crate) fn arguments(
        &self,
        root: &Path,
        folder: &Path,
        saved: &[std::path::PathBuf; 2],
        target: &str,
    ) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let of = |words: &[&str]| words.iter().copied().map(str::to_owned).collect::<Vec<_>>();
        let to = format!("TARGET={target}");
        let run = |more: &[&str], script: &str| {
            let [result, summary] = ["result", "summary.json"].map(|name| text(&folder.join(name)));
            let script = text(&root.join("xtask/faults/scripts").join(script));
            let words = ["run", "--quiet", "--save", &result, "--summary-export", &summary];
            of(&[&words[..], more, &[script.as_str()]].concat())
        };
        match self.kind {
            Kind::Run { script, is_own: true } => run(&["--workers", "2", "--serve"], script),
            Kind::Run { script, is_own: false } => run(&["--workers", "2", "-e", &to], script),
            Kind::Fleet { script } => run(&["--agents", "2", "-e", &to], script),
            Kind::Report => of(&["report", &text(&saved[0]), "-o", &text(&folder.join("report.html"))]),
            Kind::Compare => of(&["compare", &text(&saved[0]), &text(&saved[1])]),
        }
    }
}
