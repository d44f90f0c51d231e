//! `archive`, `inspect`, `deps`: a test in one file, and what it is.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, finish};

/// A test of several files, in the folder `test` of a lab. What it reads is known only if it was packed.
fn packed(flags: &[&str]) -> Lab {
    let lab = Lab::new();
    let folder = lab.path().join("test");
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    let absolute = folder.join("absolute.json");
    lab.file("test/absolute.json", "[1,2]");
    lab.file("test/text.txt", "text");
    std::fs::write(folder.join("bytes.bin"), b"bytes\x00\xff").unwrap();
    lab.file("test/lib/helper.js", "const t = open('../text.txt'); export const helper = () => `helper ${t}`;");
    lab.file("test/common.js", "exports.name = 'common';");
    lab.file("test/hello.proto", "syntax = \"proto3\"; message Hello {}");
    let script = "import { SharedArray } from 'k6/data'; import { open as openFile } from 'k6/experimental/fs';
        import grpc from 'k6/net/grpc'; import { helper } from './lib/helper.js'; import common from './common.js';
        const bytes = open('./bytes.bin', 'b');
        const list = new SharedArray('list', () => JSON.parse(open('ABSOLUTE')));
        const size = (await (await openFile('./text.txt')).stat()).size;
        new grpc.Client().load([], 'hello.proto');
        export const options = { vus: 2, iterations: 6, tags: { a: 'b' }, thresholds: { iterations: ['count==3'] } };
        export default function () {
          console.log(helper(), bytes.byteLength, list.length, size, common.name, __ENV.NAME, __ENV.OTHER);
        }";
    lab.file("test/script.js", &script.replace("ABSOLUTE", absolute.to_str().unwrap()));
    let all =
        [&["archive", "-q", "-i", "3", "-e", "NAME=given", "-O", "test.tar"], flags, &["test/script.js"]].concat();
    lab.onrush(&all).code(0);
    std::fs::rename(&folder, lab.path().join("away")).unwrap();
    lab
}

#[test]
fn an_archive_runs_without_the_files_it_was_made_of() {
    let lab = packed(&[]);
    let run = lab.onrush(&["run", "-q", "test.tar"]).code(0);
    assert_eq!(run.stderr.matches("helper text 7 2 4 common given undefined").count(), 3, "{}", run.stderr);
    // Flags come before what was packed.
    let run = lab.onrush(&["run", "-q", "-i", "2", "-u", "1", "-e", "NAME=mine", "test.tar"]).code(99);
    assert_eq!(run.stderr.matches("common mine").count(), 2, "{}", run.stderr);
    let shown = lab.onrush(&["inspect", "test.tar"]).code(0).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["vus"], &shown["iterations"], &shown["tags"]["a"]), (&2.into(), &3.into(), &"b".into()));
    let left = std::fs::read_dir(lab.path()).unwrap().count();
    assert_eq!(left, 2, "the archive and the folder that was moved away");
}

#[test]
fn an_archive_has_the_layout_of_k6() {
    let lab = packed(&["--exclude-env-vars"]);
    let mut archive = tar::Archive::new(std::fs::File::open(lab.path().join("test.tar")).unwrap());
    let mut names = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if name == "metadata.json" {
            let metadata: serde_json::Value = serde_json::from_reader(&mut entry).unwrap();
            assert_eq!((&metadata["type"], &metadata["env"]), (&"js".into(), &serde_json::Value::Null));
            let at = |name: &str| format!("file://{}/test{name}", lab.path().display());
            assert_eq!((&metadata["filename"], &metadata["pwd"]), (&at("/script.js").into(), &at("").into()));
            assert_eq!(metadata["options"]["iterations"], 3);
        }
        names.push(name.replace(&lab.path().display().to_string(), ""));
    }
    assert_eq!(names[..2], ["metadata.json", "data"]);
    for path in ["absolute.json", "text.txt", "bytes.bin", "lib/helper.js", "common.js", "hello.proto", "script.js"] {
        assert!(names.contains(&format!("file/test/{path}")), "{path}: {names:?}");
    }
}

