# SPDX-License-Identifier: BSD-3-Clause
"""programs: dat/, dapl/ and softverbs/ with the test programs that judge them, and which test passes which line.

A mutant is one object.  It is linked into the test programs, or the libraries that they load, and is played to the
tests that pass its line when nothing is changed, the quickest first."""
import collections
import concurrent.futures
import functools
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mutants import span_of

WARNINGS = ("-Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wshadow "
            "-Wpointer-arith -Wwrite-strings -Wvla "
            "-Wno-maybe-uninitialized").split()  # at -O1 it warns of what is right
PROVIDERS = "dapl device endpoint contract upcall peer debug wild api stock".split()
# The programs of each area; those that judge it best come first.
AREAS = {"soft": ["soft"] + PROVIDERS, "dapl": PROVIDERS, "check": ["checker"], "dat": ["dat", "dat_dlopen"]}
FOLDERS = ("test/dapltest", "test/lib", "softverbs/test/unit", "softverbs/test/checker")
WHOLE = ("soft", "checker")  # linked with all that they test
NAMES_MAX = 200  # of one call of a program
CANCEL = re.compile(r"_UNCANCELLED|_CANCEL_POINT")
SLOW = 40  # seconds a test alone may take
LEAKS = "peer dapl wild device debug".split()  # in which make check looks for lost memory, too (test/personalities)
LEAKS_MAX = 60  # seconds of such tests


def digest(*paths):
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as f:
            total.update(f.read())
    return total.hexdigest()


def stretch():
    """How much longer than alone a process takes now."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (20, 22))  # who spins in a mutant spins for ever
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@functools.cache
def leak_library():
    """LeakSanitizer's; None without it."""
    if not shutil.which("gcc"):
        return None
    path = subprocess.run(["gcc", "-print-file-name=liblsan.so"], capture_output=True, text=True, check=True).stdout.strip()
    return os.path.realpath(path) if os.path.isabs(path) else None


def run(command, where, seconds, factor, trace=None, preload=None):
    """The status and the text of a command; the status is None when it took too long."""
    env = dict(os.environ, REARM_TEST_TIME_FACTOR=f"{factor:.2f}", CK_VERBOSITY="silent", LD_LIBRARY_PATH=where)
    if trace:
        env["MUTATE_TRACE"] = trace
    if preload:
        env["LD_PRELOAD"] = preload
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, env=env,
                             cwd=where, start_new_session=True, preexec_fn=limits)
        try:
            status = p.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
            p.send_signal(signal.SIGTERM)  # Check ends its running test
            try:
                p.wait(2)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        out.seek(0)
        return status, out.read()


