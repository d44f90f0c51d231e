"""Starting programs on given CPUs, reading what they use, and ending them.

Each program gets a session of its own, so that whatever it starts is counted with it and ended with it; nothing else is
ever signalled. CPU time comes from /proc/PID/task/*/schedstat (nanoseconds); kernels without it give clock ticks of 10 ms.
"""

import os
import re
import resource
import select
import signal
import subprocess
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")
NOFILE = 40_000


def _read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def _stat_fields(pid):
    """The fields of /proc/PID/stat behind the name, which may contain anything."""
    text = _read(f"/proc/{pid}/stat")
    return text[text.rindex(")") + 2:].split() if ")" in text else None


def _cpu_seconds(pid, fields):
    ticks = (int(fields[11]) + int(fields[12])) / TICK
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return ticks
    nanoseconds = sum(int(text.split()[0]) for t in tasks if (text := _read(f"/proc/{pid}/task/{t}/schedstat")))
    # Threads that ended are in the ticks alone.
    return max(nanoseconds / 1e9, ticks - 0.02)


def machine_busy_seconds():
    """CPU seconds that all CPUs together spent on anything since boot."""
    values = [int(v) for v in _read("/proc/stat").splitlines()[0].split()[1:]]
    return (sum(values[:8]) - values[3] - values[4]) / TICK


class Usage:
    """What a session used at one moment."""

    def __init__(self, sid):
        self.at = time.monotonic()
        self.cpu, self.rss, self.peak, self.pids = 0.0, 0, 0, []
        for name in os.listdir("/proc"):
            fields = _stat_fields(name) if name.isdigit() else None
            if not fields or int(fields[3]) != sid or fields[0] == "Z":
                continue
            self.pids.append(int(name))
            self.cpu += _cpu_seconds(name, fields)
            status = _read(f"/proc/{name}/status")
            for key, label in (("rss", "VmRSS"), ("peak", "VmHWM")):
                found = re.search(rf"{label}:\s+(\d+) kB", status)
                setattr(self, key, getattr(self, key) + (int(found[1]) * 1024 if found else 0))


class Program:
    """A running program, pinned to the CPUs of `cpus` (such as "1" or "0,1")."""

    def __init__(self, command, cpus, env=None):
        # Files, for a pipe that nobody reads fills up and blocks the writer.
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        cpu_set = {int(c) for c in str(cpus).split(",")}

        def prepare():
            os.sched_setaffinity(0, cpu_set)
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            limit = NOFILE if hard == resource.RLIM_INFINITY else min(NOFILE, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
            start_new_session=True, preexec_fn=prepare, env=env)
        self.sid = self.process.pid
        self.pidfd = os.pidfd_open(self.sid)
        self.rusage = self.exit = self.wall = None

    def usage(self):
        return Usage(self.sid)

    def wait(self, seconds):
        """True once it ended; false when it did not in time. Sleeps in the kernel: polling would disturb what is measured."""
        if self.exit is None:
            poll = select.poll()
            poll.register(self.pidfd, select.POLLIN)
            if not poll.poll(max(0.0, seconds) * 1e3):
                return False
            _, status, self.rusage = os.wait4(self.sid, 0)
            self.wall = time.monotonic() - self.started
            self.exit = self.process.returncode = os.waitstatus_to_exitcode(status)
            os.close(self.pidfd)
        return True

    def stop(self):
        """Ends the whole session, gently first."""
        for sig, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
            for pid in self.usage().pids:
                try:
                    os.kill(pid, sig)
                except ProcessLookupError:
                    pass
            if self.wait(patience) and not self.usage().pids:
                return

    def text(self):
        """Standard output and standard error so far."""
        texts = []
        for f in (self.out, self.err):
            f.seek(0)
            texts.append(f.read().decode("utf-8", "replace"))
        return texts


def wait_until_quiet(limit, patience):
    """Waits until everything on the machine together uses less than `limit` CPUs, at most `patience` seconds."""
    end = time.monotonic() + patience
    while True:
        busy, at = machine_busy_seconds(), time.monotonic()
        time.sleep(0.4)
        cores = (machine_busy_seconds() - busy) / (time.monotonic() - at)
        if cores < limit or time.monotonic() > end:
            return cores
