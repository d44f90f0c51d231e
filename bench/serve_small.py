#!/usr/bin/env python3
"""Small responses: requests per server CPU second of `onrush serve` beside nginx, in turns.

    bench/serve_small.py [--rounds 5] [--seconds 5] [--onrush NAME=BINARY ...] [--app FILE ...] [--node] [--out NAME]

Each server has one CPU, wrk (one thread, 64 connections) the other. The figure is requests counted by wrk over the user and
system time of the server in the same window, both read from outside. nginx answers `return 200` with a body as long as ours.
"""

import argparse
import http.client
import os
import re
import statistics
import sys
import time

import record
import tools
from process import Program, wait_until_quiet
from server import Nginx, _free_ports

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = """
require('http').createServer((q, r) => { r.setHeader('Content-Type', 'text/plain'); r.end('hello from nodejs\\n') })
  .listen(+process.argv[1], '127.0.0.1')
"""


class Served:
    """A server that was started and answers."""

    def __init__(self, command, port, cpu):
        self.port = port
        self.program = Program(command, cpu)
        wait_until_answering(self.port, self.program)

    def stop(self):
        self.program.stop()


def wait_until_answering(port, program):
    end = time.monotonic() + 20
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            return
        except (OSError, AssertionError):
            if time.monotonic() > end:
                raise SystemExit(f"the server on port {port} does not answer: {program.text()}")
            time.sleep(0.05)


def contestants(args):
    """Name and how to start it."""
    found = {"nginx": lambda: NginxServed(args.server_cpu)}
    binaries = [b.split("=", 1) if "=" in b else ("onrush", b) for b in args.onrush]
    for name, binary in binaries:
        found[name] = lambda b=binary: onrush(b, None, args.server_cpu)
        for app in args.app:
            found[f"{name} {os.path.basename(app)}"] = lambda b=binary, a=app: onrush(b, a, args.server_cpu)
    node = tools.find("node") if args.node else None
    if node:
        found["node"] = lambda: on_free_port(lambda port: [node, "-e", NODE, str(port)], args.server_cpu)
    return found


class NginxServed:
    def __init__(self, cpu):
        self.nginx = Nginx(tools.find, cpu)
        self.port, self.program = self.nginx.http, self.nginx.program

    def stop(self):
        self.nginx.stop()


def on_free_port(command, cpu):
    port = _free_ports(1)[0]
    return Served(command(port), port, cpu)


def onrush(binary, app, cpu, flags=()):
    command = lambda p: [binary, "serve", "--listen", f"tcp://127.0.0.1:{p}", *flags] + ([app] if app else [])
    return on_free_port(command, cpu)


def measure(served, args):
    """Requests and server CPU seconds of one window."""
    wrk = [tools.find("wrk"), "-t1", f"-c{args.connections}"]
    url = f"http://127.0.0.1:{served.port}/"
    Program(wrk + ["-d1", url], args.generator_cpu).wait(10)
    before = served.program.usage()
    load = Program(wrk + [f"-d{args.seconds}", url], args.generator_cpu)
    load.wait(args.seconds + 20)
    after = served.program.usage()
    text = load.text()[0]
    requests = int(re.search(r"(\d+) requests in", text)[1])
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"wrk saw errors:\n{text}")
    cpu = after.cpu - before.cpu
    return {"requests": requests, "cpu_s": cpu, "cpu_us": cpu / requests * 1e6, "figure": requests / cpu,
            "rate": requests / (after.at - before.at)}


def table(runs, names, rounds):
    lines = ["| server | requests per server CPU s | lowest | highest | × nginx | CPU µs a request | rate/s |",
             "|---|---|---|---|---|---|---|"]
    for name in names:
        of = [runs[name, n] for n in range(rounds) if (name, n) in runs]
        ratios = [runs[name, n]["figure"] / runs["nginx", n]["figure"] for n in range(rounds)]
        figures = [r["figure"] for r in of]
        middle = statistics.median
        lines.append(f"| {name} | {middle(figures):,.0f} | {min(figures):,.0f} | {max(figures):,.0f} | {middle(ratios):.2f} | "
                     f"{middle(r['cpu_us'] for r in of):.2f} | {middle(r['rate'] for r in of):,.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--onrush", action="append", metavar="[NAME=]BINARY")
    parser.add_argument("--app", action="append", default=[], metavar="FILE", help="also serve this JavaScript app")
    parser.add_argument("--node", action="store_true", help="also Node's http server")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.15, help="wait until the machine uses fewer CPUs than this")
    parser.add_argument("--patience", type=float, default=30)
    parser.add_argument("--out", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    args.onrush = args.onrush or [os.path.join(HERE, "..", "target", "release", "onrush")]
    found = contestants(args)
    names, runs = list(found), {}
    for n in range(args.rounds):
        for name in names[n % len(names):] + names[:n % len(names)]:
            wait_until_quiet(args.quiet, args.patience)
            served = found[name]()
            try:
                runs[name, n] = measure(served, args)
            finally:
                served.stop()
            print(f"round {n + 1} {name}: {runs[name, n]['figure']:,.0f} a CPU s", file=sys.stderr)
    text = table(runs, names, args.rounds)
    print(text)
    if args.out:
        record.save(args.out, f"# Small responses of a server\n\nwrk -t1 -c{args.connections}, {args.rounds} rounds of "
                    f"{args.seconds} s, server and generator on one CPU each.\n\n{text}\n",
                    [{"server": name, "round": n, **run} for (name, n), run in runs.items()])


if __name__ == "__main__":
    main()
