# SPDX-License-Identifier: BSD-3-Clause
"""event_limits -- the limits that a change must not cross, and what was measured"""

TOLERANCE = 1.03
LEAST = 0.02  # of a figure whose limit is 0: the begin and the end of a window


def value(term, results):
    """WORKLOAD.FIGURE of Rearm, or ENGINE@WORKLOAD.FIGURE; None: it was not measured."""
    engine, _, rest = term.rpartition("@")
    workload, _, figure = rest.rpartition(".")
    return results.get((workload, engine or "rearm"), {}).get(figure)


def read(path, results):
    """For each limit: what it is on, the limit, the value or None, and whether it is missed by more than the tolerance."""
    with open(path) as limits:
        for line in limits:
            words = line.split("#")[0].split()
            if not words:
                continue
            side, limit, terms = words[0], float(words[1]), words[2::2]
            if "before@" in line and not any(engine == "before" for _, engine in results):
                continue  # there is no other build tree
            values = [value(term, results) for term in terms]
            got = None if None in values else values[0] / values[1] if len(values) == 2 else values[0]
            if got is None:
                missed = True
            elif side == "most":
                missed = got > max(limit * TOLERANCE, LEAST)
            else:
                missed = got < limit / TOLERANCE
            yield " ".join(words[2:]), limit, got, missed


def missed_workloads(path, results):
    """The workloads of the limits that are missed."""
    return {term.rpartition("@")[2].rpartition(".")[0]
            for name, _, _, missed in read(path, results) if missed for term in name.split()[::2]}


def check(path, results, counted_only):
    """Prints each limit; True if one is missed, or was not measured."""
    failed = False
    print("\n%-58s %9s %9s" % ("limit on", "limit", "measured"))
    for name, limit, got, missed in read(path, results):
        if counted_only and "time-" in name:
            continue
        failed |= missed
        print("%-58s %9g %9s" % (name, limit, "" if got is None else "%.3f" % got) +
              ("  NOT MEASURED" if got is None else "  MISSED" if missed else ""))
    return failed
