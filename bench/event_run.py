# SPDX-License-Identifier: BSD-3-Clause
"""event_run -- runs event-engine: one workload of one engine, counted under callgrind or timed alone"""
import collections
import glob
import json
import os
import re
import subprocess

# The device: softverbs, and of the fake device what the engine calls.  The rest of that is what completes requests, and
# belongs to the consumer, as does the program.  All other objects are the engine.
SOFTVERBS = ("libsoftverbs.so", "libibverbs.so.1", "librdmacm.so.1")
DATA_PATH = ("device_poll", "device_arm", "device_post_send", "device_post_recv", "ibv_get_cq_event", "ibv_ack_cq_events")

SPIN = "50"  # microseconds that a wait of librearm spins at most; that of the provider does, too

MARK_BEGIN = 0x424501  # as events/measure.c has it

# A thread of softverbs, which runs its timers.  What it does depends on the time that a run takes, and is no work of
# the engine, nor is what it calls in the C library.
DEVICE_THREAD = ("libsoftverbs.so", "progress_run")

# The begin of a system call, in the trace of valgrind and in that of strace: its thread, its number or name, and its
# first argument.
VALGRIND_CALL = re.compile(r"SYSCALL\[\d+,\s*(\d+)\]\(\s*(\d+)\) +(?!\.\.\. \[async\])\w+ ?\( ?(\w*)")
STRACE_CALL = re.compile(r"(\d+) +(\w+)\((\w*)")
GETPGID, FUTEX, CLOCK_GETTIME = "121", "202", "228"


def owner(obj, function):
    if obj in SOFTVERBS or obj == "libbenchdevice.so" and function in DATA_PATH:
        return "device"
    return "consumer" if obj in ("libbenchdevice.so", "event-engine") else "engine"


def count_instructions(path):
    """Reads a profile of callgrind without compressed names: {(object, function): instructions}."""
    cost = collections.Counter()
    obj = function = ""
    of_callee = False
    with open(path) as profile:
        for line in profile:
            if line.startswith("ob="):
                obj = os.path.basename(line[3:].strip())
            elif line.startswith("fn="):
                function = line[3:].strip().split("'")[0]
            elif line.startswith("calls="):
                of_callee = True  # the next line is what the callee cost
            elif line[0].isdigit():
                if not of_callee:
                    cost[obj, function] += int(line.split()[1])
                of_callee = False
    return cost


def profiles(path):
    """Of all threads.  The number tells them from those of a workload whose name begins with this one's."""
    return [name for name in glob.glob(glob.escape(path) + "-*") if name[len(path) + 1:].isdigit()]


def count_threads(path):
    """The same for the profiles PATH-THREAD of all threads but those of the device; and the numbers of these."""
    total, of_device = collections.Counter(), set()
    for name in profiles(path):
        cost = count_instructions(name)
        if DEVICE_THREAD in cost:
            of_device.add(int(name.rsplit("-", 1)[1]))
        else:
            total += cost
    return total, of_device


def count_calls(path, begin, without=()):
    """Reads a trace: the system calls between the marks, but for those of the threads `without`."""
    calls = collections.Counter()
    inside = False
    with open(path) as trace:
        for line in trace:
            call = begin.match(line)
            if call and call[2] in ("getpgid", GETPGID):
                inside = call[3] == str(MARK_BEGIN)
            elif call and inside and int(call[1]) not in without:
                calls[call[2]] += 1
    return calls


class Failed(Exception):
    pass


