#!/usr/bin/env python3
"""Socket.IO echo: CPU of a generator for 1,000 echoes, of `onrush/socketio` beside npm's client and artillery's engine, in turns.

    mkdir /tmp/socketio && cp bench/socketio/package.json /tmp/socketio && (cd /tmp/socketio && npm install --ignore-scripts)
    bench/socketio.py --modules /tmp/socketio/node_modules [--rounds 5] [--onrush NAME=BINARY ...] [--forms plain,ack] [--out NAME]

50 users over WebSocket, one event of 100 bytes under way on each, npm's server on another CPU. The figure is user and system time of the
generator: a run with many echoes, less one with few, so that start-up is left out. The server's own count says that none is missing.
Forms: `plain` (an event comes back), `ack` (it is acknowledged), `admin-ack` (in a namespace), `binary`, `binary-ack`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import record
from process import Program, wait_until_quiet

HERE = os.path.dirname(os.path.abspath(__file__))
USERS = 50
# Echoes of a user in the short and in the long run. Shorter ones drown in the start-up of artillery.
ECHOES = {"artillery": (20, 620), "npm": (200, 1200), "onrush": (200, 1200)}
AIMS = {"npm": 3.0, "artillery": 5.0}


class Server:
    """npm's server, which counts what it answers."""

    def __init__(self, args):
        env = {**os.environ, "NODE_PATH": args.modules}
        self.process = subprocess.Popen(
            ["taskset", "-c", args.server_cpu, "node", f"{HERE}/socketio/server.cjs"], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def count(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


def artillery_script(url, form, echoes):
    """The same as the other clients, as artillery has it: JSON is YAML."""
    step = {"emit": ["echo", "x" * 100]}
    step |= {"acknowledge": {"match": {"json": "$.0", "value": "x" * 100}}} if "ack" in form else {"response": {"on": "echo", "args": "x" * 100}}
    step |= {"namespace": "/admin"} if "admin" in form else {}
    return json.dumps({
        "config": {"target": url, "phases": [{"duration": 1, "arrivalCount": USERS}], "socketio": {"transports": ["websocket"]}},
        "scenarios": [{"engine": "socketio", "flow": [{"loop": [step], "count": echoes}]}],
    })


def command(args, kind, binary, url, form, echoes, scratch):
    space = "/admin" if "admin" in form else ""
    env = {"URL": url + space, "FORM": form, "ECHOES": str(echoes), "USERS": str(USERS), "SUMMARY": f"{scratch}/summary.json"}
    if kind == "onrush":
        given = [part for key, value in env.items() for part in ("-e", f"{key}={value}")]
        return [binary, "run", "--quiet", "--workers", "1", *given, f"{HERE}/scripts/socketio_echo.js"], None
    if kind == "npm":
        return ["node", f"{HERE}/socketio/client.cjs"], {**os.environ, **env, "NODE_PATH": args.modules}
    with open(f"{scratch}/echo.json", "w") as f:
        f.write(artillery_script(url, form, echoes))
    env = {**os.environ, "ARTILLERY_DISABLE_TELEMETRY": "true", "WORKERS": "1"}
    return ["node", f"{args.modules}/artillery/bin/run", "run", "--quiet", f"{scratch}/echo.json"], env


def cpu_seconds(args, server, kind, binary, form, echoes):
    """Of one run, when all its echoes came."""
    wait_until_quiet(args.quiet, args.patience)
    before = server.count()
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
        line, env = command(args, kind, binary, server.url, form, echoes, scratch)
        program = Program(line, args.generator_cpu, env)
        try:
            ended = program.wait(120)
            answered = server.count() - before
            if not ended or program.exit != 0 or answered != USERS * echoes:
                sys.exit(f"{' '.join(line)}: exit {program.exit}, {answered} of {USERS * echoes} echoes; {program.text()}")
        finally:
            program.stop()
    return program.rusage.ru_utime + program.rusage.ru_stime


def micros_an_echo(args, server, kind, binary, form):
    few, many = ECHOES[kind]
    spent = cpu_seconds(args, server, kind, binary, form, many) - cpu_seconds(args, server, kind, binary, form, few)
    return spent / (USERS * (many - few)) * 1e6


def measure(args):
    server = Server(args)
    runs = {}
    try:
        for turn in range(args.rounds):
            for form in args.forms.split(","):
                # Artillery sends no binary values.
                known = [c for c in args.contestants if c[1] != "artillery" or "binary" not in form]
                for name, kind, binary in known[turn % len(known):] + known[:turn % len(known)]:
                    value = micros_an_echo(args, server, kind, binary, form)
                    runs.setdefault(form, {}).setdefault(name, []).append(value)
                    print(f"{turn + 1}  {form:<12} {name:<12} {value:8.1f} µs", file=sys.stderr, flush=True)
    finally:
        server.stop()
    return runs


def table(args, runs):
    ours = [name for name, kind, _ in args.contestants if kind == "onrush"]
    others = [name for name, kind, _ in args.contestants if kind != "onrush"]
    lines = ["| form | client | ms for 1,000 echoes | " + " | ".join(f"against {name}" for name in others) + " |",
             "|---|---|--:|" + "---|" * len(others)]
    for form, by_name in runs.items():
        for name, values in by_name.items():
            cells = []
            for other in others:
                if name not in ours or other not in by_name:
                    cells.append("")
                    continue
                ratios = [b / a for a, b in zip(values, by_name[other])]
                cells.append(f"{statistics.median(ratios):.2f} x ({min(ratios):.2f}-{max(ratios):.2f}), wanted {AIMS[other]:.0f}")
            lines.append(f"| {form} | {name} | {statistics.median(values):.1f} ({min(values):.1f}-{max(values):.1f}) | {' | '.join(cells)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", required=True, metavar="FOLDER", help="node_modules with socket.io, socket.io-client and artillery")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--forms", default="plain,ack,admin-ack,binary")
    parser.add_argument("--onrush", action="append", default=[], metavar="[NAME=]BINARY")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.1)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--out", metavar="NAME", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    args.modules = os.path.abspath(args.modules)
    given = args.onrush or [f"{HERE}/../target/release/onrush"]
    binaries = [tuple(b.split("=", 1)) if "=" in b else ("onrush", b) for b in given]
    args.contestants = [(name, "onrush", binary) for name, binary in binaries] + [("npm", "npm", "")]
    if os.path.exists(f"{args.modules}/artillery"):
        args.contestants.append(("artillery", "artillery", ""))
    runs = measure(args)
    lines = table(args, runs)
    print("\n".join(lines))
    if args.out:
        record.save(args.out, "\n".join([f"# Socket.IO echo, {USERS} users", "", *lines, ""]), runs)


if __name__ == "__main__":
    main()
