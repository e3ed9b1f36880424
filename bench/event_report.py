# SPDX-License-Identifier: BSD-3-Clause
"""event_report -- what was measured, as lines on the terminal, and as tables and plots for doc/performance.md"""
import collections
import datetime
import os
import platform
import re
import subprocess
import sys

import event_limits
import event_plot

ENGINES = ["raw16", "raw1", "dapl", "rearm", "librearm"]
STREAMS = ["dequeue", "dequeue-merged", "dequeue-n-16", "dequeue-n-16-merged", "dequeue-bursts-16", "dequeue-bursts-1", "wait-backlog", "post-se", "post-recv",
           "post-send"]
UPCALLS = ["upcall-single", "upcall-single-merged", "upcall-array-16", "upcall-array-16-merged", "upcall-many", "upcall-single-idle-1", "upcall-single-idle-16",
           "upcall-many-idle-1", "upcall-notify-idle-1", "upcall-notify-idle-16", "switching-1", "switching-8",
           "switching-64", "switching-1000", "switching-private-1", "switching-8-merged"]
SLEEPS = ["wait", "cno-1", "cno-16", "cno-256"]
MANY = ["many-1", "many-100", "many-10000"]
CALLBACKS = ["callback-1", "callback-16", "callback-idle-1"]
PINGS = [("time-ping", "raw16"), ("time-ping", "dapl"), ("time-ping", "rearm"), ("time-ping", "rearm:spin=0"),
         ("time-ping", "librearm"), ("time-ping", "librearm:spin=0"),
         ("time-ping-spin", "raw16"), ("time-ping-eventfd", "raw16")]
RATES = [(workload, engine) for workload in ("time-dequeue", "time-wait-backlog", "time-post-recv") for engine in ENGINES]
RATES += [("time-connections", "raw16"), ("time-connections", "dapl"), ("time-connections", "rearm"),
         ("time-upcalls", "rearm"), ("time-upcalls", "rearm:loops=2"), ("time-stream", "raw16"),
         ("time-stream", "librearm")]


def print_head():
    print("%-26s %-6s %9s %9s %6s %6s %6s %6s %6s %7s" % ("workload", "engine", "own", "+device", "/dapl", "polls", "arms",
                                                         "reads", "calls", "futexes"))


def print_count(workload, engine, f):
    print("%-26s %-6s %9.1f %9.1f %6s %6.3f %6.3f %6.3f %6.2f %7.2f %s" %
          (workload, engine, f["own"], f["total"], "%.2f" % f["ratio"] if "ratio" in f else "", f["polls"], f["arms"],
           f["reads"], f["calls"], f["futexes"], "%.2f" % f["native"] if "native" in f else ""))
    sys.stdout.flush()


def print_cost(cost, by_function):
    groups = collections.Counter()
    for (obj, function), n in cost.items():
        groups[(obj, function) if by_function else (obj, "")] += n
    for (obj, function), n in groups.most_common(40):
        if n >= 0.05:
            print("    %8.1f  %s %s" % (n, obj, function))


def print_time(workload, engine, f):
    print("%-26s %-14s %s" % (workload, engine, "  ".join("%s %.4g" % (name, value) for name, value in f.items()
                                                        if name not in ("repeated", "events"))))
    sys.stdout.flush()


def device_cost(results):
    """What the device executed for a poll and for a completion, from two loops that differ in their batch; or None."""
    one, batch = (results.get(("dequeue", engine)) for engine in ("raw1", "raw16"))
    if not one or not batch:
        return None
    poll = (one["device"] - batch["device"]) / (one["polls"] - batch["polls"])
    return poll, one["device"] - poll * one["polls"]


def print_device(results):
    cost = device_cost(results)
    if cost:
        print("the device: %.0f instructions for a poll, %.0f for a completion" % cost)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def number(value, form="%.0f"):
    return "" if value is None else form % value


def streams(results):
    rows = []
    for workload in STREAMS:
        own = [results.get((workload, engine), {}).get("own") for engine in ENGINES]
        totals = [results.get((workload, engine), {}).get("total") for engine in ENGINES]
        ratio = results.get((workload, "rearm"), {}).get("ratio")
        rows.append(["`%s`" % workload] + ["" if a is None else "%.0f (%.0f)" % (a, b) for a, b in zip(own, totals)] +
                    [number(ratio, "%.2f")])
    return table(["own instructions (with the device)"] + ENGINES + ["Rearm / dapl"], rows)