class Setting:
    """Which libraries are measured: those of a build tree, and Debian's."""

    def __init__(self, build, programs, before, timeout):
        self.build = os.path.realpath(build)
        self.engine = os.path.realpath(programs) + "/bench/event-engine"
        self.run = self.build + "/softverbs/run/softverbs-run"
        self.work = os.path.realpath(programs) + "/bench/work-events"
        self.before = before and os.path.realpath(before)
        self.timeout = timeout
        self.known = {}
        os.makedirs(self.work, exist_ok=True)
        self.debian = self.find_debian()
        self.check()

    def find_debian(self):
        """A folder with nothing but Debian's libdat2.so.2; None: there is none."""
        cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
        found = re.search(r"libdat2\.so\.2 .*=> (\S+)", cache)
        if not found or "libdaplofa.so.2" not in cache:
            return None
        folder = self.work + "/debian"
        os.makedirs(folder, exist_ok=True)
        if os.path.lexists(folder + "/libdat2.so.2"):
            os.remove(folder + "/libdat2.so.2")
        os.symlink(found[1], folder + "/libdat2.so.2")
        return folder

    def check(self):
        """Debian's dapl must run under Debian's libdat2; the run path of the program has ours."""
        if self.debian:
            loaded = subprocess.run([self.run, "ldd", self.engine], env=self.environment("dapl"), capture_output=True,
                                    text=True).stdout
            if self.debian + "/libdat2.so.2" not in loaded:
                raise Failed("dapl would run under another libdat2:\n" + loaded)

    def environment(self, engine):
        """The environment of an engine; "rearm:WORD" has a word more in the parameters of the adapter,
        and "librearm:spin=N" spins as long as it says."""
        name, _, word = engine.partition(":")
        build = self.before if name == "before" else self.build
        env = dict(os.environ, LD_BIND_NOW="1", LD_LIBRARY_PATH="%s/dat/.libs:%s/rearm/.libs" % (build, build))
        if name in ("rearm", "before"):
            line = "%s/dapl/.libs/libdaplrearm.so.2 rearm.2.0" % build
        elif name == "dapl":
            line = "libdaplofa.so.2 dapl.2.0"
            env["LD_LIBRARY_PATH"] = self.debian
        elif name == "librearm":
            env["BENCH_SPIN"] = word.partition("spin=")[2] or SPIN
            return env
        else:
            return env
        env["DAT_OVERRIDE"] = "%s/%s.conf" % (self.work, engine)
        with open(env["DAT_OVERRIDE"], "w") as conf:
            conf.write('bench u2.0 nonthreadsafe default %s "%s" ""\n' % (line, " ".join(["lo 0", word]).strip()))
        return env

    def start(self, engine, workload, *before):
        """Runs it; `before` is what comes before the program: valgrind, strace."""
        name = engine.partition(":")[0]
        driver = name if name == "librearm" or name.startswith("raw") else "dat"
        try:
            done = subprocess.run([self.run, *before, self.engine, driver, workload], env=self.environment(engine),
                                  capture_output=True, text=True, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise Failed("not done after %g s" % self.timeout)
        said = re.findall(r"^\{.*\}$", done.stdout, re.M)
        if done.returncode or not said:
            raise Failed((done.stderr.strip() or "status %d" % done.returncode).splitlines()[-1])
        return json.loads(said[-1])

    def workloads(self):
        """{workload: its engines}; "before" is Rearm of another build tree."""
        done = subprocess.run([self.run, self.engine, "list"], env=self.environment("raw16"), capture_output=True, text=True)
        if done.returncode:
            raise Failed("%s list: %s" % (self.engine, done.stderr))
        listed = {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines())}
        for engines in listed.values():
            if not self.debian and "dapl" in engines:
                engines.remove("dapl")
            if self.before and "rearm" in engines:
                engines.append("before")
        return listed

    def knows(self, engine):
        """Whether the provider of a variant, "rearm:WORD", accepts the word."""
        if engine.startswith("librearm"):
            return True
        if engine not in self.known:
            try:
                self.known[engine] = bool(self.start(engine, "time-open"))
            except Failed:
                self.known[engine] = False
        return self.known[engine]

    def without_spinning(self, engine):
        """The variant to count: how often a thread polls while it spins depends on the time."""
        return engine + ":spin=0" if engine in ("rearm", "before", "librearm") and self.knows(engine + ":spin=0") else engine

    def count(self, engine, workload, strace=False):
        """Instructions, system calls and what the device saw, each for one event; and the profile."""
        engine = self.without_spinning(engine)
        profile, trace = ("%s/%s.%s.%s" % (self.work, kind, engine, workload) for kind in ("callgrind", "calls"))
        for old in profiles(profile) + glob.glob(glob.escape(trace)):
            os.remove(old)
        result = self.start(engine, workload, "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no",
                            "--compress-strings=no", "--compress-pos=no", "--separate-threads=yes",
                            "--callgrind-out-file=" + profile,
                            "--trace-syscalls=yes", "--log-file=" + trace)
        events = result["events"]
        counted, of_device = count_threads(profile)
        cost = {key: n / events for key, n in counted.items()}
        parts = collections.Counter()
        for key, n in cost.items():
            parts[owner(*key)] += n
        figures = {"own": parts["engine"], "device": parts["device"], "total": parts["engine"] + parts["device"]}
        for name in "polls", "arms", "raised", "reads", "acks", "posts":
            figures[name] = result[name] / events
        # Valgrind makes a system call of clock_gettime(), which is none.
        calls = count_calls(trace, VALGRIND_CALL, of_device)
        figures["futexes"] = calls[FUTEX] / events
        figures["calls"] = (sum(calls.values()) - calls[FUTEX] - calls[CLOCK_GETTIME] - result["device_calls"]) / events
        figures["syscalls"] = figures["calls"] + figures["futexes"]
        if strace:
            result = self.start(engine, workload, "strace", "-f", "-qq", "-o", trace)
            calls = count_calls(trace, STRACE_CALL)
            figures["native"] = (sum(calls.values()) - result["device_calls"]) / result["events"]
        return figures, cost

    def time(self, engine, workload):
        """What event-engine itself has measured: rates, times, memory."""
        result = self.start(engine, workload)
        return {name: value for name, value in result.items()
                if name not in ("engine", "workload", "polls", "empty_polls", "completions", "arms", "raised", "reads",
                                "acks", "posts", "device_calls")}
