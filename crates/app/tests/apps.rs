//! Apps without a server: requests made by hand, answers looked at as values.

mod driver;

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use driver::*;

fn app(fetch: &str) -> String {
    format!("export default {{ async fetch(request, context) {{ {fetch} }} }}")
}

#[test]
fn answers_at_once_without_a_task() {
    with_app(
        "export default { fetch: (request) => new Response(`${request.method} ${request.url}`) }",
        |served| async move {
            // The app's own task has to have begun once.
            tokio::task::yield_now().await;
            let mut answering = served.app.fetch(get("/a?b").request());
            let answer = answering.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop()));
            let Poll::Ready(Ok(answer)) = answer else { panic!("not at once: {answer:?}") };
            assert_eq!((answer.status, answer.content_type.as_deref()), (200, Some("text/plain;charset=UTF-8")));
            assert_eq!(body(answer).await, "GET http://h/a?b");
        },
    );
}

#[test]
fn bodies_of_every_kind_go_out() {
    let cases = [
        ("new Response()", ""),
        ("new Response('é')", "é"),
        ("new Response(new Uint8Array([97, 98, 99]).subarray(1))", "bc"),
        ("new Response(new TextEncoder().encode('ab').buffer)", "ab"),
        ("new Response(['a', new Uint8Array([98]), 'c'])", "abc"),
        ("new Response(new Blob(['a', 'b'], { type: 'x/y' }))", "ab"),
        ("new Response(new URLSearchParams({ a: '1 2', b: '&' }))", "a=1+2&b=%26"),
        ("Response.json({ a: [1] })", "{\"a\":[1]}"),
        ("new Response(new Set(['a', 'b']))", "ab"),
        ("new Response((function* () { yield 'a'; yield 'b' })())", "ab"),
        (
            "new Response((async function* () { yield 'a'; await new Promise((done) => setTimeout(done, 5)); \
             yield 'b' })())",
            "ab",
        ),
        ("new Response(ReadableStream.from(['a', 'b']))", "ab"),
        ("new Response((async function* () { yield 'a'; throw new Error('no') })())", "a[broke off: Error: no]"),
        (
            "new Response((async function* () { yield 'a'; yield 5 })())",
            "a[broke off: TypeError: a piece of the body is int, expected a string, an ArrayBuffer or a typed array]",
        ),
        ("new Response(5)", "5"),
        (
            "(await (async () => { const r = new Response('ab', { status: 201 }); \
             return Response.json([await r.clone().text(), r.status, r.ok, r.headers.get('content-type')]) })())",
            "[\"ab\",201,true,\"text/plain;charset=UTF-8\"]",
        ),
        ("new Response(await new Response((function* () { yield 'a'; yield 'b' })()).text())", "ab"),
        ("new Response(new Response('ab').body)", "ab"),
        ("Response.json([1]).clone()", "[1]"),
    ];
    for (expression, expected) in cases {
        with_app(&app(&format!("return {expression}")), |served| async move {
            assert_eq!(served.text(get("/")).await, expected, "{expression}");
        });
    }
}

#[test]
fn one_response_may_answer_many_requests() {
    let source = "const same = new Response('same', { headers: { x: 'y' } })
        export default { fetch: (request) => request.url.endsWith('/later') ? Promise.resolve(same) : same }";
    with_app(source, |served| async move {
        for path in ["/", "/later", "/"] {
            let answer = served.ask(get(path)).await.expect("an answer");
            assert_eq!(answer.headers.len(), 1);
            assert_eq!(body(answer).await, "same");
        }
    });
}

