# SPDX-License-Identifier: BSD-3-Clause
# rearm.awk: the manual pages of section 3 of librearm, from its header.
#
#	awk -v out=DIRECTORY -v date=DATE -v examples=FILE -f text.awk -f rearm.awk thread-safety.md rearm.h
#
# Each call that the header declares gets a page, from the comment before it; rearm.h(3) is the comment at the head.  A
# comment consists of
#
#	text				paragraphs; the first sentence is the line of NAME
#	`NAME`, `NAME`	text		arguments; for one that a call does not describe, the comment at the head counts,
#					or else that of a type or of the nearest call before it
#	VALUE, VALUE	text		what it returns
#
# A page shows the types that its call takes, and the parts of the example that make the call.

FNR == 1 { file = FILENAME; sub(/.*\//, "", file); state = "code"; comment = "" }

file == "thread-safety.md" {
  if (/^\| `rearm_/) {
    split($0, column, /[ \t]*\|[ \t]*/)
    rest = column[2]
    while (match(rest, /rearm_[a-z_]+/)) {
      name = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
      threads[name] = column[3]; upcall[name] = column[4]; signal[name] = column[5]; note[name] = column[6]
    }
  }
  next
}

# ---- the header ----

state == "code" && /^\/\*/ {
  if (/SPDX|^\/\* ----/) next
  state = "comment"; comment = ""
  sub(/^\/\*/, "")
}
state == "comment" {
  line = $0
  ended = sub(/[ \t]*\*\/.*$/, "", line)
  sub(/^ \* ?/, "", line)
  if (line != "" || comment != "") comment = comment line "\n"
  if (ended) {
    state = "code"
    sub(/^[ \n]+/, "", comment)
    if (head == "") { head = comment; sub(/its comment says/, "its page says", head); comment = "" }
  }
  next
}
state == "code" && /^((struct|enum) [a-z_]+ \{|typedef )/ {
  state = "type"; type = ""
  name = /^typedef/ ? $0 : $2
  if (/^typedef/) { sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
  types[++n_types] = name; type_said[name] = comment
  comment = ""
}
state == "type" {
  type = type expanded($0) "\n"
  if (/;[ \t]*$/ && (type ~ /^typedef/ || /^\}/)) { state = "code"; type_text[name] = type }
  next
}
/^#define REARM_[A-Z]+ [0-9]/ { types[++n_types] = $2; type_text[$2] = $0 "\n"; comment = "" }
state == "code" && /^[a-z].*[ *]rearm_[a-z_]+\(/ { state = "declaration"; declaration = "" }
state == "declaration" {
  declaration = declaration " " $0
  if (/;[ \t]*$/) {
    state = "code"
    sub(/;.*/, "", declaration); gsub(/[ \t]+/, " ", declaration); gsub(/^ | $/, "", declaration)
    name = declaration; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
    call[++calls] = name; prototype[name] = declaration; said[name] = comment; xref[name] = 3
    comment = ""
  }
}

# Without tabs; a step of the indentation is 4 columns.
function expanded(line,   at) {
  while (at = index(line, "\t")) line = substr(line, 1, at - 1) sprintf("%" (8 - (at - 1) % 8) "s", "") substr(line, at + 1)
  sub(/^        /, "    ", line)
  return line
}

# The line of NAME: the first part of the first sentence.
function about(name,   text) {
  text = name_line(said[name]); sub(/, (and|or) .*/, "", text)
  return text
}

# ---- the parts of a comment ----

# Sets arg_text[], code_term[] and code_text[], and writes the rest if `write`.
function parts(comment, write,   n, i, line, text, term) {
  codes = 0; items = 0; text = ""; began = 0
  n = split(comment "\n", line, "\n")
  for (i = 1; i <= n; i++) {
    if (line[i] ~ /^\t[^ \t]/) {
      paragraph(text, write); text = ""
      term = substr(line[i], 2); item_text[++items] = ""
      if (match(term, /(\t|  ).*/)) { item_text[items] = substr(term, RSTART); term = substr(term, 1, RSTART - 1) }
      item[items] = term
    } else if (line[i] ~ /^[ \t]+[^ \t]/ && items)
      item_text[items] = item_text[items] " " line[i]
    else {
      if (items) end_of_items()
      if (line[i] == "") { paragraph(text, write); text = "" }
      else text = text " " line[i]
    }
  }
}

function paragraph(text, write) {
  sub(/^[ \t]+/, "", text)
  if (text == "" || !write) return
  if (began) put(".Pp")
  words(text)
  began = 1
}

function end_of_items(   i, n, name) {
  for (i = 1; i <= items; i++) {
    gsub(/[ \t]+/, " ", item_text[i]); sub(/^ /, "", item_text[i])
    if (item[i] ~ /^`/) {
      gsub(/[`,]/, " ", item[i])
      n = split(item[i], name, " ")
      while (n > 0) arg_text[name[n--]] = item_text[i]
    } else { code_term[++codes] = item[i]; code_text[codes] = item_text[i] }
  }
  items = 0
}

# ---- the pages ----

# The type of an argument, or of what a call returns, and its name.
function split_argument(text) {
  sub(/^ +/, "", text)
  match(text, /[a-z_0-9]+$/)
  argument = substr(text, RSTART)
}

function synopsis(name,   text, n, i, a, type) {
  text = prototype[name]
  type = text; sub(/ ?\**rearm_[a-z_]+\(.*/, "", type); if (text ~ /\*rearm_[a-z_]+\(/) type = type " *"
  put(".Ft " quoted(type))
  put(".Fo " name)
  sub(/^[^(]*\(/, "", text); sub(/\) *$/, "", text)
  n = split(text, a, /, */)
  for (i = 1; i <= n; i++) put(".Fa " quoted(a[i]))
  put(".Fc")
}

function write_arguments(name,   text, n, i, a, key) {
  for (key in arg_text) delete arg_text[key]
  for (i = 1; i <= n_types; i++) parts(type_said[types[i]], 0)
  for (i = 1; i <= calls && call[i] != name; i++) parts(said[call[i]], 0)
  parts(head, 0); parts(said[name], 0)
  text = prototype[name]; sub(/^[^(]*\(/, "", text); sub(/\) *$/, "", text)
  n = split(text, a, /, */)
  if (text == "void") return
  put(".Sh PARAMETERS")
  put(".Bl -tag -width Ds")
  for (i = 1; i <= n; i++) { split_argument(a[i]); put(".It Fa " argument); words(arg_text[argument]) }
  put(".El")
}

function write_codes(name,   i, n, word, j, all) {
  put(".Sh RETURN VALUES")
  if (!codes) {
    words(prototype[name] ~ /^void / ? "It returns nothing." : said[name])
    return
  }
  put(".Bl -tag -width Ds")
  for (i = 1; i <= codes; i++) {
    if (code_term[i] ~ /^(0, )?-E/) {
      n = split(code_term[i], word, /, */)
      all = ""
      for (j = 1; j <= n; j++) all = all (j > 1 ? " , " : " ") (word[j] == "0" ? "No 0" : "Er " word[j])
      put(".It" all)
    } else
      put(".It " quoted(code_term[i]))
    words(code_text[i])
  }
  put(".El")
}

# The types of a declaration or of another type, once each, those that they need behind them.
function want_types(text,   i, name) {
  for (i = 1; i <= n_types; i++) {
    name = types[i]
    if (!(name in wanted) && text ~ ("(^|[^a-z_A-Z])" name "([^a-z_A-Z]|$)")) {
      wanted[name] = 1
      want_types(type_text[name] type_said[name])
    }
  }
}

function write_types(text,   i, k, name, any) {
  for (name in wanted) delete wanted[name]
  want_types(text)
  for (i = 1; i <= n_types; i++) {
    name = types[i]
    if (!(name in wanted)) continue
    if (!any++) put(".Ss Types")
    for (k in arg_text) delete arg_text[k]
    began = 0
    parts(type_said[name], 1)
    literal(type_text[name])
    write_fields(name)
  }
}

# The arguments of a function of the program, in their order.
function write_fields(name,   text, n, i, a) {
  text = type_text[name]
  if (text !~ /^typedef/) return
  gsub(/\n/, " ", text); sub(/^[^(]*\(/, "", text); sub(/\)[^)]*$/, "", text)
  n = split(text, a, /, */)
  put(".Bl -tag -width Ds")
  for (i = 1; i <= n; i++) { split_argument(a[i]); put(".It Fa " argument); words(arg_text[argument]) }
  put(".El")
}

function write_threads(name,   text) {
  text = head; sub(/^.*\nAny thread/, "Any thread", text); sub(/\n\n.*/, "", text);
  gsub(/\n/, " ", text); sub(/\. .*/, ".", text)
  put(".Sh THREAD SAFETY")
  words(text)
  if (name in threads) {
    put(".Bl -tag -width Ds")
    put(".It On one object\\&:"); words(threads[name] (note[name] == "" ? "." : "; " note[name] "."))
    put(".It \\&In a callback\\&:"); words(upcall[name] ".")
    put(".It \\&In a signal handler\\&:"); words(signal[name] ".")
    put(".El")
  }
}

# The parts of the example that make the call, behind the structures and functions that they use.
function write_example(name,   i, k, all, used, key) {
  for (i = 1; i <= chunks; i++)
    if (chunk[i] ~ ("[^a-z_]" name "[^a-z_]")) used[i] = 1
  for (i = chunks; i > 1; i--)
    if (i in used)
      for (k = 1; k < i; k++)
        if (match(chunk[k], /\n[a-z_]+\(/) && chunk[i] ~ ("[^a-z_]" substr(chunk[k], RSTART + 1, RLENGTH - 2) "[^a-z_]")) used[k] = 1
  for (i = 1; i <= chunks; i++)
    if (i in used)
      for (k = 1; k <= chunks; k++)
        if (match(chunk[k], /(^|\n)struct [a-z_]+ \{/)) {
          key = substr(chunk[k], RSTART, RLENGTH - 2); sub(/^\n/, "", key)
          if (index(chunk[i], key " ")) used[k] = 1
        }
  for (i = 1; i <= chunks; i++) if (i in used) all = all (all == "" ? "" : "\n") chunk[i]
  if (all == "") return
  put(".Sh EXAMPLES")
  literal(all)
}

function read_example(path,   line, shown, text) {
  while ((getline line < path) > 0) {
    if (line ~ /^#include/) { shown = 1; text = ""; continue }
    if (!shown || (text == "" && line == "")) continue
    text = text line "\n"
    if (line ~ /^\}/) { chunk[++chunks] = text; text = "" }
  }
  close(path)
}

function references(text, list, own,   name) {
  while (match(text, /rearm_[a-z_]+\(/)) {
    name = substr(text, RSTART, RLENGTH - 1); text = substr(text, RSTART + RLENGTH)
    if ((name in xref) && name != own && !index(" " list " ", " " name " ")) list = list " " name
  }
  return list
}

function library() {
  put(".Sh LIBRARY")
  put("librearm; the flags of the compiler are those of")
  put(".Ql pkg-config --cflags --libs rearm")
}

function call_page(name) {
  begin_page(name, 3, "Generated from rearm/rearm.h.")
  put(".Sh NAME")
  put(".Nm " name)
  put(".Nd " about(name))
  library()
  put(".Sh SYNOPSIS")
  put(".In rearm/rearm.h")
  synopsis(name)
  put(".Sh DESCRIPTION")
  in_parameters = 1
  parts(said[name], 1)
  write_types(prototype[name])
  write_arguments(name)
  write_codes(name)
  write_threads(name)
  write_example(name)
  see_also(references(said[name], "rearm rearm.h rearm_upcalls", name))
  end_page(name, 3)
}

function head_page(   title, text, i) {
  title = head; sub(/\n.*/, "", title); sub(/^[^ ]+ -- /, "", title)
  text = head; sub(/^[^\n]*\n+/, "", text)
  begin_page("rearm.h", 3, "Generated from rearm/rearm.h.")
  put(".Sh NAME")
  put(".Nm rearm.h")
  put(".Nd " title)
  library()
  put(".Sh SYNOPSIS")
  put(".In rearm/rearm.h")
  put(".Sh DESCRIPTION")
  in_parameters = 1
  parts(text, 1)
  put(".Ss Calls")
  put(".Bl -tag -width Ds")
  for (i = 1; i <= calls; i++) { put(".It Xr " call[i] " 3"); words(about(call[i])) }
  put(".El")
  for (i = 1; i <= n_types; i++) title = title " " types[i]
  write_types(title)
  see_also(references("", "rearm rearm_upcalls", ""))
  end_page("rearm.h", 3)
}

END {
  xref["rearm"] = xref["rearm_upcalls"] = 7; xref["rearm.h"] = 3
  read_example(examples)
  head_page()
  for (i = 1; i <= calls; i++) call_page(call[i])
}
