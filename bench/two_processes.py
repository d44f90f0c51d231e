#!/usr/bin/env python3
"""Whether two processes do twice the work of one: a pair of server and generator on a CPU, and two such pairs on two CPUs.

    bench/two_processes.py ONRUSH [--rounds 5] [--seconds 8]

Each round has, one after the other, one pair on CPU 0; one pair on CPU 1; two agents of one test, each with a server of its own on its CPU; and
two runs that know nothing of each other, which is what the machine gives two processes at the most. Requests are small GETs, 32 users
a process. Loopback only; ends what it started.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time

from process import wait_until_quiet

SCRIPT = """
import http from 'k6/http'
export const options = { vus: USERS, duration: 'SECONDSs' }
export default function () { http.get(__ENV.OWN) }
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rate(folder):
    document = json.load(open(os.path.join(folder, "result.json"), encoding="utf-8"))
    metric = next(m for m in document["metrics"] if m["name"] == "http_reqs" and "filter" not in m)
    return metric["value"]["rate"]


class Bench:
    def __init__(self, arguments, folder, urls):
        self.agents = []
        self.onrush, self.folder, self.urls = arguments.onrush, folder, urls
        for users in (32, 64):
            text = SCRIPT.replace("USERS", str(users)).replace("SECONDS", str(arguments.seconds))
            with open(self.script(users), "w", encoding="utf-8") as script:
                script.write(text)

    def script(self, users):
        return os.path.join(self.folder, f"script-{users}.js")

    def start(self, cpu, *words):
        command = ["taskset", "-c", cpu, self.onrush, *words]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def alone(self, cpu, name):
        words = ["run", "-q", "--accept-late", "--workers", "1", "--save", name, "-e", f"OWN={self.urls[cpu]}"]
        return self.start(str(cpu), *words, self.script(32))

    def runs(self, cpus):
        started = [self.alone(cpu, f"alone-{cpu}") for cpu in cpus]
        for run in started:
            assert run.wait() == 0
        return sum(rate(os.path.join(self.folder, f"alone-{cpu}")) for cpu in cpus)

    def fleet(self):
        log, ports = os.path.join(self.folder, "log"), [free_port(), free_port()]
        if os.path.exists(log):
            os.remove(log)
        agents = ",".join(f"127.0.0.1:{port}" for port in ports)
        words = ["run", "-q", "--accept-late", "--save", "fleet", "--log-output", f"file={log}", "--agents", agents]
        coordinator, found = self.start("0,1", *words, self.script(64)), None
        while not found:
            time.sleep(0.02)
            found = os.path.exists(log) and re.search(r"ONRUSH_JOIN=(\S+)", open(log, encoding="utf-8").read())
        token = found.group(1).split("@")[0]
        for cpu, port in enumerate(ports):
            listen = ["agent", "--listen", f"127.0.0.1:{port}", "--join", token, "--index", str(cpu)]
            self.agents.append(self.start(str(cpu), *listen, "--workers", "1", "-e", f"OWN={self.urls[cpu]}"))
        assert coordinator.wait() == 0
        for agent in self.agents:
            agent.wait()
        self.agents.clear()
        return rate(os.path.join(self.folder, "fleet"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onrush")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=8)
    arguments = parser.parse_args()
    arguments.onrush = os.path.abspath(arguments.onrush)
    ports = [free_port(), free_port()]
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for cpu, port in enumerate(ports):
                serve = ["taskset", "-c", str(cpu), arguments.onrush, "serve", "--listen", f"127.0.0.1:{port}"]
                servers.append(subprocess.Popen(serve, stdout=subprocess.DEVNULL))
            time.sleep(1)
            bench = Bench(arguments, folder, [f"http://127.0.0.1:{port}/" for port in ports])
            fleet, both = [], []
            for number in range(arguments.rounds):
                wait_until_quiet(0.2, 60)
                one = (bench.runs([0]) + bench.runs([1])) / 2
                fleet.append(bench.fleet() / one)
                both.append(bench.runs([0, 1]) / one)
                print(f"round {number + 1}: one {one:,.0f}/s, two agents {fleet[-1]:.2f} x, two runs {both[-1]:.2f} x", flush=True)
            print(f"median: two agents {statistics.median(fleet):.2f} x, two runs {statistics.median(both):.2f} x, "
                  f"agents by runs {statistics.median(a / b for a, b in zip(fleet, both)):.3f}")
        finally:
            for server in servers:
                server.terminate()
                server.wait()


if __name__ == "__main__":
    main()
