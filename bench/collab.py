#!/usr/bin/env python3
"""The study of examples/collab: what 50 users of one project wait for each other's events, and what it takes to play them.

    bench/collab.py [--seconds 60] [--users 50] [--rounds 1] [--onrush BINARY] [--keep DIR] [--out NAME]

Server (`onrush serve examples/collab/app.js`) and generator on a CPU each; the links are the generator's. Generator cores are its user
and system time over a window from two seconds after the first event until one second before the end, by /proc; beside it those of the
whole run, start and end included. With k6 in $PEERS or PATH, a script of its modules does the same without links and stamps of
arrival, for the cost alone. Delays come from the result that `--save` keeps: `--keep` leaves the last one in DIR, for `onrush report`.
"""

import argparse
import datetime
import json
import os
import statistics
import sys
import tempfile
import time
import urllib.request

import record
import tools
from histogram import buckets
from process import Program, wait_until_quiet
from run import git_commit, machine
from serve_small import wait_until_answering
from server import _free_ports

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = f"{HERE}/../examples/collab"
WARM_UP, BEFORE_END = 2.0, 1.0
ALL_AIM_MS, EDITS_AIM_MS, CORES_AIM = 450, 300, 0.15


def percentile(histogram, share):
    """A value that so many of the samples are not above, within the 0.1 % of its buckets."""
    rank, seen = share * histogram["count"], 0
    for value, count in buckets(histogram):
        seen += count
        if seen >= rank:
            return value
    return histogram["max"]


class Result:
    """Delays and counts of a saved result."""

    def __init__(self, path):
        with open(path) as f:
            document = json.load(f)
        self.seconds = document["duration_s"]
        self.metrics = {(m["name"], m.get("filter")): m["value"] for m in document["metrics"]}
        self.generator = document["generator"]

    def row(self, event=None):
        """Sends a second, deliveries a second, mean, median, p95 and highest delay in ms."""
        by_tag = f"event:{event}" if event else None
        delay, sends = self.metrics["message_delay", by_tag], self.metrics["message_sends", by_tag]
        return [sends["count"] / self.seconds, delay["count"] / self.seconds, delay["sum"] / delay["count"],
                percentile(delay, 0.5), percentile(delay, 0.95), delay["max"]]

    def events(self):
        parts = [(name, dict(p.split(":") for p in (filter or "").split(","))) for name, filter in self.metrics if filter]
        return sorted({tags["event"] for name, tags in parts if name == "message_sends" and "event" in tags},
                      key=lambda event: -self.row(event)[0])


def delivered(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=5) as answer:
        told = json.load(answer)["websockets"]
        return told["messages_received"], told["messages_sent"]


def play(args, port, command):
    """Cores of the generator in the steady window and in all, cores of the server, messages a second to the users."""
    wait_until_quiet(args.quiet, args.patience)
    before, _ = delivered(port)
    program = Program(command, args.generator_cpu)
    try:
        began = time.monotonic()
        while delivered(port)[0] == before:
            if program.wait(0.05) or time.monotonic() - began > 60:
                sys.exit(f"{command[0]} sends nothing: {program.text()}")
        time.sleep(WARM_UP)
        at, used, served, (_, sent) = time.monotonic(), program.usage().cpu, args.server.usage().cpu, delivered(port)
        time.sleep(args.seconds - WARM_UP - BEFORE_END)
        seconds = time.monotonic() - at
        used, served, sent = program.usage().cpu - used, args.server.usage().cpu - served, delivered(port)[1] - sent
        if not program.wait(60):
            sys.exit(f"{command[0]} does not end")
        if program.exit not in (0, 99):
            sys.exit(f"{' '.join(command)} ended with {program.exit}: {program.text()}")
    finally:
        program.stop()
    whole = program.rusage.ru_utime + program.rusage.ru_stime
    return {"cores": used / seconds, "whole_cores": whole / program.wall, "server_cores": served / seconds, "rate": sent / seconds,
            "us_each": used / sent * 1e6}