class Programs:
    """The place where they are built: as they are, and with the blocks counted that they enter."""

    def __init__(self, area, top, build, cc, jobs, only=None):
        self.area, self.top, self.tree, self.where, self.cc, self.jobs = area, top, build, None, cc, jobs
        self.makefile = ""
        for folder in FOLDERS:
            with open(f"{top}/{folder}/Makefile.am") as f:
                self.makefile += f.read().replace("\\\n", " ")
        pkg = subprocess.run(["pkg-config", "--libs", "check"], capture_output=True, text=True, check=False)
        self.check = pkg.stdout.split() or "-lcheck -lsubunit -lm -lrt".split()
        rel = lambda pattern: sorted(os.path.relpath(p, top) for p in glob.glob(f"{top}/{pattern}"))
        check = rel("softverbs/check/*.c")
        soft = [p for p in rel("softverbs/*/*.c") if not p.startswith(("softverbs/run/", "softverbs/test/")) and p not in check]
        provider = rel("dapl/*/*.c") + rel("evd/*.c") + rel("evd/*/*.c") + rel("cno/*.c") + ["dat/debug.c", "dat/pin.c"]
        provider = [p for p in provider if p != "dapl/ia/cq_arm_verbs.c"]
        self.names = [n for n in AREAS[area] if not only or n in only]
        whole = {"soft": soft, "checker": soft + check}
        self.modules = {n: whole[n] + self.sources(n) for n in self.names if n in whole}
        if any(n not in WHOLE for n in self.names):
            self.modules |= {"libdat2.so.2": rel("dat/*.c")}
            if area != "dat":
                self.modules |= {"libdaplsoft.so.2": soft + provider,
                                 "libfault.so": soft + provider + rel("test/dapltest/fault/*.c")}
            self.modules |= {n: self.sources(n) for n in self.names if n not in WHOLE}
        self.files = {"soft": soft, "dapl": [p for p in provider if p.startswith("dapl/")], "check": check,
                      "dat": rel("dat/*.c")}[area]

    def sources(self, name):
        folder = {"soft": "softverbs/test/unit", "checker": "softverbs/test/checker"}.get(name, "test/dapltest")
        words = [f"{folder}/{p}" for p in self.value(f"test_{name}_SOURCES").split()]
        words += [f"test/lib/{p}" for p in self.value("librunner_la_SOURCES").split()]
        return [p for p in words if p.endswith(".c")]

    def value(self, variable, default=None):
        found = re.search(rf"^{variable} = (.*)$", self.makefile, re.M)
        return default if not found and default is not None else found.group(1)

    # ---- building ----

    def flags(self, path):
        top, soft = self.top, './libfault.so' if "/endpoint/" in path else './libdaplsoft.so.2'
        # As that of `#define _GNU_SOURCE`, which some files have.
        return ["-std=gnu11", "-fPIC", "-pthread", "-D_GNU_SOURCE=", "-iquote", f"{top}/{os.path.dirname(path)}"] + \
            [f"-I{d}" for d in (self.tree, top, f"{top}/dat/include", f"{top}/test/dapltest", f"{top}/test")] + \
            ['-DREARM_DAT_CONF="/nonexistent/dat.conf"', f'-DSOFT_PATH="{soft}"', '-DFAULT_PATH="./libfault.so"',
             f'-DERRNO_PAGE="{top}/doc/errno.md"', '-DDAT_PATH="./libdat2.so.2"',
             *(f'-DSTUB_{n.upper()}PATH="{self.tree}/test/dapltest/.libs/stub_{n or "provider"}.so"'.replace("_.so", ".so")
               for n in ("", "no_init_", "no_fini_", "lacking_")),
             f'-DREAL_PATH="{self.tree}/dapl/.libs/libdaplrearm.so.2"']

    def compile(self, tree, path, out, *flags):
        """In the tree's folder, so that equal code makes equal objects."""
        os.makedirs(os.path.dirname(out), exist_ok=True)
        return subprocess.run(self.cc + self.flags(path) + [*flags, "-c", path, "-o", out], cwd=tree,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def object(self, path, kind="-O1"):
        return os.path.join(self.where, kind, path[:-2].replace("..", "up") + ".o")

    def made_of(self, module):
        """dt.c knows where test-endpoint's device is: it has an object of its own there."""
        return [p if p != "test/dapltest/lib/dt.c" or module != "endpoint" else "test/dapltest/endpoint/../lib/dt.c"
                for p in self.modules[module]]

    def link(self, module, out, replaced=None, traced=False):
        """replaced: a source and its object."""
        objects = []
        for path in self.made_of(module):
            if replaced and replaced[0] == path:
                objects.append(replaced[1])
            else:
                objects.append(self.object(path, "traced" if traced and path in self.files else "-O1"))
        words = ["-pthread", *objects]
        if traced and set(self.files) & set(self.modules[module]):
            words.append(f"{self.where}/trace-{module}.o")
        if module == "libdat2.so.2":
            words += ["-shared", "-Wl,-soname,libdat2.so.2", f"-Wl,--version-script={self.top}/dat/libdat2.map"]
        elif module == "libdaplsoft.so.2":
            words += ["-shared", "-Wl,-soname,libdaplsoft.so.2", f"-Wl,--version-script={self.top}/dapl/dapl.map"]
        elif module == "libfault.so":
            words += ["-shared", "-Wl,-soname,libfault.so", *self.value("FAULT_WRAPS").split(),
                      f"-Wl,--version-script={self.top}/test/dapltest/fault/fault.map"]
        else:
            # test-stock has a registry of its own, which the provider finds in the program.
            libraries = [] if module in (*WHOLE, "stock", "dat_dlopen") else [f"{self.where}/plain/libdat2.so.2"]
            if "libfault.la" in self.value(f"test_{module}_LDADD") or module in ("contract", "api"):
                libraries.append(f"{self.where}/plain/libfault.so")
            words += [*self.value(f"test_{module}_LDFLAGS", "").split(), *libraries, *self.check]
        if module.startswith("lib") or module == "dat_dlopen":
            words += ["-ldl"]
        return subprocess.run(self.cc + words + ["-o", out], check=False).returncode == 0

    def build(self, where):
        self.where = where
        paths = {p for m in self.modules for p in self.made_of(m)}
        work = [(p, self.object(p), ("-O1", "-w")) for p in paths]
        work += [(p, self.object(p, "traced"), ("-O0", "-g", "-w", "-fsanitize-coverage=trace-pc"))
                 for p in self.files]
        work += [(p, self.object(p, "-O2"), ("-O2", "-w")) for p in self.files]
        trace = os.path.relpath(os.path.join(os.path.dirname(__file__), "trace.c"), self.top)
        work += [(trace, f"{self.where}/trace-{m}.o", ("-O1", f'-DMODULE="{m}"')) for m in self.modules]
        os.makedirs(f"{self.where}/plain", exist_ok=True)
        os.makedirs(f"{self.where}/tracing", exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            if not all(pool.map(lambda w: self.compile(self.top, w[0], w[1], *w[2]), work)):
                return False
        for module in sorted(self.modules, key=lambda m: not m.startswith("lib")):
            if not self.link(module, f"{self.where}/plain/{module}") or \
               not self.link(module, f"{self.where}/tracing/{module}", traced=True):
                return False
        return True

    def killers(self):
        """A digest of what judges."""
        paths = {p for module in self.modules.values() for p in module} - set(self.files)
        headers = [h for f in FOLDERS for h in glob.glob(f"{self.top}/{f}/**/*.h", recursive=True)]
        return digest(*sorted(os.path.join(self.top, p) for p in paths), *sorted(headers))[:12]

    # ---- which test passes which line ----

    def trace(self, file):
        """Runs each test once, but those that FILE knows; the seconds and the lines of each."""
        folder = {"check": "softverbs/check", "soft": "softverbs/[!t]*"}.get(self.area, self.area)
        sources = glob.glob(f"{self.top}/{folder}/**/*.[ch]", recursive=True)
        mark, known = digest(*sorted(sources)), {}
        if file and os.path.exists(file):
            with open(file) as f:
                kept = json.load(f)
            if kept["sources"] == mark:
                known = kept["tests"]
        tests = []
        for name in self.names:
            _, text = run([f"./{name}", "--list"], f"{self.where}/plain", 60, 1)
            tests += [f"{name} {line.split()[0]}" for line in text.splitlines() if line.strip()]
        new = [t for t in tests if t not in known]
        if new:
            print(f"mutate: tracing {len(new)} of {len(tests)} tests", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            traced = list(pool.map(self.trace_one, new))
        for test, entry in zip(new, self.resolve(traced)):
            known[test] = entry
        if file:
            with open(file + ".new", "w") as f:
                json.dump({"sources": mark, "tests": known}, f)
            os.rename(file + ".new", file)
        self.tests = {t: known[t][0] for t in tests if known[t][0] is not None}
        self.passed = {t: {f: set(lines) for f, lines in known[t][1].items()} for t in self.tests}
        left_out = [t for t in tests if known[t][0] is None]
        if left_out:
            print(f"mutate: {len(left_out)} tests fail or take long without a change: {', '.join(left_out[:9])}")

    def trace_one(self, test):
        program, name = test.split()
        with tempfile.TemporaryDirectory(dir=self.where) as scratch:
            at = time.monotonic()
            status, _ = run([f"./{program}", name], f"{self.where}/tracing", SLOW * stretch(), 2 * stretch(),
                            f"{scratch}/trace")
            seconds = (time.monotonic() - at) / stretch()
            found = []
            for module in self.modules:
                if os.path.exists(f"{scratch}/trace.{module}"):
                    with open(f"{scratch}/trace.{module}", "rb") as f:
                        found.append((module, [m.start() + i for m in re.finditer(rb"[^\0]+", f.read())
                                               for i in range(len(m.group()))]))
        return (seconds if status == 0 else None), found

    def resolve(self, traced):
        """The lines of the addresses, FILE -> [LINE]."""
        addresses = collections.defaultdict(set)
        for _, found in traced:
            for module, offsets in found:
                addresses[module].update(offsets)
        lines = {}
        for module, offsets in addresses.items():
            offsets = sorted(offsets)
            text = subprocess.run(["addr2line", "-e", f"{self.where}/tracing/{module}"],
                                  input="".join(f"{o - 1:#x}\n" for o in offsets), capture_output=True, text=True,
                                  check=True).stdout.splitlines()
            for offset, line in zip(offsets, text):
                match = re.match(r"(.*):(\d+)", line)
                if match:
                    path = os.path.normpath(os.path.join(self.top, match.group(1)))
                    lines[module, offset] = os.path.relpath(path, self.top), int(match.group(2))
        for seconds, found in traced:
            files = collections.defaultdict(set)
            for module, offsets in found:
                for offset in offsets:
                    if (module, offset) in lines:
                        path, line = lines[module, offset]
                        files[path].add(line)
            yield seconds, {path: sorted(at) for path, at in files.items()}

    @functools.cached_property
    def every_line(self):
        found = collections.defaultdict(set)
        for files in self.passed.values():
            for path, lines in files.items():
                found[path] |= lines
        return found

    def judges(self, path, n):
        """The tests that pass line n, the quickest first; then some that pass its function or, of a table, its file."""
        first, last = span_of(os.path.join(self.top, path), n - 1)
        inside = {line for line in self.every_line[path] if first < line <= last}
        here = max((line for line in inside if line <= n), default=None)
        quick = lambda tests: sorted(tests, key=lambda t: (self.names.index(t.split()[0]) > 0, self.tests[t]))
        if here is None:  # a table, which has no block
            return quick(t for t in self.tests if path in self.passed[t])
        near = [t for t in self.tests if here in self.passed[t].get(path, ())]
        far = [t for t in self.tests if inside & self.passed[t].get(path, set()) and t not in set(near)]
        return quick(near) + quick(far)[:40]


class Trial:
    """Tries mutants; remembers the objects, since several mutants may be the same code."""

    def __init__(self, programs, seconds):
        self.programs, self.seconds, self.seen = programs, seconds, {}

    def __call__(self, mutant):
        """'invalid', 'same', 'duplicate', 'survived', or what killed it."""
        with tempfile.TemporaryDirectory(dir=self.programs.where) as where:
            return self.tried(mutant, where)

    def object(self, mutant, where, *flags):
        path, n, _, _, after = mutant
        source, out = os.path.join(where, path), f"{where}/mutant{''.join(flags)}.o"
        if not os.path.exists(source):
            with open(os.path.join(self.programs.top, path)) as f:
                lines = f.read().split("\n")
            lines[n - 1] = after
            os.makedirs(os.path.dirname(source), exist_ok=True)
            with open(source, "w") as f:
                f.write("\n".join(lines))
        return out if self.programs.compile(where, path, out, *flags) else None

    def tried(self, mutant, where):
        programs, path = self.programs, mutant[0]
        control = mutant[2] == "control"
        out = self.object(mutant, where, "-O1", *WARNINGS)
        if not out:
            return "invalid"
        if not control and digest(out) == digest(programs.object(path)):
            return "same"
        if not control and self.seen.setdefault((path, digest(out)), mutant) is not mutant:
            return "duplicate"
        tests = programs.judges(path, mutant[1]) if not control else \
            sorted(programs.tests, key=programs.tests.get)[::7]
        made, left, size, spent = set(), list(tests), 2, 0
        while left and spent < self.seconds:
            batch, left, size = left[:size], left[size:], min(3 * size, NAMES_MAX)
            groups = collections.defaultdict(list)
            for test in batch:
                groups[test.split()[0]].append(test)
            for program, group in groups.items():
                if not self.prepare(program, path, out, where, made):
                    return "invalid"
                spent += sum(programs.tests[t] for t in group)
                killer = self.killer(program, group, where)
                if killer:
                    return killer
        if not control:
            best = self.object(mutant, where, "-O2", *WARNINGS)
            if best and digest(best) == digest(programs.object(path, "-O2")):
                return "same"
            if self.locks_complain(path, where):
                return "check-locks"
            if CANCEL.search(mutant[3]) and self.cancel_complains(path, where):
                return "check-cancel"
            if self.memory_is_lost([t for t in tests if t.split()[0] in LEAKS], path, out, where, made):
                return "LeakSanitizer"
        return "survived"

    def locks_complain(self, path, where):
        """What test/tree/check-locks says of the mutant; False without clang."""
        if not shutil.which("clang"):
            return False
        top, tree = self.programs.top, self.programs.tree
        words = ["-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE=", "-Wno-everything", "-Wthread-safety",
                 "-Werror=thread-safety", "-iquote", f"{top}/{os.path.dirname(path)}", f"-I{tree}", f"-I{top}",
                 f"-I{top}/dat/include"]
        return subprocess.run(["clang", *words, os.path.join(where, path)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode != 0

    def cancel_complains(self, path, where):
        """What test/tree/check-cancel says of a tree with the mutant; of sources, as it finds no objects there."""
        top, tree = self.programs.top, f"{where}/tree"
        for entry in ("configure.ac", "doc/locking.md", "test/common", "test/lib", "test/tree", "dapl", "softverbs", "dat",
                      "rearm"):
            os.makedirs(os.path.dirname(f"{tree}/{entry}"), exist_ok=True)
            if os.path.isfile(f"{top}/{entry}"):
                shutil.copy(f"{top}/{entry}", f"{tree}/{entry}")
            else:
                shutil.copytree(f"{top}/{entry}", f"{tree}/{entry}", ignore=shutil.ignore_patterns("*.o", ".libs"))
        check = [f"{tree}/test/tree/check-cancel"]
        quietly = {"env": dict(os.environ, SOURCE=tree, BUILD=tree), "stdout": subprocess.DEVNULL,
                   "stderr": subprocess.DEVNULL, "check": False}
        if subprocess.run(check, **quietly).returncode:
            sys.exit("mutate: test/tree/check-cancel is red without a change")
        shutil.copy(os.path.join(where, path), f"{tree}/{path}")
        return subprocess.run(check, **quietly).returncode != 0

    def memory_is_lost(self, tests, path, out, where, made):
        """Whether LeakSanitizer finds something at the end of one of the quickest tests."""
        if not leak_library():
            return False
        groups, spent = collections.defaultdict(list), 0
        for test in tests:
            spent += self.programs.tests[test]
            if spent < LEAKS_MAX:
                groups[test.split()[0]].append(test)
        for program, group in groups.items():
            for first in range(0, len(group), NAMES_MAX):
                if self.prepare(program, path, out, where, made) and \
                        self.killer(program, group[first:first + NAMES_MAX], where, leak_library()):
                    return True
        return False

    def prepare(self, program, path, out, where, made):
        """Links what the program needs, and has not got yet."""
        os.makedirs(f"{where}/bin", exist_ok=True)
        libraries = [] if program in WHOLE else [m for m in self.programs.modules if m.startswith("lib")]
        needed = [*libraries, program]
        for module in needed:
            if module in made:
                continue
            made.add(module)
            if path not in self.programs.modules[module]:
                os.symlink(f"{self.programs.where}/plain/{module}", f"{where}/bin/{module}")
            elif not self.programs.link(module, f"{where}/bin/{module}", (path, out)):
                return False
        return True

    def killer(self, program, tests, where, preload=None):
        """The test that fails, twice, as a busy machine alone must not kill; or None."""
        usual, names = sum(self.programs.tests[t] for t in tests), [t.split()[1] for t in tests]
        if preload:
            usual += 0.3 * len(tests)
        bin = f"{where}/bin"
        status, text = run([f"./{program}", *names], bin, 5 + 4 * stretch() * usual, 0.2 * stretch(), preload=preload)
        if status == 0:
            return None
        failed = re.findall(r"^failed: (\S+) of ", text, re.M)[:2]
        seconds = 10 + 12 * stretch() * usual if not failed else 30 * stretch()
        status, _ = run([f"./{program}", *(failed or names)], bin, seconds, 0.5 * stretch(), preload=preload)
        if status == 0:
            return None
        return f"{program} {failed[0].split(':')[0]}" if failed else f"{program} hang"