#[test]
fn heads_of_answers_are_what_the_app_said() {
    let cases = [
        ("new Response('', { status: 404, headers: { 'X-A': ' b ' } })", 404, "x-a: b"),
        (
            "new Response('', { headers: [['set-cookie', 'a'], ['set-cookie', 'b']] })",
            200,
            "set-cookie: a, set-cookie: b",
        ),
        (
            "new Response('', { headers: new Headers({ 'Content-Type': 'a/b', 'Content-Length': '7' }) })",
            200,
            "content-type: a/b",
        ),
        ("Response.json(1, { status: 201 })", 201, "type: application/json"),
        ("Response.redirect('/x', 308)", 308, "location: /x"),
        ("Response.json(1, { headers: { 'content-type': 'a/b' } })", 200, "content-type: a/b"),
        ("new Response(new URLSearchParams('a=b'))", 200, "type: application/x-www-form-urlencoded;charset=UTF-8"),
        (
            "(() => { const r = Response.json(1, { headers: { x: 1 } }); r.headers.set('x', 2); return r })()",
            200,
            "x: 2, content-type: application/json",
        ),
        ("new (class Mine extends Response {})(null, { status: 204 })", 204, ""),
    ];
    for (expression, status, expected) in cases {
        with_app(&app(&format!("return {expression}")), |served| async move {
            let answer = served.ask(get("/")).await.unwrap();
            let mut lines: Vec<String> =
                answer.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            lines.extend(
                answer
                    .content_type
                    .iter()
                    .filter(|kind| !kind.starts_with("text/plain"))
                    .map(|kind| format!("type: {kind}")),
            );
            assert_eq!((answer.status, lines.join(", ").as_str()), (status, expected), "{expression}");
        });
    }
}

#[test]
fn bodies_of_every_kind_come_in() {
    let cases = [
        ("await request.text()", "one two"),
        ("(await request.arrayBuffer()).byteLength", "7"),
        ("(await request.bytes())[0]", "111"),
        ("(await (await request.blob()).text())", "one two"),
        ("await Array.fromAsync(request.body, (piece) => piece.length)", "3,4"),
        (
            "await (async () => { const reader = request.body.getReader(); \
             return (await reader.read()).value.length })()",
            "3",
        ),
        (
            "await (async () => { await request.text(); \
             return [request.bodyUsed, await request.text().catch(String)] })()",
            "true,TypeError: the body has been read already",
        ),
        ("await request.json().catch((error) => error.name)", "SyntaxError"),
        ("await request.formData().catch((error) => error.message)", "the body is not a form: it has no content-type"),
    ];
    for (expression, expected) in cases {
        with_app(&app(&format!("return new Response(`${{{expression}}}`)")), |served| async move {
            let released = Released::default();
            assert_eq!(served.text(post("/", &["one", " two"], &released)).await, expected, "{expression}");
        });
    }
}

#[test]
fn a_request_knows_its_head() {
    let cases = [
        ("request.headers.get('x-A')", "1, 2"),
        ("request.headers.get('none')", "null"),
        ("request.headers.has('HOST')", "true"),
        ("[...request.headers].join(';')", "host,h;x-a,1, 2"),
        (
            "JSON.stringify([request instanceof Request, request.body, new URL(request.url).searchParams.get('q')])",
            "[true,null,\"1\"]",
        ),
        ("[context.env.NAME, __ENV.NAME, context.remoteAddress(request)]", "value,value,127.0.0.1"),
        ("request.signal.aborted", "false"),
    ];
    for (expression, expected) in cases {
        with_app(&app(&format!("return new Response(`${{{expression}}}`)")), |served| async move {
            let headers = vec![("Host", "h"), ("X-A", "1"), ("x-a", "2")];
            assert_eq!(served.text(Asked { headers, ..get("/?q=1") }).await, expected, "{expression}");
        });
    }
}

