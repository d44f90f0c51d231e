"""Where results go: bench/results/DATE-MACHINE/NAME.md, and every single run beside it in NAME.json.

Git ignores the .json: a clone holds tables and verdicts. DATE is when a run began, MACHINE how many cores of what.
"""

import datetime
import json
import os

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")


def machine_name():
    """As 2-core-vm: a folder of results holds what one kind of machine measured."""
    with open("/proc/cpuinfo") as f:
        is_virtual = any(line.startswith("flags") and " hypervisor" in line for line in f)
    return f"{os.cpu_count()}-core-{'vm' if is_virtual else 'machine'}"


def save(name, text, runs=None, folder=None, date=None):
    """Writes a table and, where given, its runs; a second time in place of the first. Gives their path without its ending."""
    folder = folder or os.path.join(RESULTS, f"{date or datetime.date.today()}-{machine_name()}")
    os.makedirs(folder, exist_ok=True)
    stem = os.path.join(folder, name)
    with open(stem + ".md", "w") as f:
        f.write(text)
    if runs is not None:
        with open(stem + ".json", "w") as f:
            json.dump(runs, f, indent=1)
            f.write("\n")
    return stem
