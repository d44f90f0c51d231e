//! `examples/collab`: both load scripts against their apps, and the apps alone against people who misbehave.
//!
//! Thresholds on delay may be crossed where the machine is busy with other things; then nothing else may be.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::lab::{Lab, Run};

fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/collab").join(name);
    path.canonicalize().expect("the example").to_str().expect("a path in UTF-8").to_owned()
}

/// The app, served until this is dropped.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(lab: &Lab) -> Serving {
        let mut command = lab.command(&["serve", "--listen", "tcp://127.0.0.1:0", &example("app.js")]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("onrush starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut line).expect("a line");
        child.stdout = Some(stdout.into_inner());
        let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();
        Serving { child, address }
    }

    /// A user who is let in and reads nothing more.
    fn stuck_user(&self, project: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let head = format!(
            "GET /projects/{project}?user=stuck HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("an answer");
        assert_eq!(&status, b"HTTP/1.1 101");
        stream
    }

    /// Runs a script against it.
    fn run(&self, lab: &Lab, script: &str) -> Run {
        lab.file("script.js", &[TALK, script].concat());
        lab.run(&["-e", &format!("URL=ws://{}", self.address)])
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the scripts below share: people who send objects and wait for objects.
const TALK: &str = r#"
import { check } from 'k6'
import http from 'k6/http'
import { WebSocket } from 'k6/websockets'
export const options = { thresholds: { checks: ['rate==1'] } }
const same = (name, got, expected) => {
    const [is, wanted] = [got, expected].map((value) => JSON.stringify(value))
    if (!check(is, { [name]: () => is === wanted })) console.error(`${name}: ${is}, expected ${wanted}`)
}
class Person {
    constructor(name, project = 'p') {
        this.got = []
        this.waiting = []
        this.socket = new WebSocket(`${__ENV.URL}/projects/${project}?user=${name}`)
        this.socket.onmessage = ({ data }) => this.put(JSON.parse(data))
        this.socket.onclose = ({ code, reason }) => this.put({ type: 'closed', code, reason })
        this.socket.onerror = () => {}
    }
    put(message) {
        const index = this.waiting.findIndex(({ type }) => type === message.type)
        if (index < 0) this.got.push(message)
        else this.waiting.splice(index, 1)[0].resolve(message)
    }
    /** The next message of that type. */
    hear(type) {
        const index = this.got.findIndex((message) => message.type === type)
        if (index >= 0) return this.got.splice(index, 1)[0]
        return new Promise((resolve) => this.waiting.push({ type, resolve }))
    }
    say(type, body) { this.socket.send(JSON.stringify({ type, ...body })) }
}
"#;

/// Whether all that went wrong is that the machine was late.
fn is_about_delay(run: &Run) -> bool {
    let errors: Vec<&str> = run.stderr.lines().filter(|line| line.contains("level=error")).collect();
    let [line] = errors[..] else { return false };
    let crossed = line.split('\'').nth(1).unwrap_or_default();
    !crossed.is_empty() && crossed.split(", ").all(|metric| metric.starts_with("message_delay"))
}

/// Plays the study for some seconds; every kind of event has to arrive. Leaves the result in `out`.
fn study(lab: &Lab, app: &str, load: &str) {
    let app = format!("--serve={}", example(app));
    let settings = ["-e", "DURATION=3s", "-e", "SEED=400"];
    let run = lab.onrush(&[&["run", "-q", &app, "--save", "out"][..], &settings, &[&example(load)]].concat());
    assert!(run.code == 0 || run.code == 99 && is_about_delay(&run), "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("200 out of 200"), "{}\n{}", run.stdout, run.stderr);
    for event in ["cursor", "edit", "save", "open", "list", "comment", "question"] {
        let line = format!("{{ event:{event} }}");
        assert!(run.stdout.contains(&line), "no {event} arrived\n{}", run.stdout);
    }
}

#[test]
fn the_study_runs_and_every_kind_of_event_arrives() {
    let lab = Lab::new();
    study(&lab, "app.js", "load.js");
    lab.onrush(&["report", "out"]).code(0);
    let report = lab.read("out/report.html");
    for part in
        ["sends/s", "deliveries/s", "all events", "question", "inside", "mean of each second", "Delay of edit alone"]
    {
        assert!(report.contains(part), "no {part} in the report");
    }
}

#[test]
fn the_study_runs_by_socket_io() {
    study(&Lab::new(), "socketio-app.js", "socketio-load.js");
}

#[test]
fn mistakes_of_socket_io_users_are_answered() {
    let lab = Lab::with(
        r#"
        import { check } from 'k6'
        import http from 'k6/http'
        import { io } from 'onrush/socketio'
        export const options = { thresholds: { checks: ['rate==1'] } }
        const url = __ENV.TARGET
        const join = (user, more) => io(url, { transports: ['websocket'], auth: { user, project: 'p' }, forceNew: true,
          reconnection: false, ...more })
        const hear = (socket, event) => new Promise((resolve) => socket.once(event, resolve))
        const same = (name, got, expected) => {
            const [is, wanted] = [got, expected].map((value) => JSON.stringify(value))
            if (!check(is, { [name]: () => is === wanted })) console.error(`${name}: ${is}, expected ${wanted}`)
        }
        export default async function () {
            const refused = async (user, more) => (await hear(join(user, more), 'connect_error')).message
            same('a bad name', await refused('no name'), 'names are of letters, digits, - and _')
            same('no polling', await refused('ada', { transports: ['polling'] }), 'xhr poll error')
            const [ada, bob] = [join('ada'), join('bob')]
            await hear(ada, 'welcome')
            await hear(bob, 'welcome')
            for (const [event, body, expected] of [
                ['toString', {}, 'type is "toString", expected cursor, edit, save, list, open, comment, question'],
                ['open', { file: 'none.js' }, 'there is no file none.js'],
                ['cursor', undefined, 'file is missing, expected a string of at most 100 characters'],
            ]) {
                same(event, await ada.emitWithAck(event, body), { message: expected })
            }
            const heard = hear(bob, 'edit')
            const edit = { sent: 7, file: 'new.js', version: 0, line: 0, insert: ['one'] }
            same('an edit is acknowledged', await ada.emitWithAck('edit', edit), { file: 'new.js', version: 1 })
            const { user, stamps, insert } = await heard
            same('and told to others', [user, stamps.length, stamps[0], insert], ['ada', 3, 7, ['one']])
            same('saved', (await ada.emitWithAck('save', { file: 'new.js' })).size, 3)
            same('a page', http.get(`${url}/projects/p/new.js`).body, 'one')
            const left = hear(bob, 'left')
            for (let n = 0; n < 25; n++) ada.emit('nothing')
            await hear(ada, 'disconnect')
            same('too many mistakes', await left, { user: 'ada' })
            bob.emit('list', new Uint8Array(1))
            same('a binary value', await hear(bob, 'disconnect'), 'transport close')
        }"#,
    );
    lab.run(&[&format!("--serve={}", example("socketio-app.js"))]).code(0);
}

#[test]
fn users_who_are_not_let_in_fail_the_test() {
    let lab = Lab::new();
    let load = example("load.js");
    // Port 9 is discard's; nobody has served that for decades.
    let run = lab.onrush(&["run", "-q", "-e", "TARGET_WS=ws://127.0.0.1:9", "-e", "USERS=2", &load]).code(99);
    run.says("user-2 was not let in: dial tcp 127.0.0.1:9: connect: connection refused").prints("0 out of 2");
}

#[test]
fn edits_of_several_people_end_in_one_text() {
    let lab = Lab::new();
    Serving::start(&lab)
        .run(
            &lab,
            r#"
            const apply = (lines, { line, remove, insert }) => lines.splice(line, remove, ...insert)
            export default async function () {
                const [ada, bob] = [new Person('ada'), new Person('bob')]
                await ada.hear('welcome')
                await bob.hear('welcome')
                const edit = (who, version, line, remove, ...insert) =>
                  who.say('edit', { file: 'new.js', version, line, remove, insert, sent: 1 })
                edit(ada, 0, 0, 0, 'one', 'two', 'three', 'four')
                const text = []
                apply(text, await bob.hear('edit'))
                same('the author is told the version', await ada.hear('applied'),
                  { type: 'applied', file: 'new.js', version: 1 })

                // Both saw version 1; the later ones are moved by what came before them.
                edit(ada, 1, 0, 1, 'ONE', 'and a half')
                apply(text, await bob.hear('edit'))
                edit(bob, 1, 3, 1, 'FOUR')
                const moved = await ada.hear('edit')
                same('an edit of an old version is moved', [moved.line, moved.version, moved.user], [4, 3, 'bob'])
                apply(text, moved)
                edit(bob, 1, 0, 3)
                apply(text, await ada.hear('edit'))
                ada.say('open', { file: 'new.js' })
                const opened = await ada.hear('open')
                same('all have the same text', [opened.text, opened.version], [text.join('\n'), 4])
                same('and it is the one expected', text, ['FOUR'])

                edit(bob, 4, 1, 1, 'beyond')
                same('lines that are not there', (await bob.hear('error')).message,
                  'lines 2 to 2 were asked for, the file has 1')
                edit(bob, 9, 0, 0, 'early')
                same('a version to come', (await bob.hear('error')).message, "version 9 is ahead of the file's 4")
                edit(ada, 4, 0, 0, ...Array(300).fill('x'.repeat(200)))
                await ada.hear('applied')
                const page = `${__ENV.URL.replace('ws', 'http')}/projects/p/new.js`
                same('nothing was saved before', http.get(page).status, 404)
                ada.say('save', { file: 'new.js', sent: 7 })
                const { size, stamps } = await ada.hear('save')
                same('saved', [size, http.get(page).body.length], [60304, 60304])
                same('stamps are echoed', [stamps.length, stamps[0], stamps[1] <= stamps[2]], [3, 7, true])
                ada.say('list')
                const { files, users } = await ada.hear('list')
                same('the list', [files.at(-1), users],
                  [{ file: 'new.js', version: 5, savedVersion: 5, lines: 301 }, ['ada', 'bob']])
                same('others hear nothing of all that',
                  bob.got.map(({ type }) => type).filter((type) => type !== 'edit' && type !== 'applied'), [])
                ada.socket.close()
                same('who leaves is told', (await bob.hear('left')).user, 'ada')
                bob.socket.close()
            }"#,
        )
        .code(0);
}

#[test]
fn bad_messages_are_answered_and_many_of_them_end_the_connection() {
    let lab = Lab::new();
    Serving::start(&lab)
        .run(
            &lab,
            r#"
            export default async function () {
                const [ada, bob] = [new Person('ada'), new Person('bob')]
                await ada.hear('welcome')
                await bob.hear('welcome')
                for (const [sent, expected] of [
                    ['{', 'a message is not JSON: '],
                    ['null', 'type is missing, expected cursor, edit, save, list, open, comment, question'],
                    ['{"type":"toString"}', 'type is "toString", expected cursor'],
                    ['{"type":"open","file":"none.js"}', 'there is no file none.js'],
                    ['{"type":"open"}', 'file is missing, expected a string of at most 100 characters'],
                    ['{"type":"cursor","file":"main.js","line":-1}', 'line is -1, expected a whole number from 0 on'],
                    ['{"type":"edit","file":"main.js","version":1,"line":0,"insert":["a\\nb"]}',
                      'insert is ["a\\nb"], expected a list of lines'],
                    [new Uint8Array([1, 2]), 'a message is binary, expected JSON'],
                ]) {
                    ada.socket.send(sent)
                    const { message } = await ada.hear('error')
                    same(String(sent), message.startsWith(expected) || message, true)
                }
                ada.say('comment', { file: 'main.js', line: 1, text: 'still here' })
                same('it goes on', (await bob.hear('comment')).text, 'still here')
                same('without a stamp there are none', bob.got.every(({ stamps }) => stamps === undefined), true)
                for (let n = 0; n < 25; n++) ada.socket.send('{')
                same('too many', (await ada.hear('closed')).code, 1008)
                bob.socket.send('x'.repeat(70000))
                same('too long', (await bob.hear('closed')).code, 1009)
                const again = new Person('bob')
                await again.hear('welcome')
                const third = new Person('bob')
                same('who comes again takes the place', (await again.hear('closed')).code, 4000)
                same('and is there once', (await third.hear('welcome')).users, ['bob'])
                third.socket.close()
                const nowhere = new Person('no name')
                same('a bad address', (await nowhere.hear('closed')).code, 1008)
            }"#,
        )
        .code(0);
}

#[test]
fn a_user_who_stops_reading_holds_nobody_up_and_is_disconnected() {
    let lab = Lab::new();
    let serving = Serving::start(&lab);
    let mut stuck = serving.stuck_user("p");
    serving
        .run(
            &lab,
            r#"
            export default async function () {
                const [ada, bob] = [new Person('ada'), new Person('bob')]
                await ada.hear('welcome')
                await bob.hear('welcome')
                const insert = [...'abcdefghijklmno'].map((letter) => letter.repeat(4000))
                let left
                bob.hear('left').then((message) => { left = message })
                let edits = 0
                for (; left === undefined && edits < 1000; edits++) {
                    ada.say('edit', { file: 'big.js', version: edits, line: 0, remove: edits ? 15 : 0, insert })
                    same('everybody else gets every edit', (await bob.hear('edit')).version, edits + 1)
                    if (edits >= 300) await new Promise((done) => setTimeout(done, 10))
                }
                same('the one who does not read is gone', left, { type: 'left', user: 'stuck' })
                ada.socket.close()
                bob.socket.close()
            }"#,
        )
        .code(0);
    let mut rest = Vec::new();
    let _reset_or_end = stuck.read_to_end(&mut rest);
    assert!(rest.len() > 100_000, "it was sent {} bytes", rest.len());
}
