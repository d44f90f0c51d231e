#!/usr/bin/env python3
"""Node's http/server_upload experiment: what does receiving an upload cost, by where its pieces go?

    bench/uploads.py                       8 cells, five rounds, some thirty minutes
    bench/uploads.py --quick               one short round of two cells: does everything run?
    bench/uploads.py --delays -1 --backpressures 0 --only node,pool

Uploads of 1 MiB over 200 connections, made by wrk on a CPU of its own. A cell is the delay before a piece is processed (-1 none at
all, 0 a turn of the event loop, else milliseconds) and whether that holds back the next piece. The servers, each on one CPU:

    node       Node's http server (uploads/node.mjs); its socket reads into buffers of 64 KiB that are allocated each time
    pool       the target with an app in Rust (crates/server/examples/uploads.rs); pieces lie in its pool
    fresh      the same, but every piece gets memory of its own: pooling off, and the allocator left to recycle what it can
    copy       the same with one buffer that everything is received into, and copied out of into fresh memory, as Node does
    js         `onrush serve uploads/app.js`; pieces lie in the pool and are released
    allocate   the same app with its own `allocate`, which hands out its buffers again
    floor      a recv loop into one buffer (uploads/floor.c), which knows no HTTP but the length; for delay -1

The figure is uploads per CPU second of the server, user and system, from wrk's count and /proc; servers take turns.
"""

import argparse
import datetime
import os
import re
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
ROOT = os.path.dirname(HERE)
SIZE, CONNECTIONS = 1 << 20, 200
# name, to which other server, at least so many times its uploads per server CPU second
AIMS = [("pool", "node", 2.0), ("js", "node", 2.0), ("allocate", "node", 2.0), ("pool", "fresh", 1.5), ("pool", "copy", 1.5), ("pool", "floor", 1 / 1.3)]


class Server:
    """One server that listens."""

    def __init__(self, name, command, port, cpu, env=None):
        self.name, self.port = name, port
        self.program = Program(command, cpu, env)

    def wait(self):
        end = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 2).close()
            except OSError as e:
                if time.monotonic() > end or self.program.wait(0.1):
                    sys.exit(f"{self.name} does not listen: {e}; {''.join(self.program.text())[-2000:]}")


def commands(options, folder):
    """Name and command with the port left out, of those that are there."""
    there = {}
    if node := find("node"):
        there["node"] = lambda port: ([node, f"{HERE}/uploads/node.mjs", str(port)], dict(os.environ, NODE_ENV="production"))
    if os.path.exists(options.rust):
        for name in ("pool", "fresh", "copy"):
            there[name] = lambda port, name=name: ([options.rust, f"127.0.0.1:{port}", name], None)
    else:
        say(f"{options.rust} is not built: cargo build --release -p onrush-server --example uploads")
    for build, binary in options.onrush:
        for name, allocate in (("js", "0"), ("allocate", "1")):
            name = name if len(options.onrush) == 1 else f"{name}-{build}"
            there[name] = lambda port, binary=binary, allocate=allocate: (
                [binary, "serve", "--listen", f"tcp://127.0.0.1:{port}", "-e", f"ALLOCATE={allocate}", f"{HERE}/uploads/app.js"], None)
    if compiler := shutil.which("cc"):
        subprocess.run([compiler, "-O2", "-o", f"{folder}/floor", f"{HERE}/uploads/floor.c"], check=True, timeout=60)
        there["floor"] = lambda port: ([f"{folder}/floor", str(port)], None)
    return {name: command for name, command in there.items() if not options.only or name in options.only}


def load(server, cell, seconds, options, body):
    """One run of wrk against one server; what was measured, or the problem."""
    delay, backpressure = cell
    before, busy, at = server.program.usage(), machine_busy_seconds(), time.monotonic()
    program = Program([
        options.wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "20s", "-s", f"{HERE}/scripts/upload.lua",
        f"http://127.0.0.1:{server.port}/{backpressure}/{delay}", "--", body], options.generator_cpu)
    try:
        if not program.wait(seconds + 60):
            return {"problem": "wrk did not end"}
    finally:
        program.stop()
    after, wall = server.program.usage(), time.monotonic() - at
    said = program.text()[0]
    found, errors = re.search(r"(\d+) requests in", said), re.search(r"Socket errors:.*|Non-2xx.*", said)
    if program.exit != 0 or not found or errors or not int(found[1]):
        return {"problem": (errors and errors[0]) or "".join(program.text()).strip()[-300:] or "wrk counted nothing"}
    uploads, cpu = int(found[1]), after.cpu - before.cpu
    generator = program.rusage.ru_utime + program.rusage.ru_stime
    return {"uploads": uploads, "per_cpu_s": uploads / cpu, "us_per_mib": cpu / uploads * 1e6 / (SIZE / (1 << 20)),
            "rate": uploads / seconds, "server_cores": cpu / wall, "generator_cores": generator / wall, "rss_mb": after.peak / 1e6,
            "other_cores": max(0.0, (machine_busy_seconds() - busy - cpu - generator) / wall)}


def measure(there, cells, options, body):
    """{cell: {server: [run of each round]}}, servers taking turns within each cell."""
    runs = {cell: {} for cell in cells}
    for turn in range(options.rounds):
        for cell in cells:
            fit = [server for server in there if server.name != "floor" or cell[0] < 0]
            shift = turn % len(fit)
            for server in fit[shift:] + fit[:shift]:
                load(server, cell, 1, options, body)
                wait_until_quiet(options.quiet, options.patience)
                run = load(server, cell, options.seconds, options, body)
                runs[cell].setdefault(server.name, []).append(run)
                say(f"{turn + 1}/{options.rounds} delay {cell[0]} backpressure {cell[1]} {server.name}: "
                    f"{run.get('problem') or number(run['per_cpu_s'])} uploads per server CPU s")
    return runs


