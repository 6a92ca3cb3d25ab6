#!/usr/bin/env python3
"""Learning from a click log: the time of a Python script over that of `oltr model learn`.

The log is a CSV of impressions: lists of ten of 10,000 items, with ids, positions and clicks.  Both
sides do the same: read the file, join its rows to lists by their ids, check that positions have no
gaps, count a list once, look at it down to the first click, and add up observations and clicks by
item.  The script does it with the csv module and dictionaries, once with csv.DictReader, which finds
columns by their names as the command does, and once with csv.reader and fixed columns.  The command
also keeps a posterior, and writes the model to the disk.

Both are processes; their CPU time (user and system) is taken from the system, in turn, and each ratio
within a repetition.  The sums must agree.  Memory is that of the command for this log and for one
tenth of it.

    logs.py OLTR [--rows N] [--repetitions N] [--strict]
"""
import argparse
import csv
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ITEMS, SLOTS = 10_000, 10
TARGETS = {"csv.DictReader": 25, "csv.reader": 20}

SCRIPT = '''
import csv, sys
lists, seen, observations, clicks = {}, set(), {}, {}
with open(sys.argv[2], newline="") as log:
    if sys.argv[1] == "csv.DictReader":
        for row in csv.DictReader(log):
            lists.setdefault(row["list_id"], []).append(
                (int(row["position"]), row["item"], int(row["click"])))
    else:
        rows = csv.reader(log)
        next(rows)
        for list_id, item, position, click in rows:
            lists.setdefault(list_id, []).append((int(position), item, int(click)))
for list_id, shown in lists.items():
    if list_id in seen:
        continue
    seen.add(list_id)
    shown.sort()
    for place, (position, item, click) in enumerate(shown, 1):
        if position != place:
            sys.exit(f"list {list_id} has no position {place}")
        observations[item] = observations.get(item, 0) + 1
        clicks[item] = clicks.get(item, 0) + click
        if click:
            break
print(len(lists), len(observations), sum(observations.values()), sum(clicks.values()))
'''


def write_log(path, rows):
    dice = random.Random(1)
    with open(path, "w", encoding="ascii") as log:
        log.write("list_id,item,position,click\n")
        for number in range(rows // SLOTS):
            for position, item in enumerate(dice.sample(range(ITEMS), SLOTS), 1):
                log.write(f"q{number:07d},item{item},{position},{int(dice.random() < 0.03)}\n")


def memory_of(pid):
    """The most memory so far, in MiB.  wait4() would count the memory of this script, which a child
    has until it begins the other program."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else 0


def run(command):
    """CPU seconds, the largest memory in MiB, and the output of a process."""
    memory = 0
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            memory = memory_of(process.pid) or memory
            time.sleep(0.002)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    if process.returncode != 0:
        sys.exit(f"logs.py: {command[0]} failed")
    return usage.ru_utime + usage.ru_stime, memory, text


def learn(oltr, folder, log):
    model = folder / "model.oltr"
    for file in folder.glob("model.oltr*"):
        file.unlink()
    subprocess.run([oltr, "model", "create", model, "--policy", "ts-beta", "-q"], check=True)
    seconds, memory, _ = run([oltr, "model", "learn", model, log])
    return seconds, memory, model


def sums_of(oltr, model):
    """As the script prints them."""
    table = subprocess.run([oltr, "model", "show", model, "--csv"], check=True, capture_output=True,
                           text=True).stdout
    rows = list(csv.DictReader(table.splitlines()))
    examined = [float(row["examined"]) for row in rows]
    return f"{sum(x > 0 for x in examined)} {sum(examined):.0f} {sum(float(r['reward']) for r in rows):.0f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oltr")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log, small = folder / "log.csv", folder / "small.csv"
        write_log(log, options.rows)
        write_log(small, options.rows // 10)
        ratios = {reader: [] for reader in TARGETS}
        mine = []
        for _ in range(options.repetitions):
            seconds, memory, model = learn(options.oltr, folder, log)
            mine.append(seconds)
            for reader in TARGETS:
                theirs, _, text = run([sys.executable, "-c", SCRIPT, reader, log])
                if text.split(maxsplit=1)[1].strip() != sums_of(options.oltr, model):
                    sys.exit(f"logs.py: the script has {text.strip()}, oltr other sums")
                ratios[reader].append(theirs / seconds)
        _, less, _ = learn(options.oltr, folder, small)
    print("| what | median | target | |\n|---|---|---|---|")
    for reader, values in ratios.items():
        ratio = statistics.median(values)
        missed = missed or ratio < TARGETS[reader]
        print(f"| {options.rows:,} impressions: Python with {reader} / oltr model learn | {ratio:.1f} | "
              f">= {TARGETS[reader]} | {'pass' if ratio >= TARGETS[reader] else '**MISS**'} |")
    print(f"| the command: ns a row | {1e9 * statistics.median(mine) / options.rows:.0f} | | |")
    print(f"| the command: MiB; for a tenth of the log | {memory:.0f}; {less:.0f} | | |")
    return options.strict and missed


if __name__ == "__main__":
    sys.exit(main())
