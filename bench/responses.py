#!/usr/bin/env python3
"""Puma's experiment: what does a response cost, by the kind of its body and of its socket? Puma, Node and Onrush's target,
by its built-in route and by a program in JavaScript.

    bench/responses.py                     27 cells, five rounds, some fifteen minutes
    bench/responses.py --quick             one short round: does everything run?
    bench/responses.py --sockets tcp --kinds string,chunked --sizes 100

A cell is a socket (tcp, tls, unix), a kind of body (a string, an array of pieces, chunked) and a size (1, 10, 100 KiB, in pieces
of 1 KiB). Each run is 100 clients that connect, make 10 requests and close, 10 times over. The load is `onrush run` on a CPU of
its own, for it is the one generator at hand that reaches unix sockets and keeps each response time: its own share of a CPU is
in the table, and where that is near 1.0 the server could have done more. So the table has two rates: requests/s as seen, and
requests for each CPU second the server used, which the generator does not limit. The server has one CPU, all its processes and
threads together; servers take turns.
"""

import argparse
import datetime
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from process import Program, machine_busy_seconds, wait_until_quiet
from report import number
from run import git_commit, machine, onrush_builds, save, say
from server import _free_ports
from tools import find, version

HERE = os.path.dirname(os.path.abspath(__file__))
PERCENTILES = (5, 10, 20, 40, 50, 60, 80, 90, 95)
SOCKETS, KINDS, SIZES = ("tcp", "tls", "unix"), ("string", "array", "chunked"), (1, 10, 100)
CLIENTS, REQUESTS = 100, 10
# What the target is held against: its requests/s to Puma's in every cell, chunked to string at 100 KiB over tcp.
AIM_PUMA, AIM_CHUNKED = 3.0, 0.9
# What the name of a build gets where a program in JavaScript answers instead of the built-in routes.
APP = " app.js"


class Server:
    """One server on a tcp port, a TLS port and a unix socket, all with the same certificate where it takes one."""

    def __init__(self, name, command, ports, path, cpus, env=None):
        self.name, self.path = name, path
        self.tcp, self.tls = ports
        self.program = Program(command, cpus, env)

    def wait(self):
        end = time.monotonic() + 20
        for connect in (lambda: socket.create_connection(("127.0.0.1", self.tcp), 2),
                        lambda: socket.create_connection(("127.0.0.1", self.tls), 2), self._unix):
            while True:
                try:
                    connect().close()
                    break
                except OSError as e:
                    if time.monotonic() > end or self.program.wait(0.1):
                        sys.exit(f"{self.name} does not listen: {e}; {''.join(self.program.text())[-2000:]}")

    def _unix(self):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.path)
        return s

    def url(self, kind, size, over):
        base = {"tcp": f"http://127.0.0.1:{self.tcp}", "tls": f"https://127.0.0.1:{self.tls}", "unix": "http://socket.test"}[over]
        return f"{base}/body/{kind}/{size}k"


