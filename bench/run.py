#!/usr/bin/env python3
"""Onrush beside other load generators on one machine.

    bench/run.py get post-check-tls                  five rounds of each, tools interleaved
    bench/run.py js startup --rounds 3 --duration 3
    bench/run.py get --only onrush,wrk
    bench/run.py get --onrush old=/tmp/a --onrush new=/tmp/b      two builds of Onrush against each other
    bench/run.py --list

The server has one CPU, the generator another; everything stays on 127.0.0.1, every run is bounded in time, and only
programs started here are ended. bench/README.md says how to read the tables.
"""

import argparse
import datetime
import os
import signal
import subprocess
import sys
import tempfile
import time

import record
import report
from process import Program, machine_busy_seconds, wait_until_quiet
from server import Missing, Nginx
from tools import PARSERS, find, version
from workloads import GROUPS, ONRUSH, WORKLOADS

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP = 1.0        # after the first request: compilers, connection set-up
BEFORE_END = 0.3     # tools stop at slightly different times
START_LIMIT = 60     # until the first request
EXIT_LIMIT = 60      # from the planned end to the exit


def say(*words):
    print(*words, file=sys.stderr, flush=True)


class Sample:
    """Generator and server at one moment."""

    def __init__(self, program, server):
        self.generator = program.usage()
        self.server = server.program.usage() if server else None
        self.connections, self.requests = server.count() if server else (None, None)
        self.busy = machine_busy_seconds()
        self.at = time.monotonic()


def window(a, z, counts=1):
    """What happened between two samples; the server counts each request `counts` times."""
    seconds = z.at - a.at
    cpu = z.generator.cpu - a.generator.cpu
    out = {"window_s": seconds, "generator_cores": cpu / seconds, "rss_mib": z.generator.rss / 2**20,
           "peak_rss_mib": z.generator.peak / 2**20}
    server_cpu = 0
    if a.server:
        server_cpu = z.server.cpu - a.server.cpu
        requests = (z.requests - a.requests) / counts
        out |= {"rate": requests / seconds, "server_cores": server_cpu / seconds, "connections": z.connections,
                "requests_per_cpu_s": requests / cpu if cpu > 0 else None}
    out["other_cores"] = max(0.0, (z.busy - a.busy - cpu - server_cpu) / seconds)
    return out


def sleep_until(moment, program):
    """False when the program ended before."""
    return not program.wait(max(0.0, moment - time.monotonic()))


def steady_window(program, server, base, duration, counts):
    """Measures from a second after the first request until shortly before the end; None when the program ended early."""
    begun = started = time.monotonic()
    while server and server.count()[1] <= base + 2:
        if program.wait(0.02) or time.monotonic() - begun > START_LIMIT:
            return None
    begun = time.monotonic()
    if not sleep_until(begun + WARM_UP, program):
        return None
    first = Sample(program, server)
    # Where an iteration takes long, the first request comes late; tools count their time from their start.
    if not sleep_until(min(begun, started + BEFORE_END) + duration - BEFORE_END, program):
        return None
    return window(first, Sample(program, server), counts)


def command_of(tool, fields):
    return [part.format(**fields) for part in tool["command"]]


def run_once(tool, workload, server, options, duration, cpus):
    """One run of one tool: what was measured and what the tool said."""
    base = server.count()[1] if server else 0
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as scratch:
        fields = {"bin": tool["path"], "scripts": f"{HERE}/scripts", "duration": duration, "summary": f"{scratch}/summary.json",
                  "url": workload["url"] and f"{workload['url']}://127.0.0.1:{getattr(server, workload['url'])}/{workload.get('path', '')}",
                  "body": server and server.body, "payload": server and server.run}
        env = dict(os.environ, K6_AUTO_EXTENSION_RESOLUTION="false", NO_COLOR="1")
        program = Program(command_of(tool, fields), cpus, env)
        try:
            measured = None
            if workload["kind"] != "startup":
                measured = steady_window(program, server, base, duration, workload.get("counts", 1))
            ended = program.wait(EXIT_LIMIT)
        finally:
            program.stop()
        result = {"tool": tool["name"], **(measured or {})}
        if not ended:
            return result | {"problem": f"did not end within {EXIT_LIMIT} s of its planned end"}
        return result | judge(tool, workload, program, fields["summary"], server, base, measured)


