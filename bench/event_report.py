# SPDX-License-Identifier: BSD-3-Clause
"""event_report -- what was measured, as lines on the terminal, and as tables and plots for the documentation"""
import collections
import sys


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