def certificate(folder):
    """EC P-256, as Onrush makes its own."""
    key, cert = f"{folder}/key.pem", f"{folder}/cert.pem"
    subprocess.run([shutil.which("openssl") or sys.exit("openssl is needed to make a certificate"),
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", key, "-out", cert], check=True, capture_output=True, timeout=30)
    return key, cert


def servers(options, folder):
    """Those that are installed and asked for."""
    key, cert = certificate(folder)
    ports = iter(_free_ports(2 * (2 + 2 * len(options.onrush))))
    cpus, there = options.server_cpu, []

    def add(name, command, env=None):
        if options.only and name not in options.only:
            return
        pair, path = (next(ports), next(ports)), f"{folder}/{len(there)}.sock"
        there.append(Server(name, command(*pair, path), pair, path, cpus, env))

    if puma := find("puma"):
        add("puma", lambda tcp, tls, path: [
            puma, "-e", "production", "-q", "-w2", "-t5:5", "-b", f"tcp://127.0.0.1:{tcp}", "-b", f"unix://{path}",
            "-b", f"ssl://127.0.0.1:{tls}?key={key}&cert={cert}&verify_mode=none", f"{HERE}/responses/app.ru"])
    if node := find("node"):
        add("node", lambda tcp, tls, path: [node, f"{HERE}/responses/node.mjs", str(tcp), str(tls), path, key, cert],
            dict(os.environ, NODE_ENV="production"))
    for name, binary in options.onrush:
        for suffix, app in (("", []), (APP, [f"{HERE}/responses/app.js"])):
            add(name + suffix, lambda tcp, tls, path, binary=binary, app=app: [
                binary, "serve", *app, "--listen", f"tcp://127.0.0.1:{tcp}", "--listen", f"tls://127.0.0.1:{tls}",
                "--listen", f"unix:{path}"])
    return there


def load(server, cell, loops, options):
    """One run against one server; what was measured, or the problem."""
    over, kind, size = cell
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
        summary = f"{scratch}/summary.json"
        env = dict(os.environ, URL=server.url(kind, size, over), CLIENTS=str(CLIENTS), LOOPS=str(loops), REQUESTS=str(REQUESTS),
                   SOCKET=server.path if over == "unix" else "", SUMMARY=summary)
        before, busy, at = server.program.usage(), machine_busy_seconds(), time.monotonic()
        program = Program([options.generator, "run", "-q", f"{HERE}/scripts/responses.js"], options.generator_cpu, env)
        try:
            if not program.wait(330):
                return {"problem": "it did not end"}
        finally:
            program.stop()
        seconds = time.monotonic() - at
        after = server.program.usage()
        if program.exit != 0 or not os.path.exists(summary):
            return {"problem": f"exit code {program.exit}: {program.text()[1].strip()[-300:]}"}
        with open(summary) as f:
            told = json.load(f)
    return judge(told, size, loops, {
        "server_cpu": after.cpu - before.cpu, "generator_cpu": program.rusage.ru_utime + program.rusage.ru_stime,
        "other": machine_busy_seconds() - busy, "wall": seconds})


def judge(told, size, loops, used):
    """The figures of a run, if every request was answered in full."""
    wanted = CLIENTS * loops * REQUESTS
    got, failed = told["http_reqs"]["count"], told.get("http_req_failed", {}).get("passes", 0)
    if got != wanted or failed or told["data_received"]["count"] < wanted * size * 1024:
        return {"problem": f"{got} of {wanted} requests, {failed} failed, {told['data_received']['count']} bytes received"}
    seconds = (told["moment"]["max"] - told["moment"]["min"]) / 1e3
    times = told["http_req_duration"]
    return {
        "rps": wanted / seconds, "seconds": seconds, "per_cpu_s": wanted / used["server_cpu"] if used["server_cpu"] else None,
        "server_cores": used["server_cpu"] / seconds, "generator_cores": used["generator_cpu"] / used["wall"],
        "other_cores": max(0.0, (used["other"] - used["server_cpu"] - used["generator_cpu"]) / used["wall"]),
        "ms": {str(p): times[f"p({p})"] for p in PERCENTILES},
    }


def measure(there, cells, options):
    """{cell: {server: [run of each round]}}, servers taking turns within each cell."""
    runs = {cell: {server.name: [] for server in there} for cell in cells}
    for turn in range(options.rounds):
        for cell in cells:
            shift = turn % len(there)
            for server in there[shift:] + there[:shift]:
                load(server, cell, 1, options)
                wait_until_quiet(options.quiet, options.patience)
                run = load(server, cell, options.loops, options)
                runs[cell][server.name].append(run)
                say(f"{turn + 1}/{options.rounds} {'-'.join(map(str, cell))} {server.name}: "
                    f"{run.get('problem') or number(run['rps'])} requests/s")
    return runs


def figure(runs, key):
    values = [run[key] for run in runs if run.get(key) is not None]
    return statistics.median(values) if values else None


def ratio(mine, theirs, key):
    """The median of the ratios within each round."""
    pairs = [(a[key], b[key]) for a, b in zip(mine, theirs) if a.get(key) and b.get(key)]
    return statistics.median(a / b for a, b in pairs) if pairs else None


def tables(result):
    """A table for each socket and size, then what was aimed at."""
    lines, names = [], result["servers"]
    reference = "puma" if "puma" in names else names[0]
    for over in SOCKETS:
        for size in SIZES:
            rows = []
            for kind in KINDS:
                runs = result["cells"].get(f"{over} {kind} {size}")
                rows += [row(kind, name, runs[name], runs.get(reference, [])) for name in names if runs] if runs else []
            if rows:
                lines += [f"### {over}, {size} KiB", "",
                          f"| body | server | requests/s | × {reference} | per server CPU s | × {reference} | server cores "
                          "| generator cores | " + " | ".join(f"{p} %" for p in PERCENTILES) + " |",
                          "|---|---" + "|--:" * (6 + len(PERCENTILES)) + "|", *rows, ""]
    return "\n".join(lines + verdicts(result)) + "\n"


def row(kind, name, runs, reference):
    good = [run for run in runs if "ms" in run]
    if not good:
        return f"| {kind} | {name} | {runs[-1]['problem'] if runs else 'not run'} |"
    times = [number(statistics.median(run["ms"][str(p)] for run in good), 2) for p in PERCENTILES]
    return "| " + " | ".join([
        kind, name, f"**{number(figure(good, 'rps'))}**", number(ratio(runs, reference, "rps"), 2), number(figure(good, "per_cpu_s")),
        number(ratio(runs, reference, "per_cpu_s"), 2), number(figure(good, "server_cores"), 2),
        number(figure(good, "generator_cores"), 2), *times]) + " |"


def verdicts(result):
    """The aims, and whether they were reached."""
    lines = []
    for name in [name for name in result["servers"] if name not in ("puma", "node") and not name.endswith(APP)]:
        for key, what in (("rps", "requests/s"), ("per_cpu_s", "requests per server CPU s")):
            cells = {cell: ratio(runs[name], runs["puma"], key) for cell, runs in result["cells"].items() if "puma" in runs}
            cells = {cell: value for cell, value in cells.items() if value}
            if cells:
                worst = min(cells, key=cells.get)
                short = [f"{cell} ({value:.2f})" for cell, value in cells.items() if value < AIM_PUMA]
                lines.append(f"- {name} ÷ puma, {what}: {number(cells[worst], 2)} at least ({worst}), aim {AIM_PUMA} in each of "
                             f"{len(cells)} cells: {'**missed** in ' + ', '.join(short) if short else 'reached'}")
        pair = [result["cells"].get(f"tcp {kind} 100", {}).get(name, []) for kind in ("chunked", "string")]
        for key, what in (("rps", "requests/s"), ("per_cpu_s", "requests per server CPU s")):
            if value := ratio(*pair, key):
                verdict = "reached" if value >= AIM_CHUNKED else "**missed**"
                lines.append(f"- {name}, chunked ÷ string at 100 KiB over tcp, {what}: {number(value, 2)}, aim {AIM_CHUNKED}: {verdict}")
    return lines


def document(result):
    who = result["machine"]
    return "\n".join([
        f"# responses, {result['date'][:10]}", "",
        f"{who['cpus']} CPUs of {who['cpu']}, {who['memory']}, {who['kernel']}. Server on CPU {who['server_cpu']}, generator on CPU "
        f"{who['generator_cpu']}; {result['rounds']} rounds, servers interleaved; {CLIENTS} clients × {REQUESTS} requests × "
        f"{result['loops']} loops. Times in ms, medians of the rounds. Commit {result['commit']}. How to read it: "
        "../README.md.", "", *(f"- {name}: {text}" for name, text in result["versions"].items()), "", tables(result)])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, all_of, of in (("sockets", SOCKETS, str), ("kinds", KINDS, str), ("sizes", SIZES, int)):
        parser.add_argument(f"--{name}", type=lambda text, of=of: [of(part) for part in text.split(",")], default=list(all_of))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loops", type=int, default=10, help="connections of each client in a run")
    parser.add_argument("--quick", action="store_true", help="one round of two loops, results to the temporary folder")
    parser.add_argument("--only", type=lambda text: text.split(","), help="servers, by comma")
    parser.add_argument("--onrush", action="append", metavar="[NAME=]PATH", help="a build to serve; repeat to compare builds")
    parser.add_argument("--generator", help="the onrush that makes the load (the first of --onrush)")
    parser.add_argument("--out", default=os.path.join(HERE, "results"))
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.3, help="before a run, wait until others use less than so many CPUs")
    parser.add_argument("--patience", type=float, default=10, help="... but at most so many seconds")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.loops, options.patience, options.out = 1, 2, 1, tempfile.gettempdir()
    options.onrush = onrush_builds(options.onrush)
    if not options.onrush:
        sys.exit("onrush is not built: cargo build --release, or --onrush PATH")
    options.generator = options.generator or options.onrush[0][1]
    return options


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.sched_setaffinity(0, {int(options.generator_cpu)})
    cells = [(over, kind, size) for over in options.sockets for size in options.sizes for kind in options.kinds]
    there = []
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as folder:
        try:
            there = servers(options, folder)
            for server in there:
                server.wait()
            runs = measure(there, cells, options)
        finally:
            for server in there:
                server.program.stop()
    result = {
        "date": datetime.datetime.now().isoformat(timespec="seconds"), "commit": git_commit(), "rounds": options.rounds,
        "loops": options.loops, "machine": machine(options), "servers": [server.name for server in there],
        "versions": {name: version(path, name) for name, path in [*options.onrush, ("puma", find("puma")), ("node", find("node"))]
                     if path and name in {server.name for server in there}},
        "cells": {" ".join(map(str, cell)): of for cell, of in runs.items()}}
    stem = save(result, document(result), options.out, "responses")
    print(tables(result))
    say(f"written to {stem}.md and .json")


if __name__ == "__main__":
    main()