#[test]
fn addresses_follow_the_standard() {
    let cases = [
        ("new URL('../c?x#y', 'HTTP://u:p@H:80/a/b/d').href", "http://u:p@h/a/c?x#y"),
        ("new URL('http://b\u{fc}cher.example/').hostname", "xn--bcher-kva.example"),
        ("new URL('http://h:81/').origin", "http://h:81"),
        ("new URL('file:///a').origin", "null"),
        ("new URL('custom://h/p?q').href", "custom://h/p?q"),
        (
            "Object.assign(new URL('http://h/a?b=1'), { protocol: 'https', host: 'k:82', hash: 'z' })",
            "https://k:82/a?b=1#z",
        ),
        ("Object.assign(new URL('http://h/'), { port: 'none', pathname: 'x y' })", "http://h/x%20y"),
        (
            "(() => { const url = new URL('http://h/?a=1'); url.searchParams.append('b', '2 3'); return url })()",
            "http://h/?a=1&b=2+3",
        ),
        ("URL.canParse('/a') + ' ' + URL.canParse('/a', 'http://h')", "false true"),
        (
            "(() => { try { new URL('http://h:99999/') } catch (error) { return error } })()",
            "TypeError: invalid URL 'http://h:99999/': invalid port number",
        ),
    ];
    for (expression, expected) in cases {
        with_app(&app(&format!("return new Response(`${{{expression}}}`)")), |served| async move {
            assert_eq!(served.text(get("/")).await, expected, "{expression}");
        });
    }
}

#[test]
fn a_released_piece_goes_back_at_once() {
    let source = app("const lengths = []
         for await (const piece of request.body) { Onrush.release(piece); lengths.push(piece.length) }
         return new Response(lengths.join())");
    with_app(&source, |served| async move {
        let released = Released::default();
        assert_eq!(served.text(post("/", &["abc", "de"], &released)).await, "0,0");
        assert_eq!(*released.lock().unwrap(), b"ad");
    });
    let source = "const kept = []
        export default { async fetch(request) {
            for await (const piece of request.body) kept.push(piece)
            return new Response(kept.map((piece) => String.fromCharCode(...piece)).join())
        } }";
    with_app(source, |served| async move {
        let released = Released::default();
        assert_eq!(served.text(post("/", &["abc", "de"], &released)).await, "abc,de");
        assert_eq!(*released.lock().unwrap(), b"");
        drop(served);
        assert_eq!(released.lock().unwrap().len(), 2, "the end of the app gives back what it kept");
    });
}

#[test]
fn memory_of_the_app_outlives_it() {
    let source = "export default {
            allocate: (size) => new ArrayBuffer(size),
            async fetch(request) { return new Response(await request.text()) },
        }";
    with_app(source, |served| async move {
        tokio::task::yield_now().await;
        assert!(served.app.allocates());
        assert!(served.app.allocate(8).is_none(), "nothing is asked for ahead");
        let kept = Rc::default();
        let lends = Some(Lending { app: Rc::downgrade(&served.app), kept: Rc::clone(&kept) });
        let hanging = Asked { hangs: true, lends, ..post("/", &[], &Released::default()) };
        let waited = tokio::time::timeout(Duration::from_millis(20), served.ask(hanging)).await;
        assert!(waited.is_err(), "it hangs");
        let mut outlives = kept.take().expect("memory");
        drop(served);
        outlives.bytes_mut().fill(7);
        assert_eq!(outlives.bytes(), [7; 8], "the memory stays although the app has ended");
    });
}

