//! What is inside of the program: its dependencies, as CycloneDX beside it and, as cargo-auditable does, as a packed
//! list in the section `.dep-v0` of the program itself, which scanners of images read.
//!
//! Both come from `cargo metadata` with the features that are built, so what only tests or other platforms use is not
//! listed; what only builds (`cc`) is marked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

use super::release::VERSION;

/// The package that the program is built from.
const ROOT: &str = "onrush-cli";

/// The packages that make the program.
pub(super) struct Sbom {
    packages: Vec<Dependency>,
}

struct Dependency {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for our own.
    source: Option<String>,
    /// Only runs while building.
    is_build: bool,
    /// Identifiers of what it needs.
    needs: Vec<String>,
}

impl Sbom {
    /// Asks cargo.
    pub(super) fn of_workspace(root: &Path) -> Result<Sbom, String> {
        let words = ["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"];
        let output = Command::new("cargo").args(words).current_dir(root).output();
        let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let metadata = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
        Sbom::read(&metadata).ok_or_else(|| String::from("cargo metadata: found another form than expected"))
    }

    fn read(metadata: &Value) -> Option<Sbom> {
        let packages = metadata["packages"].as_array()?;
        let about: BTreeMap<&str, &Value> =
            packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
        let nodes = metadata["resolve"]["nodes"].as_array()?;
        let nodes: BTreeMap<&str, &Value> =
            nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
        let root = about.iter().find(|(_, package)| package["name"] == ROOT).map(|(id, _)| *id)?;
        let runtime = reached(&nodes, root, &|kind| kind.is_null());
        let all = reached(&nodes, root, &|kind| kind != "dev");
        let dependency = |id: &&str| {
            let package = about.get(id)?;
            let text = |field: &str| package[field].as_str().map(str::to_owned);
            let needs = edges(nodes.get(id)?, &|kind| kind != "dev").filter(|need| all.contains(need));
            let needs = needs.filter_map(|need| about.get(need).map(|package| identifier(need, package)));
            Some(Dependency {
                id: identifier(id, package),
                name: text("name")?,
                version: text("version")?,
                license: text("license"),
                source: text("source"),
                is_build: !runtime.contains(id),
                needs: needs.collect(),
            })
        };
        let mut packages: Vec<Dependency> = all.iter().filter_map(dependency).collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        Some(Sbom { packages })
    }

    /// CycloneDX 1.5, as JSON. Without a serial number and a date, the same program has the same list.
    pub(super) fn cyclonedx(&self) -> Vec<u8> {
        let component = |package: &Dependency| {
            let purl = format!("pkg:cargo/{}@{}", package.name, package.version);
            let mut component = json!({
                "type": if package.name == ROOT { "application" } else { "library" },
                "bom-ref": package.id,
                "name": package.name,
                "version": package.version,
                "scope": if package.is_build { "excluded" } else { "required" },
                "purl": purl,
            });
            if let Some(license) = &package.license {
                component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
            }
            component
        };
        let root = self.packages.iter().find(|package| package.name == ROOT).map(component);
        let others = self.packages.iter().filter(|package| package.name != ROOT);
        let document = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "tools": { "components": [{ "type": "application", "name": "onrush xtask", "version": VERSION }] },
                "component": root,
            },
            "components": others.map(component).collect::<Vec<_>>(),
            "dependencies": self.packages.iter()
                .map(|package| json!({ "ref": package.id, "dependsOn": package.needs })).collect::<Vec<_>>(),
        });
        format!("{document:#}\n").into_bytes()
    }

    /// The list as cargo-auditable writes it, packed by zlib.
    fn auditable(&self) -> Result<Vec<u8>, String> {
        let index: BTreeMap<&str, usize> =
            self.packages.iter().enumerate().map(|(at, package)| (package.id.as_str(), at)).collect();
        let package = |package: &Dependency| {
            let source = match package.source.as_deref() {
                None => "local",
                Some(source) if source.starts_with("registry+https://github.com/rust-lang/crates.io-index") => {
                    "crates.io"
                }
                Some(source) if source.starts_with("git+") => "git",
                Some(_) => "registry",
            };
            let needs: BTreeSet<usize> =
                package.needs.iter().filter_map(|id| index.get(id.as_str()).copied()).collect();
            let mut entry = json!({ "name": package.name, "version": package.version, "source": source });
            if package.is_build {
                entry["kind"] = json!("build");
            }
            if !needs.is_empty() {
                entry["dependencies"] = json!(needs);
            }
            if package.name == ROOT {
                entry["root"] = json!(true);
            }
            entry
        };
        let list = json!({ "packages": self.packages.iter().map(package).collect::<Vec<_>>(), "format": 1 });
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(list.to_string().as_bytes()).and_then(|()| packed.finish()).map_err(|error| error.to_string())
    }

    /// The program with that list in a section that is not loaded into memory.
    pub(super) fn embedded_in(&self, binary: &Path, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let folder = std::env::temp_dir().join(format!("onrush-dist-{}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        let (list, program) = (folder.join("list"), folder.join("program"));
        fs::write(&list, self.auditable()?).map_err(failed)?;
        fs::write(&program, bytes).map_err(failed)?;
        let section = format!(".dep-v0={}", list.display());
        let output = Command::new("objcopy")
            .args(["--remove-section", ".dep-v0", "--add-section", &section])
            .args(["--set-section-flags", ".dep-v0=noload,readonly"])
            .arg(&program)
            .output()
            .map_err(|error| format!("cannot run objcopy, of binutils: {error}"))?;
        if !output.status.success() {
            return Err(format!("objcopy {}: {}", binary.display(), String::from_utf8_lossy(&output.stderr)));
        }
        let program = fs::read(&program).map_err(failed)?;
        fs::remove_dir_all(&folder).map_err(failed)?;
        Ok(program)
    }
}

/// Cargo's identifier; those of our own packages name a folder of this machine, which nobody else has.
fn identifier(id: &str, package: &Value) -> String {
    let text = |field: &str| package[field].as_str().unwrap_or_default();
    match package["source"].is_null() {
        true => format!("{}@{}", text("name"), text("version")),
        false => id.to_owned(),
    }
}

/// Everything that a package needs through edges of some kinds, with itself.
fn reached<'a>(
    nodes: &BTreeMap<&'a str, &'a Value>,
    from: &'a str,
    wanted: &dyn Fn(&Value) -> bool,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::from([from]);
    let mut waiting = vec![from];
    while let Some(id) = waiting.pop() {
        let next = nodes.get(id).into_iter().flat_map(|node| edges(node, wanted));
        waiting.extend(next.filter(|id| found.insert(*id)).collect::<Vec<_>>());
    }
    found
}

