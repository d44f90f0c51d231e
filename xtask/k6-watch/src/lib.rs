//! `cargo xtask k6-watch`: what the newest k6 has, held against Onrush. New commands, flags, variables, options and
//! exports come with a version of k6, and nobody reads all of its notes.
//!
//! Each name is to be obeyed or refused by name. What is neither stands in `explained.txt` with its reason; a row there
//! that nothing needs any more is an error, too. k6 is a black box here, but for names in its sources: variables,
//! modules and options that no command shows.

mod explained;
mod help;
mod newest;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use newest::K6;

const EXPORTS: &str = include_str!("exports.js");
const OPTIONS: &str = include_str!("options.js");

/// Modules that are looked at where there are no sources.
const MODULES: &str = "k6 k6/crypto k6/data k6/encoding k6/execution k6/experimental/csv k6/experimental/fs \
    k6/experimental/redis k6/experimental/streams k6/experimental/websockets k6/html k6/http k6/metrics k6/net/grpc \
    k6/secrets k6/timers k6/websockets k6/ws";

/// Something of k6: its kind, and its name.
type Row = (&'static str, String);

/// Compares; `root` is the repository, `onrush` its binary. The error lists what has no answer.
pub fn run(root: &Path, onrush: &Path, arguments: &[String]) -> Result<(), String> {
    let folder = root.join("target/k6-watch");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let k6 = match arguments {
        [] => newest::served(&folder)?,
        [flag, path] if flag == "--k6" => newest::given(Path::new(path), &folder)?,
        _ => return Err(format!("found {arguments:?}, expected --k6 BINARY or nothing")),
    };
    let from = if k6.sources.is_some() { "its help, its behaviour and its sources" } else { "its help and behaviour" };
    println!("k6 {}, by {from}", k6.version);
    let watch = Watch { k6, onrush: onrush.to_owned(), root: root.to_owned(), folder };
    let missing = watch.missing()?;
    explained::judge(&missing, watch.k6.sources.is_some())
}

struct Watch {
    k6: K6,
    onrush: PathBuf,
    root: PathBuf,
    folder: PathBuf,
}

impl Watch {
    /// All that k6 has and Onrush neither obeys nor refuses by name.
    fn missing(&self) -> Result<Vec<Row>, String> {
        let mut missing = self.commands(&[])?;
        missing.extend(self.variables()?);
        missing.extend(self.options()?);
        missing.extend(self.exports()?);
        missing.sort();
        missing.dedup();
        Ok(missing)
    }

    /// Commands and flags below a command.
    fn commands(&self, words: &[String]) -> Result<Vec<Row>, String> {
        let help = help::names(&text(&output(&self.k6.binary, words, &["--help"])?));
        let flags = help.flags.iter().filter(|flag| *flag != "help");
        let mut missing = Vec::new();
        let mut flag_count = 0;
        for flag in flags {
            flag_count += 1;
            // The whole program's flags stand at each command.
            if !words.is_empty() && self.is_unknown(words, &format!("--{flag}"))? {
                missing.push(("flag", format!("{} --{flag}", words.join(" "))));
            }
        }
        println!("{}: {flag_count} flags, {} commands", shown(words), help.commands.len());
        for command in help.commands {
            let words = [words, &[command]].concat();
            let answer = text(&output(&self.onrush, &words, &["--help"])?);
            if answer.contains("of k6 is not offered") {
                continue;
            }
            if answer.contains("unrecognized subcommand") || answer.contains("error:") {
                missing.push(("command", words.join(" ")));
                continue;
            }
            missing.extend(self.commands(&words)?);
        }
        Ok(missing)
    }

    /// Whether Onrush does not know a flag. Asked with `--help` behind, so that nothing runs.
    fn is_unknown(&self, words: &[String], flag: &str) -> Result<bool, String> {
        Ok(text(&output(&self.onrush, words, &[flag, "--help"])?).contains("unexpected argument"))
    }

    /// Variables that k6's sources name.
    fn variables(&self) -> Result<Vec<Row>, String> {
        let Some(sources) = &self.k6.sources else { return Ok(Vec::new()) };
        let all = source::texts(&source::files(sources, ".go")?)?;
        let all: BTreeSet<String> = all.iter().flat_map(|text| source::variables(text, true)).collect();
        println!("{} variables", all.len());
        let known = KnownVariables::read(&self.root)?;
        Ok(all.into_iter().filter(|name| !known.has(name)).map(|name| ("variable", name)).collect())
    }

    /// Fields of options: those that `inspect` shows, and those that the sources name.
    fn options(&self) -> Result<Vec<Row>, String> {
        let script = self.folder.join("options.js");
        fs::write(&script, OPTIONS).map_err(|error| format!("{}: {error}", script.display()))?;
        let fields = |binary: &Path| {
            let output = output(binary, &[], &["inspect", &script.display().to_string()])?;
            let shown: Value = serde_json::from_slice(&output.stdout)
                .map_err(|error| format!("{} inspect: {error}: {}", binary.display(), text(&output)))?;
            let mut names = BTreeSet::new();
            fields(&shown, "", &mut names);
            Ok::<_, String>(names)
        };
        let (mut theirs, mut ours) = (fields(&self.k6.binary)?, fields(&self.onrush)?);
        if let Some(file) =
            self.k6.sources.as_ref().map(|sources| sources.join("lib/options.go")).filter(|f| f.exists())
        {
            let page = self.root.join("docs/reference/options.md");
            theirs.extend(source::texts(&[file])?.iter().flat_map(|text| source::options(text)));
            let page = source::texts(&[page])?.concat();
            ours.extend(page.split('`').skip(1).step_by(2).map(str::to_owned));
        }
        println!("{} fields of options", theirs.len());
        Ok(theirs.difference(&ours).map(|name| ("option", name.clone())).collect())
    }

    /// What modules export, and the names that scripts find without importing anything.
    fn exports(&self) -> Result<Vec<Row>, String> {
        let mut modules: BTreeSet<String> = MODULES.split_whitespace().map(str::to_owned).collect();
        if let Some(sources) = &self.k6.sources {
            let all = source::texts(&source::files(sources, ".go")?)?;
            modules.extend(all.iter().flat_map(|text| source::modules(text)));
        }
        let script = self.folder.join("exports.js");
        fs::write(&script, EXPORTS).map_err(|error| format!("{}: {error}", script.display()))?;
        let list = format!("MODULES={}", modules.into_iter().collect::<Vec<_>>().join(","));
        let script = script.display().to_string();
        let names = |binary: &Path| {
            let words = ["run", "--quiet", "--log-format", "raw", "--no-usage-report", "-e", &list, &script];
            let told = text(&output(binary, &[], &words)?);
            let names: BTreeSet<String> =
                told.lines().filter_map(|line| line.strip_prefix('@')).map(str::to_owned).collect();
            match names.is_empty() {
                true => Err(format!("{} run tells no exports: {told}", binary.display())),
                false => Ok(names),
            }
        };
        let (theirs, ours) = (names(&self.k6.binary)?, names(&self.onrush)?);
        println!("{} exports and globals", theirs.len());
        let missing: Vec<&String> = theirs.difference(&ours).collect();
        // A module that is missing is one finding.
        let is_inside = |name: &str| {
            missing.iter().any(|other| name.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('.')))
        };
        Ok(missing.iter().filter(|name| !is_inside(name)).map(|name| ("export", (*name).clone())).collect())
    }
}

