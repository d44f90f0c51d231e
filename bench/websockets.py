#!/usr/bin/env python3
"""WebSocket echo: messages per generator CPU second of Onrush beside k6 and a bare client, in turns; and the memory of idle sockets.

    bench/websockets.py [--rounds 5] [--seconds 5] [--onrush NAME=BINARY ...] [--server wsecho-go] [--out NAME]
    bench/websockets.py --idle 10000 [--onrush NAME=BINARY ...]

50 connections, texts of 100 bytes, one under way on each. Server and generator have one CPU each. The figure is messages counted by
the server over the user and system time of the generator, in a window from one second after the start until 0.3 s before the end.
The server is `onrush serve`; with `--server wsecho-go` it is that program of $PEERS, which also is the bare client then.
`--idle N` opens N silent sockets, then a tenth of them: the figure is resident memory by VU between the two.
"""

import argparse
import json
import os
import statistics
import sys
import time
import urllib.request

import record
import tools
from process import Program, wait_until_quiet
from server import _free_ports

HERE = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS, SIZE = 50, 100
WARM_UP, BEFORE_END = 1.0, 0.3
AIMS = [("onrush k6/ws", "k6 k6/ws", 1.9), ("onrush k6/websockets", "k6 k6/websockets", 2.8), ("onrush k6/ws", "wsecho-go", 0.95)]
IDLE_AIM_KIB = 300


class Server:
    """An echo server that counts messages."""

    def __init__(self, args):
        self.port, control = _free_ports(2)
        if args.server == "wsecho-go":
            self.url = f"ws://127.0.0.1:{self.port}/"
            self.ask, self.read = f"http://127.0.0.1:{control}/count", lambda told: told["requests"]
            command = [tools.find("wsecho-go") or sys.exit("wsecho-go is not in $PEERS/bin"), "-listen", f"127.0.0.1:{self.port}",
                       "-control", f"127.0.0.1:{control}"]
        else:
            self.url = f"ws://127.0.0.1:{self.port}/ws/echo"
            self.ask = f"http://127.0.0.1:{self.port}/stats"
            self.read = lambda told: told["websockets"]["messages_sent"]
            command = [args.binaries[0][1], "serve", "--listen", f"tcp://127.0.0.1:{self.port}"]
        self.program = Program(command, args.server_cpu)
        end = time.monotonic() + 20
        while True:
            try:
                self.count()
                return
            except OSError as e:
                if time.monotonic() > end:
                    self.stop()
                    raise SystemExit(f"the server does not answer: {e}; {self.program.text()}") from e
                time.sleep(0.05)

    def count(self):
        with urllib.request.urlopen(self.ask, timeout=5) as answer:
            return self.read(json.load(answer))

    def stop(self):
        self.program.stop()


def script(binary, name, env, onrush):
    env = [part for key, value in env.items() for part in ("-e", f"{key}={value}")]
    more = ["--workers", "1"] if onrush else ["--no-usage-report", "--address", "", "--no-color"]
    return [binary, "run", "--quiet", *more, *env, f"{HERE}/scripts/{name}.js"]


def contestants(args, url):
    """Name and command."""
    env = {"URL": url, "VUS": CONNECTIONS, "SIZE": SIZE, "DURATION": args.seconds}
    found = []
    for name, binary in args.binaries:
        for module, file in (("k6/ws", "ws_echo"), ("k6/websockets", "websockets_echo")):
            found.append((f"{name} {module}", script(binary, file, env, True)))
    if k6 := tools.find("k6"):
        for module, file in (("k6/ws", "ws_echo"), ("k6/websockets", "websockets_echo")):
            found.append((f"k6 {module}", script(k6, file, env, False)))
    if bare := tools.find("wsecho-go"):
        found.append(("wsecho-go", [bare, "-load", url, "-conns", str(CONNECTIONS), "-size", str(SIZE), "-for", f"{args.seconds}s"]))
    return found


