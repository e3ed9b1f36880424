# SPDX-License-Identifier: BSD-3-Clause
"""event_limits -- the limits that a change must not cross, and what was measured"""

TOLERANCE = 1.03
LEAST = 0.01  # of a figure whose limit is 0


def value(term, results):
    """WORKLOAD.FIGURE of Rearm, or ENGINE@WORKLOAD.FIGURE; None: it was not measured."""
    engine, _, rest = term.rpartition("@")
    workload, _, figure = rest.rpartition(".")
    return results.get((workload, engine or "rearm"), {}).get(figure)


def check(path, results, counted_only):
    """Prints each limit; True if one is missed by more than the tolerance, or was not measured."""
    failed = False
    print("\n%-52s %9s %9s" % ("limit on", "at most", "measured"))
    with open(path) as limits:
        for line in limits:
            words = line.split("#")[0].split()
            if not words or counted_only and "time-" in line:
                continue
            side, limit, terms = words[0], float(words[1]), words[2::2]
            values = [value(term, results) for term in terms]
            name = " ".join(words[2:])
            if None in values:
                print("%-52s %9g %9s  NOT MEASURED" % (name, limit, ""))
                failed = True
                continue
            got = values[0] if len(values) == 1 else values[0] / values[1]
            if side == "most":
                missed = got > max(limit * TOLERANCE, LEAST)
            else:
                missed = got < limit / TOLERANCE
            failed |= missed
            print("%-52s %9g %9.3f%s" % (name, limit, got, "  MISSED" if missed else ""))
    return failed
