#!/usr/bin/env python3
"""What watching a run costs: the screen, the page, and both, against neither.

    bench/screen_cost.py [--onrush target/release/onrush] [--pairs 8] [--seconds 8] [--generator-cpu 1] [--server-cpu 0]

A closed loop that keeps one CPU busy, with every thread of the generator on it: requests a second are requests a CPU second then.
Each run has a terminal of 120×40 that is read as fast as it is written. Runs of two variants take turns, and `onrush compare` judges
their pairs. It ends with 1 when a variant is proven to have lost more than 1 % of requests, with 2 when nobody can tell.

    bench/screen_cost.py --rate 5000 [--pairs 8] [--seconds 8]

Where a machine's noise hides one percent: the same requests, 5,000 a second, in each run, and the CPU time that each took. What a variant
takes more is what it costs, in milliseconds a second; one percent of a core is 10. It ends with 1 when a median is beyond that.
"""

import argparse
import fcntl
import os
import pty
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from process import wait_until_quiet

SCRIPT = """
import http from 'k6/http'
import { check } from 'k6'
const rate = Number(__ENV.RATE)
const load = rate === 0
  ? { executor: 'constant-vus', vus: 16, duration: __ENV.SECONDS + 's' }
  : { executor: 'constant-arrival-rate', rate, duration: __ENV.SECONDS + 's', preAllocatedVUs: 64 }
export const options = {
  scenarios: { load }, thresholds: { http_req_duration: ['p(95)<60000'], checks: ['rate>0'] },
}
export default function () { check(http.get(__ENV.URL), { 'is fine': (r) => r.status === 200 }) }
"""
VARIANTS = {"screen": (True, False), "page": (False, True), "both": (True, True)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read_events(port):
    """Somebody who looks at the page for as long as there is one."""
    for _ in range(200):
        try:
            with socket.create_connection(("127.0.0.1", port)) as reader:
                reader.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while reader.recv(1 << 16):
                    pass
            return
        except OSError:
            time.sleep(0.05)


def run(arguments, url, folder, shows):
    """One run; its result goes to the folder. Returns the CPU seconds it took."""
    screen, page = shows
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    command = ["taskset", "-c", str(arguments.generator_cpu), arguments.onrush, "run", "--workers", "1", "--save", folder]
    command += ["--accept-late", "--no-tui=false" if screen else "--no-tui", "-e", f"URL={url}"]
    command += ["-e", f"SECONDS={arguments.seconds}", "-e", f"RATE={arguments.rate}"]
    reader = None
    if page:
        port = free_port()
        command += ["--web", "--web-port", str(port)]
        reader = threading.Thread(target=read_events, args=(port,), daemon=True)
    env = {**os.environ, "TERM": "xterm-256color"}
    child = subprocess.Popen(command + [arguments.script], stdin=far, stdout=far, stderr=far, env=env)
    os.close(far)
    if reader:
        reader.start()
    written = bytearray()
    try:
        while True:
            piece = os.read(near, 1 << 16)
            if not piece:
                break
            written += piece
    except OSError:
        pass
    os.close(near)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"a run ended with {child.returncode}:\n{written.decode(errors='replace')[-3000:]}")
    if (b"\x1b[?1049h" in written) != screen:
        sys.exit(f"expected {'a' if screen else 'no'} screen")
    return used.ru_utime + used.ru_stime


def count(arguments, folder, url):
    """CPU time at a fixed rate, all variants by turns; 1 where the median of a variant's pairs is beyond 1 % of a core."""
    more = {name: [] for name in arguments.variants}
    neither = []
    for pair in range(arguments.pairs):
        wait_until_quiet(arguments.quiet, arguments.patience)
        base = run(arguments, url, os.path.join(folder, f"neither-{pair}"), (False, False))
        neither.append(base)
        for name in arguments.variants:
            used = run(arguments, url, os.path.join(folder, f"{name}-{pair}"), VARIANTS[name])
            more[name].append((used - base) * 1000 / arguments.seconds)
    print(f"neither: {statistics.median(neither) * 1000 / arguments.seconds:.1f} ms of CPU a second")
    for name, found in more.items():
        found.sort()
        print(f"{name}: {statistics.median(found):+.1f} ms a second more, {found[0]:+.1f} to {found[-1]:+.1f} in {len(found)} pairs")
    return int(any(statistics.median(found) > 10 for found in more.values()))


def compare(arguments, name, folder, url):
    """Runs of neither and of one variant by turns; the exit code of their comparison."""
    sides = {"a": [], "b": []}
    for pair in range(arguments.pairs):
        for side in ("ab", "ba")[pair % 2]:
            wait_until_quiet(arguments.quiet, arguments.patience)
            place = os.path.join(folder, f"{name}-{side}-{pair}")
            run(arguments, url, place, VARIANTS[name] if side == "b" else (False, False))
            sides[side].append(place)
    print(f"\n## {name} against neither\n", flush=True)
    command = [arguments.onrush, "compare", ",".join(sides["a"]), ",".join(sides["b"]), "--accept-late", "--margin", "1%"]
    return subprocess.run(command + ["--metric", "http_reqs", "--fail-on", "http_reqs -1%"], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", default=list(VARIANTS), help="screen, page, both")
    parser.add_argument("--onrush", default="target/release/onrush")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--generator-cpu", type=int, default=1)
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--quiet", type=float, default=0.1)
    parser.add_argument("--patience", type=float, default=60)
    arguments = parser.parse_args()
    port = free_port()
    command = ["taskset", "-c", str(arguments.server_cpu), arguments.onrush, "serve", "--listen", f"127.0.0.1:{port}"]
    with tempfile.TemporaryDirectory() as folder:
        arguments.script = os.path.join(folder, "script.js")
        with open(arguments.script, "w", encoding="utf-8") as script:
            script.write(SCRIPT)
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            time.sleep(1)
            address = f"http://127.0.0.1:{port}/"
            if arguments.rate:
                sys.exit(count(arguments, folder, address))
            codes = [compare(arguments, name, folder, address) for name in arguments.variants]
        finally:
            server.terminate()
            server.wait()
    sys.exit(1 if 1 in codes else max(codes))


if __name__ == "__main__":
    main()
