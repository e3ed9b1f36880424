# SPDX-License-Identifier: BSD-3-Clause
"""mutants: the small wrong changes that mutate tries."""
import functools
import os
import re

SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
         "&&": "||", "||": "&&", "+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++",
         "true": "false", "false": "true"}
TOKEN = re.compile(r'''"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|0x[0-9a-fA-F]+[uUlL]*|\d+[uUlL]*
                   |->|\+\+|--|&&|\|\||==|!=|<=|>=|<<|>>|[-+*/%&|^]=|\S''', re.X)
STATEMENT = re.compile(r"^\s*(?:\(void\))?[A-Za-z_*(][^{}]*;$")
# What a function may return; other values are the same code, or do not compile.
RESULTS = [(re.compile(r"\bbool$"), ("false", "true")), (re.compile(r"\*$"), ("NULL",)),
           (re.compile(""), ("0", "-1", "1"))]
NAME = re.compile(r"^[A-Za-z_]\w*\(")
# Calls that may have their first two arguments exchanged, where the result is compared with 0.
EQUALS = re.compile(r"!(?:str|mem|strn)cmp\(|\b(?:str|mem|strn)cmp\([^()]*(?:\([^()]*\)[^()]*)*\) [!=]= 0\b")
# In the C libraries that there are.
RELEASES_NOTHING = re.compile(r"\s*(?:\(void\))?pthread_(?:mutex|cond|attr)_destroy\(")
# softverbs keeps no descriptor below 3 (soft_descriptors_keep()), so that 0 may count to either side.
KEEPS = re.compile(r"softverbs/(?:cm|control|device|qp|wire)/(?!descriptors\.c)")
KEPT = re.compile(r"\b(?:\w*fd|memory|waiters|place|ours|parent|file)(?:\(\))? (<|>=) 0\b")
DECLARATION = re.compile(r"^\s*(?:static |const |struct |enum |union |unsigned |uint\w* |int |bool |void |"
                         r"size_t |DAT_\w+ |typedef |extern |_Thread_local )")


def blank_comments(text):
    """The text with comments, and what the preprocessor sees, blanked: places stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:\\\n|.)*", blank, text, flags=re.M)


@functools.cache
def code_of(path):
    with open(path) as f:
        return blank_comments(f.read()).split("\n")


def span_of(path, n):
    """The first line of the function around line n, and the line behind it (from 0)."""
    lines = code_of(path)
    first = last = n
    while first > 0 and lines[first - 1] != "}":
        first -= 1
    while last < len(lines) - 1 and lines[last] != "}":
        last += 1
    return first, last + 1


def function_at(path, n):
    """Where the function around line n (from 0) begins, and its text without comments."""
    first, last = span_of(path, n)
    return first, "\n".join(line.rstrip() for line in code_of(path)[first:last] if line.strip())


def arguments(line, start):
    """The spans of the arguments of the call whose bracket opens at start, or None."""
    depth, begin, spans = 0, start + 1, []
    for i in range(start, len(line)):
        if line[i] in "([":
            depth += 1
        elif line[i] in ")]":
            depth -= 1
        if (depth == 0 or (depth == 1 and line[i] == ",")) and i > start:
            spans.append((begin, i))
            begin = i + 1
            if depth == 0:
                return spans
    return None


def mutants_of(top, path):
    """The mutants of a C file: (path, line from 1, kind, line before, line after)."""
    with open(os.path.join(top, path)) as f:
        original = f.read()
    raw, lines = original.split("\n"), blank_comments(original).split("\n")
    depth, found, results = 0, [], ()

    def add(n, what, after):
        if after != raw[n]:
            found.append((path, n + 1, what, raw[n], after))

    for n, line in enumerate(lines):
        inside = depth > 0
        if not inside and NAME.match(line) and n:
            results = next(values for type_, values in RESULTS if type_.search(lines[n - 1].strip()))
        depth += line.count("{") - line.count("}")
        if not inside or not line.strip():
            continue
        tokens = [(m.start(), m.group()) for m in TOKEN.finditer(line)]
        declares = DECLARATION.match(line) and "=" not in line
        kept = {at for m in KEPT.finditer(line) for at in (m.start(1), m.end() - 1)} if KEEPS.match(path) else ()
        for i, (at, token) in enumerate(tokens):
            put = lambda text: raw[n][:at] + text + raw[n][at + len(token):]
            spaced = line[at - 1:at] == " " and line[at + len(token):at + len(token) + 1] == " "
            if token in ("<", ">", "+", "-", "&&", "||") and not spaced:
                continue
            if token in SWAPS:
                if at not in kept:
                    add(n, "operator", put(SWAPS[token]))
                if token in ("<=", ">="):
                    add(n, "operator", put("=="))
            elif token == "!":
                add(n, "negation", put(""))
            elif re.fullmatch(r"\d+[uUlL]*", token) and not declares and at not in kept:
                value, suffix = re.fullmatch(r"(\d+)([uUlL]*)", token).groups()
                for other in {int(value) + 1, max(int(value) - 1, 0)} - {int(value)}:
                    add(n, "constant", put(f"{other}{suffix}"))
            elif token == "return" and i + 1 < len(tokens) and tokens[i + 1][1] != ";":
                value = line[at + 6:].strip().rstrip(";")
                if not line.rstrip().endswith(";"):
                    continue
                for other in results:
                    if other != value:
                        add(n, "result", raw[n][:at] + f"return {other};")
            elif token == "(" and i and re.fullmatch(r"[a-z_]\w*", tokens[i - 1][1]):
                spans = arguments(line, at)
                if tokens[i - 1][1] in ("if", "while"):
                    if spans and len(spans) == 1:
                        a, b = spans[0]
                        add(n, "condition", f"{raw[n][:a]}!({raw[n][a:b]}){raw[n][b:]}")
                elif spans and tokens[i - 1][1] not in ("for", "switch", "sizeof", "return"):
                    begin = tokens[i - 1][0]
                    equals = EQUALS.match(line, begin - (line[begin - 1] == "!"))
                    for (a, b), (c, d) in list(zip(spans, spans[1:]))[1 if equals else 0:]:
                        one, two = raw[n][a:b].strip(), raw[n][c:d].strip()
                        add(n, "arguments",
                            f"{raw[n][:a]}{' ' * (line[a] == ' ')}{two}, {one}{raw[n][d:]}")
        text = line.rstrip()
        whole = n == 0 or re.search(r"[;{}:)]\s*$|^\s*$|\belse$", lines[n - 1])
        if STATEMENT.match(text) and not DECLARATION.match(text) and whole and \
           not re.match(r"\s*(return|goto|else|if|for|while|case|default|do)\b", text) and \
           not RELEASES_NOTHING.match(text):
            add(n, "deletion", re.match(r"\s*", raw[n]).group() + ";")
    return found