def measure(server, command, args):
    """Messages, generator CPU and server CPU of one run's window."""
    wait_until_quiet(args.quiet, args.patience)
    before = server.count()
    program = Program(command, args.generator_cpu)
    try:
        started = time.monotonic()
        while server.count() == before:
            if program.wait(0.02) or time.monotonic() - started > 30:
                raise SystemExit(f"{command[0]} sends nothing: {program.text()}")
        time.sleep(WARM_UP)
        at, cpu, served, n = time.monotonic(), program.usage().cpu, server.program.usage().cpu, server.count()
        time.sleep(max(0.5, args.seconds - WARM_UP - BEFORE_END - 0.2))
        n, cpu = server.count() - n, program.usage().cpu - cpu
        served, seconds = server.program.usage().cpu - served, time.monotonic() - at
        if not program.wait(30):
            raise SystemExit(f"{command[0]} does not end")
        if program.exit != 0:
            raise SystemExit(f"{command[0]} ended with {program.exit}: {program.text()}")
    finally:
        program.stop()
    return {"messages_per_cpu_s": n / cpu, "rate": n / seconds, "generator_cores": cpu / seconds, "server_cores": served / seconds}


def echo(args):
    server = Server(args)
    try:
        all_of = contestants(args, server.url)
        runs = {name: [] for name, _ in all_of}
        for turn in range(args.rounds):
            for name, command in all_of[turn % len(all_of):] + all_of[:turn % len(all_of)]:
                runs[name].append(measure(server, command, args))
                print(f"{turn + 1}  {name:<24} {runs[name][-1]['messages_per_cpu_s']:>10,.0f}", file=sys.stderr, flush=True)
    finally:
        server.stop()
    figure = "messages_per_cpu_s"
    lines = ["| client | messages per CPU s | lowest – highest | rate | generator cores | server cores |", "|---|--:|--:|--:|--:|--:|"]
    for name, all_runs in runs.items():
        values = [run[figure] for run in all_runs]
        middle = {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0]}
        lines.append(f"| {name} | **{middle[figure]:,.0f}** | {min(values):,.0f} – {max(values):,.0f} | {middle['rate']:,.0f} | "
                     f"{middle['generator_cores']:.2f} | {middle['server_cores']:.2f} |")
    lines.append("")
    for ours, theirs, aim in AIMS:
        if ours in runs and theirs in runs:
            ratio = statistics.median(a[figure] / b[figure] for a, b in zip(runs[ours], runs[theirs]))
            lines.append(f"- {ours} ÷ {theirs}: {ratio:.2f}, aim {aim}: {'reached' if ratio >= aim else '**not reached**'}")
    return lines, runs


def resident(args, binary, module, vus):
    server = Server(args)
    env = {"URL": server.url, "VUS": vus, "MODULE": module, "DURATION": args.seconds + vus / 1000}
    program = Program(script(binary, "websockets_idle", env, True), args.generator_cpu)
    try:
        time.sleep(2 + vus / 1000)
        used = program.usage().rss
        if not program.wait(60 + vus / 100) or program.exit != 0:
            raise SystemExit(f"{binary} ended with {program.exit}: {program.text()}")
    finally:
        program.stop()
        server.stop()
    return used


def idle(args):
    runs, lines = {}, ["| VUs | KiB each | |", "|---|--:|---|"]
    for name, binary in args.binaries:
        for module in ("k6/ws", "k6/websockets"):
            few, many = (resident(args, binary, module, n) for n in (args.idle // 10, args.idle))
            each = (many - few) / (args.idle - args.idle // 10) / 1024
            runs[f"{name} {module}"] = {"few": few, "many": many, "kib_each": each}
            verdict = "reached" if each <= IDLE_AIM_KIB else "**not reached**"
            lines.append(f"| {name} {module}, {args.idle:,} idle sockets | {each:.0f} | aim {IDLE_AIM_KIB}: {verdict} |")
    return lines, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--onrush", action="append", default=[], metavar="[NAME=]BINARY")
    parser.add_argument("--server", choices=["onrush", "wsecho-go"], default="onrush")
    parser.add_argument("--idle", type=int, default=0, metavar="N")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.1)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--out", metavar="NAME", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    given = args.onrush or [f"{HERE}/../target/release/onrush"]
    args.binaries = [tuple(b.split("=", 1)) if "=" in b else ("onrush", b) for b in given]
    lines, runs = idle(args) if args.idle else echo(args)
    print("\n".join(lines))
    if args.out:
        title = f"# {args.idle:,} idle WebSockets" if args.idle else f"# WebSocket echo, {CONNECTIONS} connections, {SIZE} bytes"
        record.save(args.out, "\n".join([title, "", *lines, ""]), runs)


if __name__ == "__main__":
    main()