#[test]
fn a_handler_that_fails_is_logged_with_its_line_and_the_app_goes_on() {
    let cases = [
        ("throw new TypeError('boom')", "TypeError: boom", "app.js:"),
        ("await null; throw new Error('later')", "Error: later", "app.js:"),
        ("return 5", "TypeError: fetch() returned a number, expected a Response", ""),
        ("return { status: 200 }", "TypeError: fetch() returned a plain object, expected a Response", ""),
        ("", "TypeError: fetch() returned undefined, expected a Response", ""),
        (
            "return new Response('', { headers: { 'x': 'a\\nb' } })",
            "TypeError: the value of header x holds a line break",
            "app.js:",
        ),
        ("return new Response('', { status: 99 })", "RangeError: the status is 99", "app.js:"),
        ("return Response('x')", "TypeError: Response is a class: write new Response(…)", "app.js:"),
        ("return new Response('x', { status: 204 })", "TypeError: a response with status 204 has no body", "app.js:"),
        ("return new Response({})", "TypeError: the body of the response is a plain object", ""),
        ("await new Promise(() => {})", "the handler ended without an answer", "-"),
        ("for (;;);", "the app computed for 100ms", "app.js:"),
        ("await null; for (;;);", "the handler ended without an answer", "app.js:"),
    ];
    for (code, message, place) in cases {
        let source = app(&format!("if (request.url === 'http://h/ok') return new Response('fine');\n{code}"));
        with_app(&source, |served| async move {
            let text = served.text(get("/bad")).await;
            assert!(text.starts_with("500: ") && text.contains(message), "{code}: {text}");
            let lines = served.lines.0.lock().unwrap().join("\n");
            assert!(place == "-" || (lines.contains(place) && !lines.is_empty()), "{code}: {lines}");
            assert!(lines.matches("http://h/bad").count() <= 1, "{code}: {lines}");
            assert_eq!(served.text(get("/ok")).await, "fine", "{code}");
        });
    }
}

#[test]
fn a_client_that_goes_is_noticed_and_not_logged() {
    let source = "const seen = []
        export default { async fetch(request) {
            if (request.url.endsWith('/seen')) return new Response(seen.join())
            request.signal.addEventListener('abort', () => seen.push('aborted'))
            await request.text().catch((error) => seen.push(error.message))
            throw new Error('nobody is there')
        } }";
    with_app(source, |served| async move {
        tokio::task::yield_now().await;
        let released = Released::default();
        let asked = Asked { hangs: true, ..post("/", &["abc"], &released) };
        {
            let mut answering = served.app.fetch(asked.request());
            let polled = std::future::poll_fn(|cx| Poll::Ready(answering.as_mut().poll(cx).is_ready())).await;
            assert!(!polled);
        }
        assert_eq!(served.text(get("/seen")).await, "aborted,the body broke off: the client has gone");
        assert_eq!(served.lines.0.lock().unwrap().len(), 0);
    });
}

#[test]
fn handlers_interleave_and_a_wait_that_blocks_is_refused() {
    let source = "import { sleep } from 'k6'
        export default { async fetch(request) {
            if (request.url.endsWith('/sleep')) sleep(1)
            await new Promise((done) => setTimeout(done, request.url.endsWith('/slow') ? 300 : 1))
            return new Response('done')
        } }";
    with_app(source, |served| async move {
        let slow = served.ask(get("/slow"));
        let quick = served.ask(get("/quick"));
        let mut slow = std::pin::pin!(slow);
        tokio::select! {
            biased;
            _ = &mut slow => panic!("the slow one was first"),
            answer = quick => assert!(answer.is_ok()),
        }
        assert!(slow.await.is_ok());
        let text = served.text(get("/sleep")).await;
        assert!(text.contains("an app cannot wait this way"), "{text}");
    });
}

#[test]
fn what_is_no_app_is_refused_with_words() {
    let runtime = wire::event_loop().unwrap();
    for (source, expected) in [
        ("export const a = 1", "the file has no default export"),
        ("export default function () {}", "a test script is run with `onrush run`"),
        ("export default { get() {} }", "the default export has no function fetch, it has get"),
        (
            "export default { fetch() {}, allocate: 5 }",
            "allocate of the default export is a number, expected a function",
        ),
        ("export default {", "app.js:1"),
        ("throw new Error('no')\nexport default {}", "Error: no"),
        ("import './none.js'\nexport default { fetch() {} }", "there is no file /none.js"),
    ] {
        let lines = Arc::new(Lines::default());
        let error = runtime.block_on(load(source, &lines)).err().unwrap_or_else(|| panic!("{source} loads"));
        assert!(error.to_string().contains(expected), "{source}: {error}");
        assert_eq!(error.exit_code, 107, "{source}");
    }
}
