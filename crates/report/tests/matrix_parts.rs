//! What a plan's variants come to in a cell: servers and loads put together, every placeholder filled, numbers read.

use std::collections::BTreeMap;

use onrush_report::matrix::Matrix;
use onrush_report::matrix::parts::{Amount, BodySpec, LoadKind, LoadSpec, ServerKind, ServerSpec};
use onrush_report::matrix::plan::{self, Command, PlanError, Ready, Serve, Stats};

fn matrix(text: &str) -> Result<Matrix, PlanError> {
    Matrix::new(plan::from_toml("p.toml", text).expect("the shape of a plan"))
}

/// Server and load of a variant in the first cell, with the names of a dry run.
fn specs(matrix: &Matrix, variant: &str) -> (ServerSpec, LoadSpec) {
    let part = matrix.parts.iter().find(|part| part.name == variant).expect("a variant of the plan");
    let names = matrix.sample_names(part);
    let cell = &matrix.cells[0];
    (part.server(cell, &names).expect("a server"), part.load(cell, &names).expect("a load"))
}

fn text(text: &str) -> Option<String> {
    Some(String::from(text))
}

#[test]
fn every_text_that_may_be_absent_has_its_placeholders_filled() {
    let matrix = matrix(
        "[axes]\nbuild = ['old']\n\
         [load]\nurl = '{base}/'\nunix = '/run/{build}.sock'\nbinary = 'bin/{build}'\n\
         [[variants]]\nname = 'v'\nserve = { app = '{build}.js', binary = 'bin/{variant}' }\ndirectory = 'at/{build}'\n\
         ready = { url = '{base}/{build}', line = 'ready: {build}' }\nstats = { url = 'http://h/{build}' }\n\
         [[variants]]\nname = 'plain'\nserve = {}\n[variants.load]\nunix = ''\n",
    )
    .expect("a plan");
    let (server, load) = specs(&matrix, "v");
    assert_eq!(server.kind, ServerKind::Serve(Serve { app: text("old.js"), flags: vec![], binary: text("bin/v") }));
    assert_eq!(server.directory, text("at/old"));
    let ready = Ready { url: text("http://127.0.0.1:8080/old"), line: text("ready: old"), timeout: None };
    assert_eq!(server.ready, ready);
    assert_eq!(server.stats, Some(Stats { url: text("http://h/old"), command: None, names: vec![] }));
    assert_eq!((load.unix, load.binary), (text("/run/old.sock"), text("bin/old")));
    let (server, load) = specs(&matrix, "plain");
    assert_eq!((server.kind, server.directory), (ServerKind::Serve(Serve::default()), None));
    assert_eq!((server.ready, server.stats), (Ready::default(), None));
    assert_eq!(load.unix, None, "an empty path is none");
}

/// A variant may be another kind of server than the plan's, whichever of the three each is.
#[test]
fn a_variants_kind_of_server_replaces_the_plans() {
    let kinds = [
        ("serve = { app = 'a.js' }", ServerKind::Serve(Serve { app: text("a.js"), flags: vec![], binary: None })),
        ("command = 'server -p 1'", ServerKind::Command(Command::Line(String::from("server -p 1")))),
        ("address = 'http://h:1'", ServerKind::Address(String::from("http://h:1"))),
    ];
    for (of_plan, plans) in &kinds {
        for (of_variant, own) in &kinds {
            let matrix = matrix(&format!(
                "[server]\n{of_plan}\n[load]\nurl = 'http://h/'\n\
                 [[variants]]\nname = 'own'\n{of_variant}\n[[variants]]\nname = 'plans'\n"
            ));
            let matrix = matrix.unwrap_or_else(|error| panic!("{of_plan}, {of_variant}: {}", error.message));
            assert_eq!(&specs(&matrix, "own").0.kind, own, "{of_plan}");
            assert_eq!(&specs(&matrix, "plans").0.kind, plans, "{of_variant}");
        }
    }
}

#[test]
fn a_variants_kind_of_load_and_its_amount_replace_the_plans() {
    let matrix = matrix(
        "[load]\nurl = 'http://h/'\nduration = '7s'\nheaders = { a = '1', b = '1' }\n\
         [[variants]]\nname = 'plans'\n\
         [[variants]]\nname = 'script'\nload = { script = 's.js', requests = 9 }\n\
         [[variants]]\nname = 'headers'\nload = { method = 'PUT', headers = { b = '2' } }\n",
    )
    .expect("a plan");
    let url = |method: &str, b: &str| LoadKind::Url {
        url: String::from("http://h/"),
        method: String::from(method),
        headers: BTreeMap::from([("a", "1"), ("b", b)].map(|(name, value)| (name.to_owned(), value.to_owned()))),
        body: None,
    };
    let seven = || Amount::Time(String::from("7s").try_into().expect("a time"));
    let found = |variant: &str| {
        let (_, load) = specs(&matrix, variant);
        (load.kind, load.amount)
    };
    assert_eq!(found("plans"), (url("GET", "1"), seven()));
    assert_eq!(found("script"), (LoadKind::Script(String::from("s.js")), Amount::Requests(9)));
    assert_eq!(found("headers"), (url("PUT", "2"), seven()));
}

/// Our executors end no run before a second has passed; other programs may.
#[test]
fn a_run_lasts_a_second_or_more() {
    let amount = |load: &str| {
        let matrix = matrix(&format!("[load]\n{load}\n[[variants]]\nname = 'v'\n"))?;
        Ok::<_, PlanError>(specs(&matrix, "v").1.amount)
    };
    let time = |text: &str| Ok(Amount::Time(String::from(text).try_into().expect("a time")));
    let refused = |text: &str, expected: &str| Err(format!("variant 'v': duration: found {text}, expected {expected}"));
    let (url, command) = ("url = 'http://h/'", "command = 'wrk'\nfigures = ['(?<rate>[0-9]+)/s']");
    for (load, duration, expected) in [
        (url, "1s", time("1s")),
        (url, "999ms", refused("999ms", "1s or more")),
        (url, "0s", refused("0s", "1s or more")),
        (command, "1ms", time("1ms")),
        (command, "0s", refused("0s", "more")),
    ] {
        let found = amount(&format!("{load}\nduration = '{duration}'")).map_err(|error| error.message);
        assert_eq!(found, expected, "{load}, {duration}");
    }
    assert_eq!(amount(url).map_err(|error| error.message), time("5s"), "unless said");
}

#[test]
fn sizes_of_bodies_are_binary_multiples() {
    let body = |size: &str| {
        let load = format!("[load]\nurl = 'http://h/'\nbody = {{ size = '{size}' }}\n[[variants]]\nname = 'v'\n");
        match specs(&matrix(&load).map_err(|error| error.message)?, "v").1.kind {
            LoadKind::Url { body: Some(BodySpec::Bytes(bytes)), .. } => Ok(bytes),
            other => panic!("found {other:?}"),
        }
    };
    for (sizes, bytes) in [
        (["0", "0b", "0k"], 0),
        (["100", "100b", " 100B "], 100),
        (["64k", "64KB", "64KiB"], 65_536),
        (["3m", "3MB", "3mib"], 3_145_728),
        (["2g", "2GB", "2gib"], 2_147_483_648),
    ] {
        assert_eq!(sizes.map(body), [Ok(bytes), Ok(bytes), Ok(bytes)], "{sizes:?}");
    }
    for size in ["", "k", "5q", "1.5k", "-1", "17179869184g"] {
        let expected = format!("variant 'v': body: found the size '{size}', expected bytes, as 100, 64k or 1m");
        assert_eq!(body(size), Err(expected));
    }
}
