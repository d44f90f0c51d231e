#!/usr/bin/env python3
"""What large payloads cost in memory: the same VUs with them and without.

    bench/payload_memory.py                          the release build of this workspace
    bench/payload_memory.py --onrush PATH --seconds 8

    stream   100 VUs, each sends a file of 1 GB by FileStream; beside them 100 VUs that wait
    binary   1,000 VUs that open a binary of 10 MB; beside them 1,000 VUs that do not
    shared   1,000 VUs that send a 10 MB element of a SharedArray; beside them 1,000 that send 10 bytes

Resident memory is the highest seen from a second after the first iteration on, in the generator alone; the server is
another process. Files are sparse. Files that are mapped count for each mapping that touched them, as the kernel counts.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import urllib.request

from process import Program
from run import onrush_builds

HEAD = """
import http from 'k6/http';
import { sleep } from 'k6';
import { SharedArray } from 'k6/data';
import { FileStream } from 'onrush/fs';
export const options = { vus: Number(__ENV.VUS), duration: __ENV.DURATION, gracefulStop: '0s' };
"""
CASES = {
    "stream": (100, 100, """
const file = new FileStream(__ENV.FILE);
export default function () { if (__ENV.WITH === '1') http.put(`${__ENV.SERVER}/upload`, file); else sleep(0.1); }
""", 1 << 30),
    "binary": (1000, 30, """
const data = __ENV.WITH === '1' ? open(__ENV.FILE, 'b') : new ArrayBuffer(1);
export default function () { if (data.byteLength === 0) throw new Error('empty'); sleep(0.1); }
""", 10_000_000),
    "shared": (1000, 30, """
const data = new SharedArray('data', () => [__ENV.WITH === '1' ? open(__ENV.FILE, 'b') : new ArrayBuffer(10)]);
export default function () { http.put(`${__ENV.SERVER}/upload`, data[0]); sleep(1); }
""", 10_000_000),
}


def serve(onrush, cpu, folder):
    """`onrush serve` on a CPU of its own; gives it and its address."""
    program = Program([onrush, "serve", "--listen", "tcp://127.0.0.1:0", "--workers", "1"], cpu)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        for line in "\n".join(program.text()).splitlines():
            if "http://" in line:
                return program, "http://" + line.split("http://", 1)[1].split()[0].rstrip("/,;")
        time.sleep(0.05)
    program.stop()
    sys.exit(f"onrush serve does not say where it listens: {program.text()}")


def uploaded(address):
    """GiB that the server has received so far."""
    with urllib.request.urlopen(f"{address}/stats", timeout=5) as answer:
        return json.load(answer)["bytes_received"] / 2**30


def highest_rss(onrush, cpu, script, env, seconds):
    """MiB, and what the run printed when it failed."""
    settings = [part for key, value in env.items() for part in ("-e", f"{key}={value}")]
    program = Program([onrush, "run", "--quiet", "--workers", "1", *settings, "-e", f"DURATION={seconds}s", script], cpu)
    try:
        highest, end = 0, time.monotonic() + seconds
        program.wait(min(2, seconds / 2))
        while time.monotonic() < end and not program.wait(0.05):
            highest = max(highest, program.usage().rss)
        program.wait(60)
    finally:
        program.stop()
    return highest / 2**20, program.exit, program.text()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="stream, binary, shared; all unless given")
    parser.add_argument("--onrush", action="append", metavar="PATH")
    parser.add_argument("--seconds", type=int, default=8)
    options = parser.parse_args()
    builds = onrush_builds(options.onrush)
    if not builds:
        sys.exit("onrush is not built: cargo build --release, or --onrush PATH")
    onrush, failed = builds[0][1], False
    with tempfile.TemporaryDirectory(prefix="onrush-bench-") as folder:
        server, address = serve(onrush, "0", folder)
        try:
            for name in options.cases or CASES:
                vus, limit, body, size = CASES[name]
                script, file = os.path.join(folder, f"{name}.js"), os.path.join(folder, f"{name}.bin")
                with open(script, "w") as f:
                    f.write(HEAD + body)
                with open(file, "wb") as f:
                    f.truncate(size)
                found, before = [], uploaded(address)
                for given in "01":
                    env = {"VUS": vus, "FILE": file, "SERVER": address, "WITH": given}
                    rss, code, err = highest_rss(onrush, "1", script, env, options.seconds)
                    if code not in (0, 99):
                        sys.exit(f"{name}: exit code {code}: {err[-500:]}")
                    found.append(rss)
                more = found[1] - found[0]
                failed |= more > limit
                print(f"{name:<8}{vus:>5} VUs  without {found[0]:7.1f} MiB  with {found[1]:7.1f} MiB  more {more:6.1f} MiB"
                      f"  (at most {limit})  sent {uploaded(address) - before:.1f} GiB", flush=True)
        finally:
            server.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