def paths(results, workloads, engines):
    rows = []
    for workload in workloads:
        for engine in engines:
            f = results.get((workload, engine))
            if f:
                rows.append(["`%s`" % workload, engine] +
                            [number(f[name], form) for name, form in
                             (("own", "%.0f"), ("total", "%.0f"), ("polls", "%.2f"), ("arms", "%.2f"), ("reads", "%.2f"),
                              ("calls", "%.2f"), ("futexes", "%.2f"))] + [number(f.get("ratio"), "%.2f")])
    return table(["", "engine", "own", "with the device", "polls", "arms", "reads", "system calls", "futexes", "/ dapl"], rows)


def memory(results):
    rows = []
    for workload, engine in (("idle-1000", "dapl"), ("idle-1000", "rearm"), ("idle-upcalls-10000", "rearm")):
        f = results.get((workload, engine))
        if f and "held" in f:
            rows.append(["`%s`" % workload, engine, "%.0f" % f["held"], "%.0f" % f["held-resident"],
                         "%.0f" % f["descriptors"]])
    return table(["EVDs of length 64", "engine", "bytes allocated, each", "bytes resident, each", "descriptors, all"], rows)


def times(results):
    rows = []
    for key in PINGS:
        f = results.get(key)
        if f:
            rows.append(["`%s`" % key[0], key[1]] + ["%.1f" % (f[name] / 1000) for name in ("p50", "p90", "p99")] +
                        ["%.0f" % f["rate"], number(f.get("p50-ratio"), "%.2f")])
    return table(["round trip, microseconds", "engine", "p50", "p90", "p99", "events a second", "p50 / dapl"], rows)


def rates(results):
    rows = [["`%s`" % key[0], key[1], "%.0f" % results[key]["rate"], number(results[key].get("rate-ratio"), "%.2f")]
            for key in RATES if key in results]
    return table(["", "engine", "a second", "/ dapl"], rows)


def limits(results, path):
    rows = [["`%s`" % name, "%g" % limit, number(got, "%.2f"), "" if got is None else "no" if missed else "yes"]
            for name, limit, got, missed in event_limits.read(path, results)]
    return table(["figure", "limit", "measured", "met"], rows)


def plots(folder, results):
    def figures(workloads, engines, name):
        return {(w, e): results.get((w, e), {}).get(name) for w in workloads for e in engines}

    event_plot.bars(folder + "/performance-streams.svg", "A stream of events", "instructions an event, with the device",
                    STREAMS, ENGINES, figures(STREAMS, ENGINES, "total"))
    event_plot.bars(folder + "/performance-sleeps.svg", "A consumer that sleeps", "instructions an event, with the device",
                    SLEEPS, ENGINES, figures(SLEEPS, ENGINES, "total"))
    event_plot.bars(folder + "/performance-upcalls.svg", "Upcalls of Rearm", "instructions an event, with the device",
                    UPCALLS, ["rearm"], figures(UPCALLS, ["rearm"], "total"))
    names = ["%s %s" % key for key in PINGS]
    values = {(name, part): results[key][part] / 1000 for name, key in zip(names, PINGS) for part in ("p50", "p90")
              if key in results}
    event_plot.bars(folder + "/performance-ping.svg", "Ping-pong of two threads", "microseconds for a round trip",
                    names, ["p50", "p90"], values)


def write(page, folder, results, limits_file):
    """Writes the page into the folder with new tables between its marks, and the plots."""
    commit = subprocess.run(["git", "-C", os.path.dirname(page), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    tables = {
        "run": "%s, commit %s, Linux %s, %d processors\n" % (datetime.date.today(), commit.stdout.strip() or "unknown",
                                                            platform.release(), len(os.sched_getaffinity(0))),
        "streams": streams(results),
        "sleeps": paths(results, SLEEPS, ENGINES),
        "upcalls": paths(results, UPCALLS, ["rearm"]),
        "callbacks": paths(results, CALLBACKS, ["librearm"]),
        "many": paths(results, MANY, ["raw16", "rearm"]),
        "memory": memory(results),
        "times": times(results),
        "rates": rates(results),
        "limits": limits(results, limits_file),
    }
    with open(page) as old:
        text = old.read()
    for name, content in tables.items():
        text, n = re.subn(r"(<!-- table %s -->\n).*?(<!-- end -->)" % name, lambda m: m[1] + content + m[2], text, flags=re.S)
        if n != 1:
            raise ValueError("%s: no marks for the table %s" % (page, name))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, os.path.basename(page)), "w") as new:
        new.write(text)
    plots(folder, results)