/// What a node needs; an edge may be of several kinds, of which one without a name is the usual one.
fn edges<'a>(node: &'a Value, wanted: &dyn Fn(&Value) -> bool) -> impl Iterator<Item = &'a str> {
    let edges = node["deps"].as_array().into_iter().flatten();
    let wanted: Vec<&str> = edges
        .filter(|edge| edge["dep_kinds"].as_array().into_iter().flatten().any(|kind| wanted(&kind["kind"])))
        .filter_map(|edge| edge["pkg"].as_str())
        .collect();
    wanted.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program needs `a`, which is built by `b`; `c` is only for tests.
    fn metadata() -> Value {
        let package = |name: &str| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
              "source": "registry+https://github.com/rust-lang/crates.io-index" })
        };
        let edge = |to: &str, kind: Value| json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] });
        json!({
            "packages": [{ "id": ROOT, "name": ROOT, "version": "1.0.0", "source": null }, package("a"), package("b"),
                package("c")],
            "resolve": { "nodes": [
                { "id": ROOT, "deps": [edge("a", Value::Null), edge("c", json!("dev"))] },
                { "id": "a", "deps": [edge("b", json!("build"))] },
                { "id": "b", "deps": [] },
                { "id": "c", "deps": [] },
            ] },
        })
    }

    #[test]
    fn what_is_built_in_is_listed_and_what_only_builds_is_marked() {
        let sbom = Sbom::read(&metadata()).expect("packages");
        let document: Value = serde_json::from_slice(&sbom.cyclonedx()).expect("JSON");
        let scopes: Vec<_> = document["components"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|component| (component["name"].as_str().unwrap(), component["scope"].as_str().unwrap()))
            .collect();
        assert_eq!(scopes, [("a", "required"), ("b", "excluded")]);
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(document["metadata"]["component"]["name"], ROOT);
        assert_eq!(document["metadata"]["component"]["bom-ref"], "onrush-cli@1.0.0");
        let packed = sbom.auditable().expect("packed");
        let list: Value = serde_json::from_reader(flate2::read::ZlibDecoder::new(packed.as_slice())).expect("JSON");
        assert_eq!(
            list["packages"][0],
            json!({ "name": "a", "version": "1.0.0", "source": "crates.io", "dependencies": [1] })
        );
        assert_eq!(list["packages"][1]["kind"], "build");
        assert_eq!(list["packages"][2]["root"], true);
    }
}
