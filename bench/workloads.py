"""The one list of workloads: what each tool is made to do, and which figure is compared.

Commands are lists; {fields} are filled in by run.py (url, duration, summary, scripts, bin). A tool that a workload names but
that is not installed is skipped with a line. `kind` decides the figure:

  requests    requests (server's count) per generator CPU second in the steady window; more is better
  rate        requests a second (server's count) in the steady window, where the server is not the limit; more is better
  memory      resident MiB at the end of the steady window; less is better
  iterations  iterations (tool's count) per generator CPU second of the whole run; more is better
  startup     milliseconds of CPU for one empty iteration, start to exit; less is better
"""

from server import BOUNDARY

ONRUSH = "onrush"


def _script(name, env, workers=1):
    """The same script under k6 and under Onrush."""
    env = [part for key, value in env.items() for part in ("-e", f"{key}={value}")]
    path = f"{{scripts}}/{name}.js"
    k6 = ["{bin}", "run", "--quiet", "--no-usage-report", "--address", "", "--no-color", *env, "-e", "SUMMARY={summary}", path]
    onrush = ["{bin}", "run", "--quiet", "--workers", str(workers), *env, "-e", "SUMMARY={summary}", path]
    return [{"name": ONRUSH, "bin": ONRUSH, "command": onrush, "parse": "script"},
            {"name": "k6", "bin": "k6", "command": k6, "parse": "script"}]


def _workers(name, env):
    """Onrush with one worker, with two, and two processes of one worker each, which share nothing."""
    def one(workers, vus):
        return _script(name, {**env, "VUS": vus}, workers)[0]
    line = " ".join(one(1, 32)["command"])
    pair = (f"{line.replace('{summary}', '{summary}.1')} & other=$!; {line.replace('{summary}', '{summary}.2')}; own=$?; "
            "wait $other && exit $own")
    return [*({**one(workers, 64), "name": f"onrush --workers {workers}"} for workers in (1, 2)),
            {"name": "onrush, 2 processes", "bin": ONRUSH, "command": ["sh", "-c", pair], "parse": "pair"}]


def _wrk(connections, *more):
    return {"name": "wrk", "bin": "wrk", "parse": "wrk",
            "command": ["{bin}", "-t1", f"-c{connections}", "-d{duration}s", "--latency", *more, "{url}"]}


def _oha(connections, *more):
    return {"name": "oha", "bin": "oha", "parse": "oha",
            "command": ["{bin}", "-z", "{duration}s", "-c", str(connections), "--no-tui", "--output-format", "json", *more, "{url}"]}


def _quick(connections, *more):
    """A URL without a script."""
    return {"name": "onrush URL", "bin": ONRUSH, "parse": "quick",
            "command": ["{bin}", "run", "--quiet", "--workers", "1", "-c", str(connections), "-d", "{duration}s", *more, "{url}"]}


def _vegeta(attack):
    line = f"echo 'GET {{url}}' | {{bin}} -cpus 1 attack {attack} -duration {{duration}}s | {{bin}} report -type json"
    return {"name": "vegeta", "bin": "vegeta", "parse": "vegeta", "command": ["sh", "-c", line]}


def _vegeta_rate(rate):
    """With the times of its starts, from which its lag is computed as Onrush computes its own."""
    line = (f"echo 'GET {{url}}' | {{bin}} -cpus 1 attack -rate {rate} -duration {{duration}}s | tee {{summary}}.bin "
            "| {bin} report -type json && {bin} encode -to csv -output {summary}.csv {summary}.bin")
    return {"name": "vegeta", "bin": "vegeta", "parse": "vegeta", "command": ["sh", "-c", line]}


def _labelled(name, label, more=None):
    """A script of the form workloads under Onrush and k6, with a name of its own; `label` is what both are called."""
    pair = _script(name, {**ENV, "VUS": 30, "IMAGE": "{payload}/image.bin", **(more or {})})
    return [{**tool, "name": f"{tool['name']} {label}"} for tool in pair]


def _form(title, url, tools, aims, **more):
    """30 connections that send 140 KiB each time."""
    return {"title": title, "kind": "requests", "url": url, "path": "upload", "counts": 2, "tools": tools, "aims": aims, **more}


def _uploads():
    """1 MiB from memory by all, and from a file that is read while it is sent."""
    env = {**ENV, "VUS": 200, "BODY": "{body}"}
    stream = {**_script("upload_stream", env)[0], "name": "onrush, FileStream"}
    plow = {"name": "plow", "bin": "plow", "parse": "plow",
            "command": ["{bin}", "-c", "200", "-d", "{duration}s", "--json", "-i", "0", "--listen", "127.0.0.1:0", "-m", "POST",
                        "-T", "application/octet-stream", "-b", "@{body}", "{url}"]}
    wrk = _wrk(200, "-s", "{scripts}/upload.lua")
    wrk["command"] += ["--", "{body}"]
    return [*_script("upload", env), stream, plow, wrk]