def command(binary, script, args, port, *more):
    env = {"TARGET_WS": f"ws://127.0.0.1:{port}", "DURATION": f"{args.seconds:g}s", "USERS": args.users}
    return [binary, "run", "-q", *more, *(part for key, value in env.items() for part in ("-e", f"{key}={value}")), script]


def contestants(args, port, out):
    found = [("onrush", command(args.onrush, f"{EXAMPLE}/load.js", args, port, "--workers", "1", "--save", out)),
             ("onrush, the script for k6", command(args.onrush, f"{HERE}/scripts/collab.js", args, port, "--workers", "1"))]
    if k6 := tools.find("k6"):
        found.append(("k6", command(k6, f"{HERE}/scripts/collab.js", args, port, "--no-usage-report", "--address", "", "--no-color")))
    return found


def cost_table(runs):
    lines = ["| generator | cores | lowest – highest | whole run | µs a message | messages/s to it | server cores |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name, all_runs in runs.items():
        middle = {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0]}
        cores = [run["cores"] for run in all_runs]
        lines.append(f"| {name} | **{middle['cores']:.3f}** | {min(cores):.3f} – {max(cores):.3f} | {middle['whole_cores']:.3f} | "
                     f"{middle['us_each']:.1f} | {middle['rate']:,.0f} | {middle['server_cores']:.3f} |")
    return lines


def delay_table(result):
    lines = ["| event | server recv/s | server send/s | average | median | p95 | max |", "|---|--:|--:|--:|--:|--:|--:|"]
    for name, event in [("all events", None), *((event, event) for event in result.events())]:
        sends, deliveries, *delays = result.row(event)
        lines.append(f"| {name} | {sends:,.1f} | {deliveries:,.0f} | " + " | ".join(f"{delay:.2f} ms" for delay in delays) + " |")
    return lines


def verdicts(result, cores):
    figures = [("all events on average", result.row()[2], ALL_AIM_MS, "ms"), ("edits on average", result.row("edit")[2], EDITS_AIM_MS, "ms"),
               ("generator", cores, CORES_AIM, "cores")]
    return [f"- {name}: {figure:.3g} {unit}, aim {aim}: {'reached' if figure <= aim else '**not reached**'}" for name, figure, aim, unit in figures]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--onrush", default=f"{HERE}/../target/release/onrush")
    parser.add_argument("--only", help="contestants whose name begins so, beside the first")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.1)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--out", metavar="NAME", help="write results/DATE-MACHINE/NAME.md and .json")
    args = parser.parse_args()
    (port,) = _free_ports(1)
    args.server = Program([args.onrush, "serve", "--listen", f"tcp://127.0.0.1:{port}", f"{EXAMPLE}/app.js"], args.server_cpu)
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
        out = args.keep or f"{scratch}/result"
        try:
            wait_until_answering(port, args.server)
            all_of = contestants(args, port, out)
            chosen = [c for c in all_of if c == all_of[0] or c[0].startswith(args.only or "")]
            runs = {name: [] for name, _ in chosen}
            for turn in range(args.rounds):
                for name, line in chosen[turn % len(chosen):] + chosen[:turn % len(chosen)]:
                    runs[name].append(play(args, port, line))
                    print(f"{name:<28} {runs[name][-1]['cores']:.3f} cores", file=sys.stderr, flush=True)
        finally:
            args.server.stop()
        result = Result(f"{out}/result.json")
    lines = [*delay_table(result), "", *cost_table(runs), "", *verdicts(result, statistics.median(run["cores"] for run in runs["onrush"]))]
    print("\n".join(lines))
    if args.out:
        told = machine(args)
        facts = (f"{told['cpus']} CPUs of {told['cpu']}, {told['kernel']}; server on CPU {args.server_cpu}, generator on CPU "
                 f"{args.generator_cpu}; {args.users} users, {args.seconds:g} s, {args.rounds} rounds. Commit {git_commit()}. "
                 "Made by `bench/collab.py`.")
        text = "\n".join([f"# The study of examples/collab, {datetime.date.today()}", "", facts, "", *lines, ""])
        record.save(args.out, text, {"machine": told, "runs": runs, "generator": result.generator})


if __name__ == "__main__":
    main()