/// The names of a document's fields, as `a.b`; the names of scenarios are not among them.
fn fields(value: &Value, path: &str, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                names.insert(name.clone());
                fields(value, &name, names);
            }
        }
        Value::Array(all) => all.iter().for_each(|value| fields(value, path, names)),
        _ => {}
    }
}

fn shown(words: &[String]) -> String {
    format!("k6 {}", words.join(" ")).trim_end().to_owned()
}

/// Runs a program with what could disturb it switched off; its exit code is no matter.
fn output(binary: &Path, words: &[String], more: &[&str]) -> Result<Output, String> {
    let mut command = Command::new(binary);
    command.args(words).args(more).env("K6_AUTO_EXTENSION_RESOLUTION", "false").env("K6_NO_USAGE_REPORT", "true");
    command.stdin(std::process::Stdio::null());
    command.output().map_err(|error| format!("cannot run {}: {error}", binary.display()))
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// The variables that Onrush obeys or refuses by name.
struct KnownVariables {
    names: BTreeSet<String>,
    /// Rows of the reference that stand for all variables that begin so.
    beginnings: Vec<String>,
    /// What sources read behind a beginning: `"K6_OTEL_"`, then `"HEADERS"`.
    parts: BTreeMap<String, BTreeSet<String>>,
}

impl KnownVariables {
    fn read(root: &Path) -> Result<Self, String> {
        let page = source::texts(&[root.join("docs/reference/k6-flags.md")])?.concat();
        let rows = page.split('`').skip(1).step_by(2).filter_map(|name| name.strip_suffix('…'));
        let beginnings = rows.map(str::to_owned).collect();
        let (mut names, mut parts) = (source::variables(&page, false), BTreeMap::<_, BTreeSet<String>>::new());
        for folder in fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?.flatten() {
            let texts = source::texts(&source::files(&folder.path().join("src"), ".rs")?)?;
            let quoted = texts.iter().flat_map(|text| text.split('"').skip(1).step_by(2));
            let quoted: BTreeSet<String> = quoted.filter(|part| part.len() < 60).map(str::to_owned).collect();
            let own = texts.iter().flat_map(|text| source::variables(text, true)).collect::<BTreeSet<_>>();
            for beginning in own.iter().filter(|name| name.ends_with('_')) {
                parts.entry(beginning.clone()).or_default().extend(quoted.iter().cloned());
            }
            names.extend(own);
        }
        Ok(KnownVariables { names, beginnings, parts })
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
            || self.beginnings.iter().any(|beginning| name.starts_with(beginning))
            || self.parts.iter().any(|(beginning, parts)| {
                name.strip_prefix(beginning.as_str()).is_some_and(|rest| rest.is_empty() || parts.contains(rest))
            })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_documents_have_paths() {
        let mut names = BTreeSet::new();
        fields(&json!({ "a": { "b": 1 }, "c": [{ "d": null }, 2] }), "", &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "a.b", "c", "c.d"]);
    }

    #[test]
    fn variables_of_this_repository_are_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let known = KnownVariables::read(&root).expect("sources");
        for name in ["K6_VUS", "K6_CLOUD_ANYTHING", "K6_OTEL_HEADERS", "K6_INFLUXDB_ADDR", "K6_HOSTS"] {
            assert!(known.has(name), "{name}");
        }
        assert!(!known.has("K6_NO_SUCH") && !known.has("K6_OTEL_NO_SUCH"));
    }
}