def judge(tool, workload, program, summary, server, base, measured):
    """The rest of a result once the program ended: what it said, whether that is credible, and the figure."""
    out, err = program.text()
    cpu = program.rusage.ru_utime + program.rusage.ru_stime
    result = {"exit": program.exit, "wall_s": program.wall, "cpu_s": cpu}
    if program.exit != 0:
        return result | {"problem": f"exit code {program.exit}: {err.strip()[-400:]}"}
    try:
        result["said"] = PARSERS[tool["parse"]](out, summary)
    except Exception as e:  # whatever a tool prints must not end the other runs
        return result | {"problem": f"its output was not understood: {e!r}; {(err or out).strip()[-400:]}"}
    if server:
        result["served"] = (server.count()[1] - base) // workload.get("counts", 1)
    if measured is None and workload["kind"] != "startup":
        return result | {"problem": "it ended before the steady window did"}
    figures = {"requests": lambda: measured["requests_per_cpu_s"], "rate": lambda: measured["rate"],
               "memory": lambda: measured["rss_mib"],
               "startup": lambda: cpu * 1e3,
               "iterations": lambda: result["said"]["iterations"] / cpu}
    return result | {"figure": figures[workload["kind"]]()}


def installed(tools, options, missing):
    """The tools with their paths; Onrush once for each build that was given."""
    there = []
    for tool in tools:
        if options.only and tool["bin"] not in options.only and tool["name"] not in options.only:
            continue
        if tool["bin"] == ONRUSH:
            there += [{**tool, "name": tool["name"].replace(ONRUSH, name, 1), "path": path} for name, path in options.onrush]
        elif path := find(tool["bin"]):
            there.append({**tool, "path": path})
        elif tool["bin"] not in missing:
            missing.add(tool["bin"])
            say(f"{tool['bin']} is not installed: skipped")
    return there


def run_workload(name, server, options, missing):
    workload = WORKLOADS[name]
    if workload["url"] == "https" and not server.has_tls:
        say(f"{name}: skipped, openssl is needed to make a certificate")
        return None
    tools = installed(workload["tools"], options, missing)
    duration = options.duration + workload.get("longer", 0)
    cpus = options.wide_cpus if workload.get("wide") else options.generator_cpu
    runs = []
    for number in range(options.rounds):
        turn = number % max(1, len(tools))
        for tool in tools[turn:] + tools[:turn]:
            busy = wait_until_quiet(options.quiet, options.patience)
            run = run_once(tool, workload, server if workload["url"] else None, options, duration, cpus)
            runs.append({"round": number, "busy_before": busy, **run})
            figure = run.get("figure")
            say(f"{name} {number + 1}/{options.rounds} {tool['name']}: "
                f"{run.get('problem') or report.number(figure)}", f"(others {run.get('other_cores', busy):.2f} cores)")
    return {"name": name, "title": workload["title"], "kind": workload["kind"], "note": workload.get("note", ""),
            "aims": workload.get("aims", []),
            **({"references": workload["references"]} if "references" in workload else {}),
            "duration": duration, "tools": [t["name"] for t in tools], "runs": runs}


def onrush_builds(given):
    """[(name, path)] from --onrush, $ONRUSH, PATH or the release build of this workspace."""
    builds = []
    for text in given or [os.environ.get("ONRUSH", "")]:
        name, _, path = text.rpartition("=")
        builds.append((name or ONRUSH, path))
    if builds == [(ONRUSH, "")]:
        built = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "..", "target")), "release", ONRUSH)
        path = built if os.path.exists(built) else find(ONRUSH)
        return [(ONRUSH, path)] if path else []
    for name, path in builds:
        if not os.access(path, os.X_OK):
            sys.exit(f"--onrush {name}={path}: no such program; build it with cargo build --release")
    return builds