def figure(runs, key):
    values = [run[key] for run in runs if run.get(key) is not None]
    return statistics.median(values) if values else None


def ratio(mine, theirs):
    """The median of the ratios within each round."""
    pairs = [(a["per_cpu_s"], b["per_cpu_s"]) for a, b in zip(mine, theirs) if "per_cpu_s" in a and "per_cpu_s" in b]
    return statistics.median(a / b for a, b in pairs) if pairs else None


def tables(result):
    lines, names = [], result["servers"]
    for cell, of in result["cells"].items():
        delay, backpressure = cell.split()
        lines += [f"### delay {delay}, backpressure {backpressure}", "",
                  "| server | uploads per server CPU s | lowest | highest | × node | µs CPU per MiB | × floor | uploads/s | server cores "
                  "| generator cores | peak MB |", "|---|" + "--:|" * 10]
        lines += [row(name, of[name], of.get("node", []), of.get("floor", [])) for name in names if name in of] + [""]
    return "\n".join(lines + verdicts(result)) + "\n"


def row(name, runs, node, floor):
    good = [run for run in runs if "per_cpu_s" in run]
    if not good:
        return f"| {name} | {runs[-1]['problem']} |"
    rates = [run["per_cpu_s"] for run in good]
    times_floor = ratio(floor, runs)
    cells = [f"**{number(statistics.median(rates))}**", number(min(rates)), number(max(rates)), number(ratio(runs, node), 2),
             number(figure(good, "us_per_mib")), number(times_floor, 2), number(figure(good, "rate")),
             number(figure(good, "server_cores"), 2), number(figure(good, "generator_cores"), 2), number(figure(good, "rss_mb"))]
    return f"| {name} | " + " | ".join(cells) + " |"


def verdicts(result):
    """The aims, and in which cells they were missed."""
    lines = []
    for name, reference, aim in AIMS:
        found = {cell: ratio(of[name], of[reference]) for cell, of in result["cells"].items() if name in of and reference in of}
        found = {cell: value for cell, value in found.items() if value}
        if found:
            missed = [f"delay {cell.split()[0]} backpressure {cell.split()[1]} ({value:.2f})" for cell, value in found.items() if value < aim]
            lines.append(f"- {name} ÷ {reference}: {min(found.values()):.2f} to {max(found.values()):.2f}, aim {aim:.2f} in each of "
                         f"{len(found)} cells: {'**missed** in ' + ', '.join(missed) if missed else 'reached'}")
    return lines


def document(result):
    who = result["machine"]
    return "\n".join([
        f"# uploads, {result['date'][:10]}", "",
        f"{who['cpus']} CPUs of {who['cpu']}, {who['memory']}, {who['kernel']}. Server on CPU {who['server_cpu']}, wrk on CPU "
        f"{who['generator_cpu']}; {result['rounds']} rounds of {result['seconds']} s, servers interleaved; 1 MiB, {CONNECTIONS} "
        f"connections. Commit {result['commit']}. What the servers are: ../uploads.py.", "",
        *(f"- {name}: {text}" for name, text in result["versions"].items()), "", tables(result)])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--delays", type=numbers, default=[-1, 0, 1, 5], help="as in --delays=-1,0")
    parser.add_argument("--backpressures", type=numbers, default=[0, 1])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round of two seconds, results to the temporary folder")
    parser.add_argument("--only", type=lambda text: text.split(","), help="servers, by comma")
    parser.add_argument("--onrush", action="append", metavar="[NAME=]PATH", help="a build to serve; repeat to compare builds")
    parser.add_argument("--rust", default=f"{ROOT}/target/release/examples/uploads", help="the example of the target, built")
    parser.add_argument("--out", default=os.path.join(HERE, "results"))
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.3, help="before a run, wait until others use less than so many CPUs")
    parser.add_argument("--patience", type=float, default=10, help="... but at most so many seconds")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.patience, options.out = 1, 2, 1, tempfile.gettempdir()
        options.delays, options.backpressures = [-1, 1], [0]
    options.onrush = onrush_builds(options.onrush)
    options.wrk = find("wrk") or sys.exit("wrk is needed to make the load")
    return options


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.sched_setaffinity(0, {int(options.generator_cpu)})
    cells = [(delay, backpressure) for delay in options.delays for backpressure in options.backpressures]
    there = []
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as folder:
        body = f"{folder}/body"
        with open(body, "wb") as f:
            f.write(os.urandom(SIZE))
        wanted = commands(options, folder) or sys.exit("there is no server to measure")
        try:
            for (name, command), port in zip(wanted.items(), _free_ports(len(wanted))):
                there.append(Server(name, command(port)[0], port, options.server_cpu, command(port)[1]))
            for server in there:
                server.wait()
            runs = measure(there, cells, options, body)
        finally:
            for server in there:
                server.program.stop()
    result = {
        "date": datetime.datetime.now().isoformat(timespec="seconds"), "commit": git_commit(), "rounds": options.rounds,
        "seconds": options.seconds, "machine": machine(options), "servers": [server.name for server in there],
        "versions": {name: version(path, name) for name, path in [*options.onrush, ("node", find("node")), ("wrk", options.wrk)] if path},
        "cells": {" ".join(map(str, cell)): of for cell, of in runs.items()}}
    stem = save(result, document(result), options.out, "uploads")
    print(tables(result))
    say(f"written to {stem}.md and .json")


if __name__ == "__main__":
    main()
