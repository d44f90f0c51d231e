//! Multipart forms in every way a script can make them, read by the target's own parser; and values that cannot be
//! sent.

use crate::lab::Lab;

/// Compares in an iteration; what differs is an error line, and fails the run.
const VERIFY: &str = "
    import http, { FormData } from 'onrush/http';
    import { FormData as Library } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
    import { check } from 'k6';
    export const options = { thresholds: { checks: ['rate==1'] } };
    function verify(name, found, expected) {
        if (found !== expected) console.error(`${name}: found ${found}, expected ${expected}`);
        check(found, { [name]: (found) => found === expected });
    }
    const T = __ENV.TARGET;
    const image = new Uint8Array(150000).fill(255);
    function filled(form) {
        form.append('image', http.file(image.buffer, 'image.jpg', 'image/jpeg'));
        form.append('title', 'A picture');
        form.append('tag', 'a');
        form.append('tag', '');
        return form;
    }
    function shape(res) {
        const { form, files } = res.json();
        const list = (values) => Object.keys(values).sort().map((name) => `${name}=${values[name].map((v) => \
        v.length)}`).join(' ');
        return `${res.status} ${list(form)} | ${list(files)}`;
    }
";

/// Runs init code and one iteration against the target, offline.
fn verified(init: &str, iteration: &str) {
    let script = format!("{VERIFY}\n{init}\nexport default async function () {{\n{iteration}\n}}");
    let run = Lab::with(&script).run(&["--serve", "--insecure-skip-tls-verify", "--log-format", "raw"]);
    assert!(!run.stderr.contains("found") && !run.stderr.contains("Error"), "{}", run.stderr);
    run.code(0);
}

#[test]
fn every_way_arrives_alike() {
    verified(
        // The target shows bytes that are no text as a data URL.
        "const whole = `200 tag=1,0 title=9 | image=${'data:image/jpeg;base64,'.length + 200000}`;
         const typed = (form) => ({ headers: { 'Content-Type': 'multipart/form-data; boundary=' + form.boundary } });",
        "const form = filled(new FormData()), library = filled(new Library());
         verify('the form itself', shape(http.post(`${T}/post`, form)), whole);
         verify('again', shape(http.post(`${T}/post`, form)), whole);
         verify('its body', shape(http.post(`${T}/post`, form.body(), typed(form))), whole);
         verify('the library', shape(http.post(`${T}/post`, library.body(), typed(library))), whole);
         verify('the library itself', shape(http.put(`${T}/put`, library)), whole);
         const object = { image: http.file(image.buffer, 'image.jpg', 'image/jpeg'), title: 'A picture', tag: 'a' };
         verify('an object', shape(http.post(`${T}/post`, object)), whole.replace('1,0', '1'));
         verify('over TLS', shape(http.post(`${__ENV.TARGET_TLS}/post`, form)), whole);
         verify('after a redirect', shape(http.post(`${T}/redirect-to?url=/post&status_code=307`, form)), whole);
         verify('side by side', http.batch([['POST', `${T}/post`, form], ['POST', `${T}/post`, \
         library]]).map(shape).join(),
             `${whole},${whole}`);
         verify('asynchronous', shape(await http.asyncRequest('POST', `${T}/post`, form)), whole);
         verify('by request', shape(http.request('PATCH', `${T}/patch`, form)), whole);",
    );
}

#[test]
fn the_header_names_the_boundary_unless_the_script_sets_it() {
    verified(
        "",
        "const form = filled(new FormData());
         const sent = (params) => http.post(`${T}/post`, form, params).request;
         verify('own', sent().headers['Content-Type'][0], `multipart/form-data; boundary=${form.boundary}`);
         form.boundary = 'mine';
         verify('replaced', sent().headers['Content-Type'][0], 'multipart/form-data; boundary=mine');
         const type = 'multipart/form-data; charset=utf-8; boundary=mine';
         verify('the script\\'s', sent({ headers: { 'content-type': type } }).headers['Content-Type'].join(), type);
         const length = http.post(`${T}/post`, form).json('headers.Content-Length');
         verify('exact length', Number(length), form.body().byteLength);
         verify('what was sent', sent().body.length, form.body().byteLength);",
    );
}

#[test]
fn a_value_that_cannot_be_sent_fails_its_iteration_and_no_other() {
    let script = "import http, { FormData } from 'onrush/http';
        export const options = { iterations: 3, thresholds: { http_reqs: ['count==2'], iterations: ['count==3'] } };
        export default function () {
          const form = new FormData();
          form.append('when', __ITER === 1 ? new Date(0) : 'now');
          http.post(`${__ENV.TARGET}/post`, form);
        }";
    Lab::with(script)
        .run(&["--serve"])
        .code(0)
        .says(
            "TypeError: FormData.append: the value of field \\\"when\\\" is an object of the class Date, expected a \
            string",
        )
        .says("script.js:5");
}

#[test]
fn bodies_of_no_use_are_told_with_what_is_of_use() {
    let script = "import http from 'k6/http';
        export const options = { thresholds: { http_reqs: ['count==1'] } };
        export default function () {
          http.post(`${__ENV.TARGET}/post`, new Map());
          http.post(`${__ENV.TARGET}/post`, { a: 1 });
        }";
    Lab::with(script).run(&["--serve"]).code(0).says("unknown request body type").says("a FormData");
}

const HINT: &str = "this test computes for 10 ms or more before it sends a multipart body: JavaScript that puts bytes \
    together is slow; FormData of onrush/http and http.file send them from where they are, see \
    docs/guides/uploading.md";

/// Hints in what a run of three iterations and two users logs.
fn hints(iteration: &str) -> usize {
    let script = format!(
        "import http, {{ FormData }} from 'onrush/http';
        export const options = {{ vus: 2, iterations: 6 }};
        const compute = () => {{ for (const until = Date.now() + 80; Date.now() < until;); }};
        const typed = {{ headers: {{ 'content-type': 'multipart/form-data; boundary=B' }} }};
        const url = __ENV.TARGET + '/upload', bytes = new Uint8Array(10);
        export default function () {{ {iteration} }}"
    );
    let run = Lab::with(&script).run(&["--serve", "--log-format", "raw"]).code(0);
    run.stderr.lines().filter(|line| line.contains(HINT)).count()
}

#[test]
fn bodies_put_together_in_javascript_get_one_hint() {
    assert_eq!(hints("compute(); http.post(url, bytes, typed);"), 1);
    assert_eq!(hints("compute(); http.post(url, '--B--', typed);"), 1);
    let by_hand = "class Form { parts = []; add(text) { this.parts.push(text) }
        body() { let all = [];
            for (const part of this.parts)
              for (let i = 0; i < part.length; i++) all = [...all, part.charCodeAt(i) & 255];
            return new Uint8Array(all).buffer } }
        const form = new Form();
        form.add('--B\\r\\nContent-Disposition: form-data; name=\"a\"\\r\\n\\r\\n' + 'x'.repeat(5000) + '\\r\\n--B--');
        http.post(url, form.body(), typed);";
    assert_eq!(hints(by_hand), 1, "a class that Onrush does not recognise");
    for innocent in [
        "http.post(url, bytes, typed); compute();",
        "compute(); http.get(url + '?a'); http.post(url, bytes, typed);",
        "compute(); http.post(url, bytes);",
        "compute(); const form = new FormData(); form.append('a', bytes); http.post(url, form);",
        "compute(); http.post(url, { a: http.file(bytes.buffer, 'a') });",
    ] {
        assert_eq!(hints(innocent), 0, "{innocent}");
    }
}
