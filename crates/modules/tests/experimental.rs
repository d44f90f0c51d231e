//! `k6/experimental/*` where the behaviour is of the host or differs from k6 on purpose: what users share, what each
//! has of its own, files that change during a run. What k6 does the same way is in the `test.js` of the modules.

#![allow(clippy::unwrap_used)]

mod driver;

use std::path::{Path, PathBuf};

use engine::VirtualUser;

use driver::{block_on, iteration, load, run_script, scenario};

/// A file that goes away with the test.
struct Sample(PathBuf);

impl Sample {
    fn new(name: &str, text: &str) -> Sample {
        let path = std::env::temp_dir().join(format!("onrush-experimental-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Sample(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn calls_on_a_file_take_effect_one_after_the_other() {
    let file = Sample::new("order", "0123456789");
    let script = format!(
        "import {{ open }} from 'k6/experimental/fs';
        const file = await open('{}');
        export default async function () {{
            const all = [file.seek(5, 0), file.read(new Uint8Array(3)), file.seek(0, 1), file.read(null), \
            file.read(new Uint8Array(9))];
            const found = await Promise.allSettled(all);
            console.log(found.map((each) => each.value ?? each.reason.name).join());
            const whole = new Uint8Array(6);
            await file.seek(0, 0);
            await file.read(whole.subarray(2, 4));
            console.log(whole.join());
        }}",
        file.path().display()
    );
    assert_eq!(run_script(&script), ["5,3,8,TypeError,2", "0,0,48,49,0,0"]);
}

#[test]
fn each_user_has_its_own_position() {
    let file = Sample::new("position", "0123456789");
    let script = format!(
        "import {{ open }} from 'k6/experimental/fs';
        const file = await open('{}');
        export default async function () {{
            const bytes = new Uint8Array(4);
            const read = await file.read(bytes);
            console.log(__VU, read, String.fromCharCode(...bytes.subarray(0, read)));
        }}",
        file.path().display()
    );
    let lines = block_on(async {
        let test = load(&script).await;
        let (mut first, _) = test.user(1).await;
        let (mut second, _) = test.user(2).await;
        let scenario = scenario("default");
        for number in 0..2 {
            first.iterate(iteration(&scenario, number)).await;
        }
        second.iterate(iteration(&scenario, 2)).await;
        test.log.take()
    });
    assert_eq!(lines, ["1 4 0123", "1 4 4567", "2 4 0123"]);
}

#[test]
fn a_file_that_shrinks_fails_the_iteration_and_no_other() {
    let file = Sample::new("shrinks", "0123456789");
    let script = format!(
        "import {{ open }} from 'k6/experimental/fs';
        const file = await open('{}');
        export default async function () {{
            await file.seek(4, 0);
            console.log(await file.read(new Uint8Array(4)));
        }}",
        file.path().display()
    );
    let lines = block_on(async {
        let test = load(&script).await;
        let (mut user, _) = test.user(1).await;
        let scenario = scenario("default");
        user.iterate(iteration(&scenario, 0)).await;
        std::fs::write(file.path(), "012").unwrap();
        user.iterate(iteration(&scenario, 1)).await;
        std::fs::write(file.path(), "0123456789").unwrap();
        user.iterate(iteration(&scenario, 2)).await;
        test.log.take()
    });
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!((lines[0].as_str(), lines[2].as_str()), ("4", "4"));
    assert!(lines[1].contains("became shorter than the 10 bytes it had"), "{lines:?}");
}

#[test]
fn rows_are_read_once_for_all_users() {
    let file = Sample::new("rows", "name,age\nanna,30\n");
    let script = format!(
        "import {{ open }} from 'k6/experimental/fs';
        import {{ parse }} from 'k6/experimental/csv';
        const people = await parse(await open('{}'), {{ asObjects: true }});
        export default function () {{ console.log(JSON.stringify(people)); }}",
        file.path().display()
    );
    let lines = block_on(async {
        let test = load(&script).await;
        std::fs::write(file.path(), "name,age\nbert,40\n").unwrap();
        test.run(1).await
    });
    assert_eq!(lines, [r#"[{"name":"anna","age":"30"}]"#]);
}

#[test]
fn csv_says_where_a_row_is_bad() {
    let file = Sample::new("bad", "a,b\n1,2\n3\n");
    let script = format!(
        "import {{ open }} from 'k6/experimental/fs';
        import csv from 'k6/experimental/csv';
        const file = await open('{}');
        const parser = new csv.Parser(await open('{0}'), {{ skipFirstLine: true }});
        const told = (error) => console.log(error.message.replace(file.path, 'bad.csv'));
        export default async function () {{
            await csv.parse(file).catch(told);
            await csv.parse(file, {{ asObjects: true }}).catch(told);
            await parser.next();
            await parser.next().catch(told);
            for (const options of [{{ delimiter: '' }}, {{ fromLine: -2 }}, {{ fromLine: 3, toLine: 2 }}, {{ \
            asObjects: true, fromLine: 1 }}]) {{
                try {{ csv.parse(file, options) }} catch (error) {{ told(error) }}
            }}
            try {{ csv.parse('bad.csv') }} catch (error) {{ told(error) }}
            console.log(parser instanceof csv.Parser, await file.seek(0, 1));
        }}",
        file.path().display()
    );
    let expected = [
        "csv bad.csv: line 3: 1 fields, expected 2 as in the first row",
        "csv bad.csv: line 3: 1 fields, expected 2 as in the first row",
        "csv bad.csv: line 3: 1 fields, expected 2 as in the first row",
        "csv options: the delimiter is \"\", expected one ASCII character",
        "csv options: fromLine is -2, expected 0 or more",
        "csv options: fromLine 3 is not below toLine 2",
        "csv options: asObjects needs the first row for the names: it goes with neither skipFirstLine nor fromLine",
        "csv.parse() got string, expected a File that open() of k6/experimental/fs resolved with",
        "true 0",
    ];
    assert_eq!(run_script(&script), expected);
}

#[test]
fn names_of_columns_cannot_do_harm() {
    let file = Sample::new("proto", "a,__proto__,a\n1,2,3\n");
    let script = format!(
        "import {{ open }} from 'k6/experimental/fs';
        import {{ parse, Parser }} from 'k6/experimental/csv';
        const parser = new Parser(await open('{}'), {{ asObjects: true }});
        const rows = await parse(await open('{0}'), {{ asObjects: true }});
        export default async function () {{
            for (const row of [(await parser.next()).value, rows[0]]) {{
                console.log(Object.keys(row).join(), row.a, row['__proto__'], Object.getPrototypeOf(row) === \
                Object.prototype);
            }}
        }}",
        file.path().display()
    );
    assert_eq!(run_script(&script), ["a,__proto__ 3 2 true", "a,__proto__ 3 2 true"]);
}

#[test]
fn nothing_in_a_stream_is_an_unhandled_rejection_by_itself() {
    let script = "
        import { ReadableStream, WritableStream } from 'k6/experimental/streams';
        export default async function () {
            const failing = new ReadableStream({ pull() { throw new Error('pull') } });
            failing.getReader();
            new ReadableStream({ start: async () => { throw new Error('start') } });
            const released = new ReadableStream().getReader();
            released.releaseLock();
            const sink = new WritableStream({ start: async () => { throw new Error('start') } });
            sink.getWriter();
            new WritableStream().getWriter().releaseLock();
            await new Promise((resolve) => setTimeout(resolve, 1));
            console.log('went on');
            new ReadableStream({ pull() { throw new Error('seen') } }).getReader().read();
        }";
    let lines = run_script(script);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], "went on");
    assert!(lines[1].contains("Uncaught (in promise) Error: seen"), "a read that nobody awaits is one: {lines:?}");
}

#[test]
fn streams_of_one_class_are_no_others() {
    let script = "
        import streams, { ReadableStream, WritableStream } from 'k6/experimental/streams';
        class Numbers extends ReadableStream {
            constructor() { super({ start(c) { c.enqueue(1); c.close() } }) }
            first() { return this.getReader().read() }
        }
        export default async function () {
            let controller, sink;
            new ReadableStream({ start(c) { controller = c } });
            new WritableStream({ start(c) { sink = c } });
            const names = [];
            for (const action of [
                () => new controller.constructor(controller),
                () => new sink.constructor(sink),
                () => new streams.ReadableStreamDefaultReader(new WritableStream()),
                () => new streams.WritableStreamDefaultWriter(new ReadableStream()),
                () => Object.getOwnPropertyDescriptor(ReadableStream.prototype, 'locked').get.call({}),
            ]) { try { action(); names.push('nothing') } catch (error) { names.push(error.name) } }
            console.log(names.join());
            console.log(JSON.stringify(await new Numbers().first()), new Numbers() instanceof ReadableStream);
        }";
    let expected = ["TypeError,TypeError,TypeError,TypeError,TypeError", "{\"value\":1,\"done\":false} true"];
    assert_eq!(run_script(script), expected);
}

#[test]
fn a_long_queue_is_no_slow_queue() {
    let script = "
        import { ReadableStream } from 'k6/experimental/streams';
        export default async function () {
            const reader = new ReadableStream({ start(c) { for (let n = 0; n < 50000; n++) c.enqueue(n); c.close() } \
            }).getReader();
            let sum = 0;
            for (;;) { const { value, done } = await reader.read(); if (done) break; sum += value }
            console.log(sum);
        }";
    assert_eq!(run_script(script), ["1249975000"]);
}