HEADERS = [part for header in ("Accept: text/html", "Accept-Language: en", "X-Request-Source: bench") for part in ("-H", header)]
# Doubled braces: fields are filled in.
JSON_BODY = '{{"id":123456,"name":"picture","tags":["a","b","c"]}}'
LOOP = "-rate 0 -workers 64 -max-workers 64 -connections 64"
ENV = {"URL": "{url}", "DURATION": "{duration}s"}

WRK_FORM = _wrk(30, "-s", "{scripts}/post_body.lua")
WRK_FORM["command"] += ["--", "{payload}/form.bin", f"multipart/form-data; boundary={BOUNDARY}"]
FORM_TOOLS = [WRK_FORM, _labelled("form", "FormData")[0], _labelled("form_library", "library")[0], *_labelled("form_file", "http.file")]
FORM_AIMS = [("onrush FormData", "wrk", 1.0), ("onrush http.file", "wrk", 1.0), ("onrush library", "wrk", 1.0)]
FORM_NOTE = "wrk sends one body built beforehand. k6 has no FormData, and fetches the library from the network."

WORKLOADS = {
    "get": {
        "title": "small GET, keep-alive, 64 connections", "kind": "requests", "url": "http",
        "tools": [*_script("get", {**ENV, "VUS": 64}), _wrk(64), _oha(64), _vegeta(LOOP)],
    },
    "get-tls": {
        "title": "small GET over TLS 1.3, 64 connections", "kind": "requests", "url": "https",
        "tools": [*_script("get", {**ENV, "VUS": 64}), _wrk(64), _oha(64, "--insecure"), _vegeta(LOOP + " -insecure")],
    },
    "get-check": {
        "title": "small GET and a check of the status, 64 connections", "kind": "requests", "url": "http",
        "note": "wrk, oha and vegeta check nothing.",
        "tools": [*_script("get_check", {**ENV, "VUS": 64}), _wrk(64), _oha(64), _vegeta(LOOP)],
    },
    "quick-get": {
        "title": "a URL without a script: small GET, 64 connections", "kind": "requests", "url": "http",
        "note": "onrush URL sends curl's Accept as well, wrk none.",
        "tools": [_quick(64), _script("get", {**ENV, "VUS": 64})[0], _wrk(64), _oha(64)],
        "aims": [("onrush URL", "wrk", 1.0)],
    },
    "quick-tls": {
        "title": "a URL without a script: small GET over TLS 1.3, 64 connections", "kind": "requests", "url": "https",
        "tools": [_quick(64, "--insecure"), _wrk(64), _oha(64, "--insecure")], "aims": [("onrush URL", "wrk", 1.0)],
    },
    "quick-headers": {
        "title": "a URL without a script: GET with three headers, 64 connections", "kind": "requests", "url": "http",
        "tools": [_quick(64, *HEADERS), _wrk(64, *HEADERS), _oha(64, *HEADERS)], "aims": [("onrush URL", "wrk", 1.0)],
    },
    "quick-post": {
        "title": "a URL without a script: POST of a short body, 64 connections", "kind": "requests", "url": "http",
        "tools": [_quick(64, "--json", JSON_BODY), _wrk(64, "-s", "{scripts}/post_json.lua"),
                  _oha(64, "-m", "POST", "-d", JSON_BODY, "-T", "application/json")],
        "aims": [("onrush URL", "wrk", 1.0)],
    },
    "post-check-tls": {
        "title": "POST without a body and a check of the status over TLS 1.3, 250 connections", "kind": "requests",
        "url": "https", "note": "wrk and oha check nothing.",
        "tools": [*_script("post_check", {**ENV, "VUS": 250}), _wrk(250, "-s", "{scripts}/post.lua"),
                  _oha(250, "--insecure", "-m", "POST")],
    },
    "fasthttp": {
        "title": "POST and a check of the status over TLS 1.3, 250 connections, as k6/x/fasthttp and as k6/http",
        "kind": "requests", "url": "https",
        "note": "k6-fasthttp is a k6 built with the extension. It counts each check as passed and keeps one timing; wrk checks nothing.",
        "tools": [{**_script("fasthttp", {**ENV, "VUS": 250})[0], "name": "onrush k6/x/fasthttp"},
                  *_script("post_check", {**ENV, "VUS": 250}),
                  {**_script("fasthttp", {**ENV, "VUS": 250})[1], "name": "k6-fasthttp", "bin": "k6-fasthttp"},
                  _wrk(250, "-s", "{scripts}/post.lua")],
        "references": ["wrk", "k6", "k6-fasthttp"],
    },
    "rate-5k": {
        "title": "open model, 5,000 iterations a second", "kind": "requests", "url": "http",
        "note": "Look at the rate that was reached, the cores it took and the lag: starts in bunches cost less CPU than starts on time.",
        "tools": [*_script("rate", {**ENV, "RATE": 5000, "VUS": 100}), _oha(100, "-q", "5000", "--latency-correction"),
                  _vegeta_rate(5000)],
        "references": ["k6", "vegeta"],
    },
    "rate-10k": {
        "title": "open model, 10,000 iterations a second: lag of the schedule", "kind": "requests", "url": "http",
        "note": "lag is the time from the planned to the actual start of an iteration, which k6 and oha do not tell.",
        "tools": [*_script("rate", {**ENV, "RATE": 10000, "VUS": 200}), _oha(200, "-q", "10000", "--latency-correction"),
                  _vegeta_rate(10000)],
    },
    "vus-1k": {
        "title": "memory of 1,000 VUs, each sends a request a second", "kind": "memory", "url": "http", "longer": 3,
        "tools": [*_script("idle", {**ENV, "VUS": 1000}), _oha(1000, "-q", "1000")],
    },
    "vus-10k": {
        "title": "memory of 10,000 VUs, each sends a request a second", "kind": "memory", "url": "http", "longer": 8,
        "tools": [*_script("idle", {**ENV, "VUS": 10000}), _oha(10000, "-q", "10000")],
    },
    **{f"upload-1m{suffix}": {
        "title": f"upload of 1 MiB{what}, 200 connections", "kind": "requests", "url": url, "path": "upload", "counts": 2,
        "note": "wrk, plow and k6 send from memory; FileStream reads the file anew for each upload.",
        "tools": _uploads(), "references": ["plow", "k6"],
        "aims": [("onrush", "plow", 1.0), ("onrush", "k6", 3.8), ("onrush, FileStream", "onrush", 0.8)],
    } for suffix, what, url in (("", "", "http"), ("-tls", " over TLS 1.3", "https"))},
    "workers": {
        "title": "small GET, 64 connections: what sharing a process costs", "kind": "requests", "url": "http", "wide": True,
        "note": "Two workers beside two processes of one worker, which share neither a lock nor a cache line: the same figure means "
                "that the workers do not either. With two CPUs in all, the server needs one of them: the row of one worker is then "
                "a server and a generator that do not disturb each other, and not to be compared.",
        "tools": _workers("get", ENV), "references": ["onrush, 2 processes"],
    },
    "workers-rate": {
        "title": "a script that works for each request, 64 connections: one worker and two", "kind": "rate", "url": "http",
        "wide": True, "note": "JSON both ways and a signature before each request: the server is hardly used, so the rate is that of "
                              "the generator.",
        "tools": _workers("api", ENV), "references": ["onrush --workers 1"],
    },
    **{f"js-{case}": {
        "title": f"JavaScript: {what}", "kind": "iterations", "url": None,
        "tools": _script("js", {"CASE": case, "DURATION": "{duration}s"}),
    } for case, what in {
        "loop": "an arithmetic loop of 20,000 rounds",
        "parse": "JSON.parse of 20 kB",
        "stringify": "JSON.stringify to 20 kB",
        "sort": "sorting 2,000 objects by two keys",
        "map": "a Map of 2,000 strings, filled and read",
        "regex": "a regular expression over 20 kB of log lines",
        "bytes": "a loop over the bytes of 140 kB",
    }.items()},
    "form": _form(
        "multipart form of a 140 KiB image and a JSON part that differs each time, 30 connections", "http", FORM_TOOLS,
        [*FORM_AIMS, ("onrush http.file", "k6 http.file", 7.5)], note=FORM_NOTE),
    "form-tls": _form("the same form over TLS 1.3", "https", FORM_TOOLS, FORM_AIMS, note=FORM_NOTE),
    "form-base64": _form(
        "the same form joined from base64 pieces and decoded", "http",
        [WRK_FORM, _labelled("form", "FormData")[0], *_labelled("form_base64", "base64"), *_labelled("form_base64", "base64 kept", {"KEEP": 1})],
        [("onrush base64", "k6 base64", 6), ("onrush base64 kept", "k6 base64 kept", 6), ("onrush FormData", "k6 base64", 60)],
        note="The pieces are elements of a SharedArray, parsed at each access, or kept in each VU."),
    "form-polyfill": _form(
        "the same form put together byte by byte, by a polyfill that the script carries, 2 connections", "http",
        [_labelled("form", "FormData", {"VUS": 2})[0], *_labelled("form_polyfill", "polyfill", {"VUS": 2})],
        [("onrush polyfill", "k6 polyfill", 5), ("onrush FormData", "k6 polyfill", 8000)], longer=14),
    "startup": {
        "title": "one empty iteration, from start to exit", "kind": "startup", "url": None,
        "note": "The row of true is what the measurement itself costs.",
        "tools": [*_script("empty", {}), {"name": "true", "bin": "true", "parse": "none", "command": ["{bin}"]}],
    },
}
GROUPS = {"js": [name for name in WORKLOADS if name.startswith("js-")],
          "quick": [name for name in WORKLOADS if name.startswith("quick")],
          "payloads": [name for name in WORKLOADS if name.startswith(("form", "upload"))],
          "all": list(WORKLOADS)}