#[test]
fn what_is_no_archive_is_refused() {
    let lab = packed(&[]);
    let whole = std::fs::read(lab.path().join("test.tar")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(lab.path().join(name), bytes).unwrap();
    write("cut.tar", &whole[..whole.len() / 2]);
    let mut damaged = whole.clone();
    damaged[150] ^= 1;
    write("damaged.tar", &damaged);
    let metadata = br#"{ "filename": "file:///s.js" }"#;
    let data = b"export default function () {}";
    type Entry<'a> = (&'a str, &'a [u8], tar::EntryType);
    let file = tar::EntryType::Regular;
    for (name, entries, says) in [
        (
            "leading.tar",
            &[("metadata.json", &metadata[..], file), ("file/../../x", data, file)] as &[Entry],
            "leads out",
        ),
        ("absolute.tar", &[("/etc/x", data, file)], "leads out"),
        ("linked.tar", &[("file/s.js", b"", tar::EntryType::Symlink)], "of the kind Symlink"),
        ("foreign.tar", &[("readme.txt", data, file)], "it has an entry readme.txt"),
        ("without.tar", &[("data", data, file)], "it has no metadata.json"),
        ("scriptless.tar", &[("metadata.json", metadata, file)], "it has no data"),
        ("nameless.tar", &[("metadata.json", b"{}", file), ("data", data, file)], "missing field `filename`"),
        (
            "odd.tar",
            &[("metadata.json", br#"{"filename":"s.js"}"#, file), ("data", data, file)],
            "calls the script 's.js'",
        ),
    ] {
        let mut tar = tar::Builder::new(std::fs::File::create(lab.path().join(name)).unwrap());
        for (path, content, kind) in entries {
            let mut header = tar::Header::new_gnu();
            // By hand: the writer refuses such names.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            tar.append(&header, *content).unwrap();
        }
        tar.into_inner().unwrap().flush().unwrap();
        lab.onrush(&["run", "-q", name]).code(255).says(&format!("the archive {name}: ")).says(says);
    }
    for name in ["cut.tar", "damaged.tar"] {
        lab.onrush(&["run", "-q", name]).code(255).says(&format!("the archive {name}: it is damaged or was cut off"));
    }
    assert!(!Path::new("/tmp/x").exists() && !lab.path().join("../x").exists());
    lab.file("script.js", "export default function () {}");
    lab.onrush(&["run", "-t", "archive", "script.js"]).code(255).says("the archive script.js: ");
    lab.onrush(&["archive", "-q", "-O", "none/a.tar", "script.js"])
        .code(255)
        .says("cannot write the archive none/a.tar");
    lab.onrush(&["archive", "-q", "none.js"]).code(255).says("there is no script");
    lab.file("bad.js", "export const options = { scenarios: { a: { executor: 'none' } } }; export default () => {}");
    lab.onrush(&["archive", "-q", "bad.js"]).code(104).says("none");
    assert!(!lab.path().join("archive.tar").exists());
}

#[test]
fn an_archive_can_go_through_a_pipe() {
    let lab = Lab::with("export default function () { console.log('piped') }");
    let mut line = Command::new("sh");
    let onrush = crate::lab::binary().display().to_string();
    line.arg("-c").arg(format!("{onrush} archive -q -O - script.js > piped.tar && {onrush} run -q piped.tar"));
    line.current_dir(lab.path());
    finish(line).code(0).says("piped");
}

#[test]
fn a_test_is_looked_at_without_running_it() {
    let lab = Lab::with(
        "import http from 'k6/http'; import './lib.js';
         export const options = { stages: [{ duration: '90s', target: 3 }], tags: { a: 'b' } };
         export default function () { http.get('http://127.0.0.1:1/') }",
    );
    lab.file("lib.js", "require('k6/encoding')");
    let read = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&lab.onrush(arguments).code(0).stdout).unwrap()
    };
    let own = read(&["inspect", "script.js"]);
    assert_eq!((&own["stages"][0]["target"], &own["scenarios"]), (&3.into(), &serde_json::Value::Null));
    let names: Vec<_> = own.as_object().unwrap().keys().take(6).collect();
    assert_eq!(names, ["paused", "vus", "duration", "iterations", "stages", "scenarios"]);
    let all = read(&["inspect", "--execution-requirements", "--tag", "c=d", "script.js"]);
    assert_eq!(all["scenarios"]["default"]["executor"], "ramping-vus");
    assert_eq!((&all["totalDuration"], &all["maxVUs"], &all["tags"]["c"]), (&"2m0s".into(), &3.into(), &"d".into()));
    let deps = read(&["deps", "--json", "script.js"]);
    let at = |name: &str| format!("file://{}/{name}", lab.path().display());
    assert_eq!(deps["imports"], serde_json::json!([at("lib.js"), at("script.js"), "k6/encoding", "k6/http"]));
    lab.onrush(&["deps", "script.js"]).code(0).prints("  k6/http\n").prints("Custom Build Required: no");
    assert_eq!(read(&["version", "--json"])["version"], concat!("v", env!("CARGO_PKG_VERSION")));
    assert_eq!(read(&["features", "--json"])[1]["feature"], "freeze-env");
    lab.onrush(&["features"]).code(0).prints("merge-run-tags");
    lab.onrush(&["inspect", "none.js"]).code(255).says("there is no script");
    lab.onrush(&["inspect", "--out", "json", "script.js"]).code(255).says("--out");
}

#[test]
fn features_are_switched_on_by_name() {
    let lab = Lab::with(
        "import exec from 'k6/execution';
         export const options = { scenarios: { a: { executor: 'per-vu-iterations', env: { OWN: 'scenario' } } },
           tags: { a: 'script', b: 'script' } };
         export default function () {
           let wrote = 'frozen';
           try { __ENV.NEW = '1'; wrote = 'written'; } catch (e) {}
           console.log(wrote, __ENV.OWN, __ENV.GIVEN, JSON.stringify(exec.test.options.tags));
         }",
    );
    lab.file("config.json", r#"{ "tags": { "d": "config" } }"#);
    let says = |features: &[&str], says: &str| {
        lab.run(&[&["-c", "config.json", "-e", "GIVEN=1", "--tag", "a=flag"], features].concat()).code(0).says(says);
    };
    says(&[], r#"written scenario 1 {\"a\":\"flag\"}"#);
    says(&["--features", "freeze-env"], r#"frozen scenario 1 {\"a\":\"flag\"}"#);
    let merged = r#"{\"a\":\"flag\",\"b\":\"script\",\"d\":\"config\"}"#;
    says(&["--features", "freeze-env,merge-run-tags"], &format!("frozen scenario 1 {merged}"));
    lab.run(&["--features", "freeze-nev"]).code(0).says("there is no feature 'freeze-nev'; did you mean 'freeze-env'?");
}
