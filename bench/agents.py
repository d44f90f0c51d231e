#!/usr/bin/env python3
"""What a coordinator of many agents costs: its CPU, its memory, and how old what it shows is.

    bench/agents.py ONRUSH [AGENTS [SECONDS]]

Starts a coordinator on CPU 0 and AGENTS processes of `onrush agent` on the other CPUs, each with one user that adds to
twenty metrics once a second, and asks the REST API ten times a second how many iterations it has heard of. The age of
what it shows is the time until a fixed rate would have come to that count. Loopback only; ends what it started.
"""

import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

SCRIPT = """
import { Trend, Counter } from 'k6/metrics'
const trends = Array.from({ length: 9 }, (_, n) => new Trend('own_trend_' + n, true))
const counters = Array.from({ length: 5 }, (_, n) => new Counter('own_counter_' + n))
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: RATE, timeUnit: '1s',
  duration: 'SECONDSs', preAllocatedVUs: RATE } } }
export default function () {
  trends.forEach((trend, n) => { for (let i = 0; i < 100; i++) trend.add((n + 1) * i * 1.37) })
  counters.forEach((counter) => counter.add(1))
}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pinned(cpus):
    return lambda: os.sched_setaffinity(0, cpus)


def main():
    onrush = os.path.abspath(sys.argv[1])
    agents = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    others = set(range(1, os.cpu_count())) or {0}
    folder = tempfile.mkdtemp(prefix="onrush-agents-")
    script = os.path.join(folder, "script.js")
    open(script, "w").write(SCRIPT.replace("RATE", str(agents)).replace("SECONDS", str(seconds)))
    log, api = os.path.join(folder, "coordinator.log"), free_port()
    result = os.path.join(folder, "result")
    command = [onrush, "run", "--save", result, "--agents", str(agents), "--fleet-listen", "127.0.0.1:0", "--address", f"127.0.0.1:{api}",
               "--join-timeout", "30m", "--log-output", f"file={log}", "-q", script]
    coordinator = subprocess.Popen(command, preexec_fn=pinned({0}), stdout=open(os.path.join(folder, "out"), "w"))
    started, ages, processes = None, [], []
    try:
        invitation = None
        while invitation is None:
            text = open(log).read() if os.path.exists(log) else ""
            found = re.search(r"ONRUSH_JOIN=(\S+) onrush agent", text)
            invitation = found and found.group(1)
            time.sleep(0.05)
        environment = dict(os.environ, ONRUSH_JOIN=invitation)
        for number in range(agents):
            agent = [onrush, "agent", "--workers", "1", "--index", str(number)]
            out = open(os.path.join(folder, f"agent-{number % 10}.log"), "a")
            processes.append(subprocess.Popen(agent, env=environment, preexec_fn=pinned(others), stdout=out, stderr=out))
            if number % 50 == 49:
                print(f"{number + 1} agents started", flush=True)
                time.sleep(0.5)
        last, cpu_at = 0, None
        while coordinator.poll() is None:
            try:
                url = f"http://127.0.0.1:{api}/v1/metrics/iterations"
                sample = json.load(urllib.request.urlopen(url, timeout=5))["data"]["attributes"]["sample"]
                count = sample.get("count", 0)
            except (OSError, KeyError, ValueError):
                count = 0
            now = time.monotonic()
            if count > 0 and started is None:
                started, cpu_at = now, (now, cpu_seconds(coordinator.pid))
                # The agreed instant, by the clock that Python reads too.
                begin = json.load(open(os.path.join(result, "fleet.state")))["started"][0] / 1e9
                print(f"the first {count:.0f} iterations are there", flush=True)
            if started is not None and count < agents * seconds * 0.95:
                if count != last:
                    # The newest second that is shown ended when the rate had come to this count.
                    ages.append((now, count))
                last = count
                busy = (now - cpu_at[0], cpu_seconds(coordinator.pid) - cpu_at[1])
                peak = re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{coordinator.pid}/status").read())
            time.sleep(0.1)
    finally:
        for process in processes + [coordinator]:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            process.wait()
    age = [now - begin - count / agents for now, count in ages]
    wall, cpu = busy
    print(f"{agents} agents: {cpu / wall:.2f} of a core, {int(peak.group(1)) / 1024:.0f} MiB at most,"
          f" a new view every {wall / max(1, len(ages)):.2f} s, which is {statistics.median(age):.2f} s old (median),"
          f" {max(age):.2f} s at worst; exit {coordinator.returncode}")
    print(open(os.path.join(folder, "out")).read()[-1500:])
    print(f"logs: {folder}")


if __name__ == "__main__":
    main()