def machine(options):
    def first(path, key):
        with open(path) as f:
            return next((line.split(":", 1)[1].strip() for line in f if line.startswith(key)), "unknown")
    return {"cpu": first("/proc/cpuinfo", "model name"), "cpus": os.cpu_count(), "memory": first("/proc/meminfo", "MemTotal"),
            "kernel": f"{os.uname().sysname} {os.uname().release} {os.uname().machine}",
            "server_cpu": options.server_cpu, "generator_cpu": options.generator_cpu, "load": os.getloadavg()}


def versions(options, names):
    wanted = {t["bin"] for name in names for t in WORKLOADS[name]["tools"] if t["bin"] != ONRUSH} | {"nginx"}
    found = {name: version(path, name) for name in sorted(wanted) if (path := find(name))}
    return {**{name: version(path, ONRUSH) for name, path in options.onrush}, **found}


def git_commit():
    done = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="names from --list, js or all")
    parser.add_argument("--list", action="store_true", help="print the workloads and end")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--duration", type=int, default=5, help="seconds of one run (memory workloads take longer)")
    parser.add_argument("--only", type=lambda text: text.split(","), help="tools, by comma")
    parser.add_argument("--onrush", action="append", metavar="[NAME=]PATH", help="a build of Onrush; repeat to compare builds")
    parser.add_argument("--name", help="name of the result files (the workloads' names)")
    parser.add_argument("--out", help="folder of the result files (results/DATE-MACHINE)")
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--generator-cpu", default="1")
    parser.add_argument("--quiet", type=float, default=0.3, help="before a run, wait until others use less than so many CPUs")
    parser.add_argument("--patience", type=float, default=10, help="... but at most so many seconds")
    options = parser.parse_args()
    if options.duration < 3:
        parser.error(f"--duration is {options.duration}, expected 3 or more: the steady window begins after a second")
    names = [name for given in options.workloads for name in GROUPS.get(given, [given])]
    if unknown := [name for name in names if name not in WORKLOADS]:
        parser.error(f"no workload is called {unknown[0]!r}; --list prints them")
    options.workloads = names
    options.onrush = onrush_builds(options.onrush)
    others = [str(c) for c in sorted(os.sched_getaffinity(0)) if str(c) != options.server_cpu]
    options.wide_cpus = ",".join(others if len(others) > 1 else [options.server_cpu, *others])
    return options


def main():
    options = arguments()
    if options.list or not options.workloads:
        for name, workload in WORKLOADS.items():
            print(f"{name:<16}{workload['title']}: {', '.join(t['name'] for t in workload['tools'])}")
        return
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not options.onrush:
        say("onrush is not built: skipped (cargo build --release, or --onrush PATH)")
    result = {"name": options.name or "-".join(options.workloads)[:60],
              "date": datetime.datetime.now().isoformat(timespec="seconds"), "commit": git_commit(),
              "rounds": options.rounds, "machine": machine(options), "versions": versions(options, options.workloads),
              "workloads": []}
    # This program's own wake-ups must not take the generator's CPU.
    os.sched_setaffinity(0, {int(options.server_cpu)})
    missing, server = set(), None
    try:
        if any(WORKLOADS[name]["url"] for name in options.workloads):
            server = Nginx(find, options.server_cpu)
        for name in options.workloads:
            done = run_workload(name, server, options, missing)
            if done and done["runs"]:
                result["workloads"].append(done)
                stem = record.save(result["name"], report.document(result), result, options.out, result["date"][:10])
                print(report.table(done), flush=True)
        if result["workloads"]:
            say(f"written to {stem}.md and .json")
    except Missing as e:
        sys.exit(str(e))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if server:
            server.stop()


if __name__ == "__main__":
    main()
