//! `k6/experimental/fs` and `csv` as a user meets them: relative paths, several users, and what is said about bad
//! files.

use crate::lab::Lab;

const ROWS: &str = "name,age\nanna,30\nbob,25\n";

#[test]
fn data_lies_beside_the_script() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import { open } from 'k6/experimental/fs';
        import csv from 'k6/experimental/csv';
        export const options = { vus: 3, iterations: 9, thresholds: { checks: ['rate==1'], iterations: ['count==9'] } };
        const rows = await csv.parse(await open('./rows.csv'), { asObjects: true });
        const parser = new csv.Parser(await open('rows.csv'));
        export default async function () {
            const { value } = await parser.next();
            check(rows, { rows: (all) => all.length === 2 && all[1].name === 'bob' && value.length < 3 });
        }",
    );
    lab.file("rows.csv", ROWS);
    let folder = lab.path().join("elsewhere");
    std::fs::create_dir(&folder).expect("a folder in the lab");
    let mut command = lab.command(&["run", "-q", "../script.js"]);
    let run = crate::lab::finish({
        command.current_dir(&folder);
        command
    });
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn what_cannot_be_opened_ends_the_test_before_it_begins() {
    for (path, expected) in [
        ("missing.csv", "NotFoundError: no such file or directory"),
        (".", "InvalidResourceError: cannot open"),
        ("/dev/null", "expected a regular file"),
        ("", "TypeError: open() failed: the path is empty"),
    ] {
        let script = format!(
            "import {{ open }} from 'k6/experimental/fs';
            await open('{path}');
            export default function () {{}}"
        );
        let run = Lab::with(&script).run(&[]);
        assert_eq!(run.code, 107, "{path}: {run:?}");
        assert!(run.stderr.contains(expected), "{path}: {run:?}");
    }
}

#[test]
fn a_file_that_the_first_run_of_the_init_code_did_not_open_is_refused() {
    let lab = Lab::with(
        "import { open } from 'k6/experimental/fs';
        if (__VU > 0) await open('rows.csv');
        export default function () {}",
    );
    lab.file("rows.csv", ROWS);
    let run = lab.run(&[]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("open it unconditionally"), "{run:?}");
}

#[test]
fn a_bad_row_fails_its_iteration_and_the_others_go_on() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics';
        import { open } from 'k6/experimental/fs';
        import { Parser } from 'k6/experimental/csv';
        export const options = { iterations: 4, thresholds: { good: ['count==3'], iterations: ['count==4'] } };
        const good = new Counter('good');
        const parser = new Parser(await open('rows.csv'));
        export default async function () {
            const { done, value } = await parser.next();
            if (!done) good.add(1);
        }",
    );
    lab.file("rows.csv", "a,b\n1,2\n3,x\"y\n5,6\n");
    let run = lab.run(&[]);
    assert_eq!(run.code, 0, "{run:?}");
    let expected = "rows.csv: line 3, column 4: a quote inside of a field that is not quoted";
    assert_eq!(run.stderr.matches(expected).count(), 1, "{run:?}");
}
