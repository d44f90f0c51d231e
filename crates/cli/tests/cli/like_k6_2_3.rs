//! What version 2.3 of k6 brought, by its release notes and types: the other suites compare with 2.2.

use crate::lab::Lab;

#[test]
fn the_states_of_a_socket_have_names() {
    let lab = Lab::with(
        "import { WebSocket } from 'k6/websockets';
         export default function () {
           const socket = new WebSocket(`${__ENV.TARGET_WS}/ws/echo`);
           const states = (of) => [of.CONNECTING, of.OPEN, of.CLOSING, of.CLOSED].join();
           console.log(states(WebSocket), states(socket), socket.readyState === WebSocket.CONNECTING);
           socket.onopen = () => { console.log(`open: ${socket.readyState === WebSocket.OPEN}`); socket.close(); };
         }",
    );
    lab.run(&["--serve"]).code(0).says("msg=\"0,1,2,3 0,1,2,3 true\"").says("msg=\"open: true\"");
}

#[test]
fn nothing_in_a_form_is_an_empty_value() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export default function () {
           const sent = (body) => http.post(`${__ENV.TARGET}/post`, body).request.body;
           console.log(sent({ a: null, b: 1, c: [undefined, 2] }));
           console.log(sent({ file: http.file('x', 'x'), a: null }).includes('name=\"a\"\\r\\n\\r\\n\\r\\n--'));
         }",
    );
    lab.run(&["--serve"]).code(0).says("msg=\"a=&b=1&c=&c=2\"").says("msg=true");
}

#[test]
fn times_of_the_log_may_have_nanoseconds() {
    let lab = Lab::with("export default function () { console.log('a line'); }");
    let times = |flags: &[&str], before: &str, behind: &str| {
        let said = lab.run(flags).code(0).stderr;
        let line = said.lines().find(|line| line.contains("a line")).expect("it is logged").to_owned();
        let at = line.find(before).expect("a time") + before.len();
        line[at..].split(behind).next().expect("its end").to_owned()
    };
    let with = ["--log-ns-timestamps"];
    assert_eq!(times(&[], "time=\"", "\"").len(), "2026-01-01T00:00:00Z".len());
    assert_eq!(times(&with, "time=\"", "\"").len(), "2026-01-01T00:00:00.123456789Z".len());
    let json = ["--log-ns-timestamps", "--log-format", "json"];
    assert_eq!(times(&json, "\"time\":\"", "\"").len(), "2026-01-01T00:00:00.123456789Z".len());
}
