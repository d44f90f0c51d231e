"""The load generators: where they are, which version, what their output means.

A parser returns what the tool itself says: rps, errors, p50_ms, p99_ms, and for scripts also iterations, dropped, lag_p99_ms.
The figures of the tables do not come from here; they are the server's count.
"""

import json
import os
import re
import shutil
import subprocess


def find(name):
    """The path of a program: $PEERS/bin first, then PATH."""
    peers = os.path.join(os.environ.get("PEERS", "/nonexistent"), "bin")
    return shutil.which(name, path=peers) or shutil.which(name)


VERSION_ARGS = {"k6": ["version"], "wrk": ["-v"], "vegeta": ["-version"], "oha": ["--version"], "nginx": ["-v"]}


def version(path, name):
    """One line that names the version."""
    try:
        done = subprocess.run([path, *VERSION_ARGS.get(name, ["--version"])], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as e:
        return f"unknown ({e})"
    lines = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"\d", line)), "unknown")


def _ms(text):
    number, unit = re.match(r"([\d.]+)\s*(us|ms|s|m)$", text.strip()).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[unit]


def parse_wrk(out, _summary):
    said = {"rps": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), "errors": 0}
    if m := re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out):
        said["errors"] += sum(map(int, m.groups()))
    if m := re.search(r"Non-2xx or 3xx responses: (\d+)", out):
        said["errors"] += int(m[1])
    for key, label in (("p50_ms", "50%"), ("p99_ms", "99%")):
        if m := re.search(rf"^\s+{label}\s+(\S+)", out, re.M):
            said[key] = _ms(m[1])
    return said


def parse_oha(out, _summary):
    told = json.loads(out)
    bad = sum(n for code, n in told.get("statusCodeDistribution", {}).items() if not code.startswith(("2", "3")))
    # Requests cut off by the end of the run are not failures.
    bad += sum(n for error, n in told.get("errorDistribution", {}).items() if "deadline" not in error)
    percentiles = told.get("latencyPercentiles", {})
    return {"rps": told["summary"]["requestsPerSec"], "errors": bad,
            "p50_ms": (percentiles.get("p50") or 0) * 1e3, "p99_ms": (percentiles.get("p99") or 0) * 1e3}


def lags_ms(starts_ns):
    """How late evenly planned starts were, in ms: p50 and p99. The plan is taken to begin where no start is early."""
    starts = sorted(starts_ns)
    step = (starts[-1] - starts[0]) / (len(starts) - 1)
    offsets = [start - k * step for k, start in enumerate(starts)]
    late = sorted(offset - min(offsets) for offset in offsets)
    return late[len(late) // 2] / 1e6, late[len(late) * 99 // 100] / 1e6


def parse_vegeta(out, summary):
    told = json.loads(out)
    bad = sum(n for code, n in told["status_codes"].items() if not code.startswith(("2", "3")))
    said = {"rps": told["throughput"] or told["rate"], "errors": bad,
            "p50_ms": told["latencies"]["50th"] / 1e6, "p99_ms": told["latencies"]["99th"] / 1e6}
    if os.path.exists(f"{summary}.csv"):
        with open(f"{summary}.csv") as f:
            said["lag_p50_ms"], said["lag_p99_ms"] = lags_ms(int(line.split(",", 1)[0]) for line in f)
    return said


def parse_plow(out, _summary):
    told = json.loads(out[out.rindex("\n{") if "\n{" in out else 0:])
    bad = sum(n for code, n in (told["Summary"].get("Counts") or {}).items() if not code.startswith(("2", "3")))
    bad += sum(n for n in (told.get("Error") or {}).values() if isinstance(n, int))
    percentiles = told.get("Percentiles") or {}
    return {"rps": told["Summary"]["RPS"], "errors": bad,
            **{key: _ms(percentiles[label]) for key, label in (("p50_ms", "P50"), ("p99_ms", "P99")) if label in percentiles}}


def parse_script(_out, summary):
    """What scripts/summary.js wrote, under k6 and Onrush alike."""
    with open(summary) as f:
        told = json.load(f)
    said = {"errors": told.get("http_req_failed", {}).get("passes", 0) + told.get("checks", {}).get("fails", 0)}
    for key, metric, value in (
            ("rps", "http_reqs", "rate"), ("iterations", "iterations", "count"), ("requests", "http_reqs", "count"),
            ("dropped", "dropped_iterations", "count"), ("p50_ms", "http_req_duration", "med"),
            ("p99_ms", "http_req_duration", "p(99)"), ("lag_p50_ms", "iteration_lag", "med"), ("lag_p99_ms", "iteration_lag", "p(99)")):
        if value in told.get(metric, {}):
            said[key] = told[metric][value]
    return said


def parse_quick(out, _summary):
    """The headline of a run of a URL."""
    def number(text):
        return float(text.replace(",", ""))

    requests, rate = re.search(r"([\d,]+) requests in \S+, ([\d.,]+)/s", out).groups()
    said = {"requests": number(requests), "rps": number(rate), "errors": 0}
    if m := re.search(r"no answer: ([\d,]+)", out):
        said["errors"] += number(m[1])
    if m := re.search(r"by status: (.*)", out):
        bad = re.findall(r"\b[045]\d\d: ([\d,]+)", m[1])
        said["errors"] += sum(map(number, bad))
    for key, label in (("p50_ms", "p50"), ("p99_ms", "p99")):
        if m := re.search(rf"latency.*?{label} ([^,\s]+)", out):
            said[key] = _ms(m[1].replace("µs", "us"))
    return said


def parse_pair(_out, summary):
    """Two processes at once: counts add up, of their latencies the worse one is told."""
    one, two = parse_script(None, f"{summary}.1"), parse_script(None, f"{summary}.2")
    return {key: (max if key.endswith("_ms") else sum)([one[key], two[key]]) for key in one.keys() & two.keys()}


def parse_none(_out, _summary):
    return {}


PARSERS = {"none": parse_none, "wrk": parse_wrk, "oha": parse_oha, "plow": parse_plow, "vegeta": parse_vegeta, "script": parse_script, "quick": parse_quick,
           "pair": parse_pair}
