# SPDX-License-Identifier: BSD-3-Clause
# pages.awk: the manual pages of section 3, from the public headers.
#
#	awk -v out=DIRECTORY -v date=DATE -v examples=DIRECTORY -f text.awk -f pages.awk \
#		dat_error.h thread-safety.md HEADER...
#
# dat_error.h has the names of return codes, thread-safety.md what a call does when several threads make it.
# Each call that a header declares gets a page, from the comment before it.  A comment consists of
#
#	text				paragraphs; the first sentence is the line of NAME
#	`NAME`, `NAME`	text		arguments; those of the comment at the head count for each call of
#					the header, unless the call has its own
#	TYPE/SUBTYPE	text		return codes
#	Threads: ...  From: ...		the last paragraph
#
# The comment at the head of a header is a page, too, with the calls of the header and an example from
# `examples`, a file with the name of the header but for dat_, dat_api_ and .h.  A page of a call has the
# example, too, if the example makes the call; if not, that of another header which makes it.  One comment may describe several macros: their names are
# links to the page of the first one.

FNR == 1 {
  file = FILENAME; sub(/.*\//, "", file)
  state = "code"; head_seen = 0; comment = ""
}

# ---- the names of subtypes, and the table of thread-safety.md ----

file == "dat_error.h" && /^[ \t]*DAT_[A-Z_0-9]+ = 0x/ { constant[$1] = 1 }
BEGIN { constant["DAT_TRUE"] = constant["DAT_FALSE"] = 1 }

file == "thread-safety.md" {
  if (/^\| `dat/) {
    split($0, column, /[ \t]*\|[ \t]*/)
    rest = column[2]
    while (match(rest, /dats?_[a-z_0-9]+/)) {
      name = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
      threads[name] = column[3]; upcall[name] = column[4]; signal[name] = column[5]; note[name] = column[6]
    }
  }
  next
}

# ---- the headers: comments, and what follows them ----

state == "code" && /^\/\*/ {
  if (/SPDX/) next
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
    if (!head_seen) { head_seen = 1; header[++heads] = file; head[file] = comment; comment = "" }
  }
  next
}
# The types of an event, as they are declared.
/^typedef (struct|union) dat_(.*_event_data|event|event_data|sp_handle) \{/ { in_structure = 1 }
in_structure {
  line = $0; sub(/[ \t]*\/\*.*\*\//, "", line); sub(/^\t/, "    ", line)
  structures[file] = structures[file] line "\n"
  if (/^\}/) { in_structure = 0; structures[file] = structures[file] "\n" }
  next
}
/^[A-Za-z_ *]+ DAT_API dats?_/ { state = "declaration"; declaration = "" }
/^static inline / { state = "declaration"; declaration = "" }
state == "declaration" {
  declaration = declaration " " $0
  if (/;[ \t]*$/ || /^[{]/) {
    state = "code"
    sub(/[;{].*/, "", declaration); sub(/^ *static inline/, "", declaration); sub(/ DAT_API /, " ", declaration)
    gsub(/[ \t]+/, " ", declaration); gsub(/^ | $/, "", declaration)
    name = declaration; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
    new_call(name, declaration)
    comment = ""
  }
  next
}
/^#define dat_[a-z_]+\(/ {
  name = $2; sub(/\(.*/, "", name)
  takes = $0
  while (takes !~ /\)/) { getline; takes = takes $0 }
  sub(/^[^(]*\(/, "", takes); sub(/\).*/, "", takes); gsub(/[ \t\\]+/, " ", takes)
  macro_takes[name] = takes
  if (comment != "") new_call(name, "")
  else { alias[name] = call[calls]; also[call[calls]] = also[call[calls]] " " name; xref[name] = 3 }
  comment = ""
  next
}
/^#define dats?_[a-z_]+ +dat_/ { alias[$2] = $3; xref[$2] = 3; next }
# A comment before anything else describes no call.
/^[a-z#]/ && !/^#if/ { comment = "" }

function new_call(name, declaration) {
  call[++calls] = name; of[name] = file; prototype[name] = declaration; said[name] = comment
  list[file] = list[file] " " name
  xref[name] = 3
}

# ---- the parts of a comment ----

# Sets arg_text[], code_term[], code_text[] and threads_text from the lists of a comment, and
# writes the rest, if `write`.
function parts(comment, write,   n, i, line, text, term, first) {
  codes = 0; threads_text = ""
  n = split(comment "\n", line, "\n")
  text = ""; term = ""; items = 0; first = 1
  for (i = 1; i <= n; i++) {
    if (line[i] ~ /^\t[^ \t]/) {
      paragraph(text, write, first); if (text != "") first = 0
      text = ""
      term = substr(line[i], 2); item_text[++items] = ""
      if (match(term, /(\t|  ).*/)) { item_text[items] = substr(term, RSTART); term = substr(term, 1, RSTART - 1) }
      item[items] = term
    } else if (line[i] ~ /^[ \t]+[^ \t]/ && items)
      item_text[items] = item_text[items] " " line[i]
    else if (line[i] == "") {
      paragraph(text, write, first); if (text != "") first = 0
      text = ""
      end_of_items(write)
    } else {
      end_of_items(write)
      text = text " " line[i]
    }
  }
}

function paragraph(text, write, first) {
  sub(/^[ \t]+/, "", text)
  if (text == "") return
  if (text ~ /^Threads:/) { threads_text = text; return }
  if (!write) return
  if (!first) put(".Pp")
  words(text)
}

# A list of arguments or codes is for a section of its own, except in a page of a header: there, and any other list,
# it is written where it is.
function end_of_items(write,   i, n, name) {
  if (!items) return
  for (i = 1; i <= items; i++) { gsub(/[ \t]+/, " ", item_text[i]); sub(/^ /, "", item_text[i]) }
  if (item[1] ~ /^`/) {
    if (whole_header) write_items()
    for (i = 1; i <= items; i++) {
      gsub(/[`,]/, " ", item[i])
      n = split(item[i], name, " ")
      while (n > 0) arg_text[name[n--]] = item_text[i]
    }
  } else if (item[1] ~ /^DAT_[A-Z_]+/ && known_type(item[1])) {
    if (whole_header) write_items()
    for (i = 1; i <= items; i++) { code_term[++codes] = item[i]; code_text[codes] = item_text[i] }
  } else if (write)
    write_items()
  items = 0
}

function write_items(   i, term) {
  put(item[1] == "-" ? ".Bl -bullet" : ".Bl -tag -width Ds")
  for (i = 1; i <= items; i++) {
    term = item[i]; gsub(/`/, "", term)
    put(item[i] == "-" ? ".It" : ".It " quoted(term))
    words(item_text[i])
  }
  put(".El")
}

function known_type(term) { sub(/[^A-Z_].*/, "", term); return term in constant }

# ---- return codes: DAT_INVALID_PARAMETER/ARG2, ARG3 is a type and subtypes ----

function subtype(type, word,   n, i, stem, name) {
  n = split("DAT_INVALID_ " type "_ DAT_RESOURCE_ DAT_ " type, stem, " ")
  sub(/_VIOLATION$/, "", stem[2]); if (type ~ /_VIOLATION$/) { sub(/_VIOLATION_$/, "_", stem[2]) }
  for (i = 1; i <= n; i++) {
    name = stem[i] word
    if (name in constant) return name
  }
  return word # check-pages finds it
}

function code_item(term,   type, n, i, word, all) {
  type = term; sub(/\/.*/, "", type)
  if (type == term) { put(".It Dv " type); return }
  sub(/^[^\/]*\//, "", term)
  n = split(term, word, /, */)
  for (i = 1; i <= n; i++)
    all = all (i > 1 ? " , " : " ") (word[i] == "state" ? "No the subtype of its state" : "Dv " subtype(type, word[i]))
  put(".It Dv " type " No with" (all ~ /^ No/ ? substr(all, 4) : all))
}

# ---- the pages ----

function synopsis(name,   text, n, i, a, type) {
  if (name in macro_takes) {
    put(".Fo " name)
    n = split(macro_takes[name], a, /, */)
    for (i = 1; i <= n; i++) put(".Fa " a[i])
    put(".Fc")
    return
  }
  text = prototype[name]
  type = text; sub(/ ?\**dats?_[a-z_0-9]+\(.*/, "", type); if (text ~ /\*dats?_[a-z_0-9]+\(/) type = type " *"
  put(".Ft " quoted(type))
  put(".Fo " name)
  sub(/^[^(]*\(/, "", text); sub(/\) *$/, "", text)
  n = split(text, a, /, */)
  for (i = 1; i <= n; i++) put(".Fa " quoted(a[i]))
  put(".Fc")
}

# The names of the arguments, in their order.
function arguments(name,   text, n, i, a, all) {
  text = name in macro_takes ? macro_takes[name] : prototype[name]
  sub(/^[^(]*\(/, "", text); sub(/\) *$/, "", text)
  n = split(text, a, /, */)
  for (i = 1; i <= n; i++) {
    if (a[i] == "..." || a[i] == "void") continue
    if (!match(a[i], /[a-z_0-9]+(\[\])?\)?$/)) continue
    a[i] = substr(a[i], RSTART, RLENGTH); gsub(/[][)]/, "", a[i])
    all = all " " a[i]
  }
  return all
}

function references(text, list, names,   rest, name) {
  rest = text
  while (match(rest, /dats?_[a-z_0-9]+(\.h)?/)) {
    name = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
    if ((name in xref) && index(" " list " ", " " name " ") == 0 && index(" " names " ", " " name " ") == 0)
      list = list " " name
  }
  return list
}

function write_arguments(name,   n, i, a, key, all, names, m) {
  for (key in arg_text) delete arg_text[key]
  parts(head["dat_api_ia.h"], 0); parts(head[of[name]], 0); parts(said[name], 0)
  m = split(name also[name], names, " ")
  for (i = 1; i <= m; i++) all = all arguments(names[i])
  n = split(all, a, " ")
  if (!n) return
  put(".Sh PARAMETERS")
  put(".Bl -tag -width Ds")
  for (key in shown) delete shown[key]
  for (i = 1; i <= n; i++) {
    if (a[i] in shown) continue
    shown[a[i]] = 1
    put(".It Fa " a[i])
    words(arg_text[a[i]])
  }
  put(".El")
}

function write_codes(   i) {
  put(".Bl -tag -width Ds")
  for (i = 1; i <= codes; i++) { code_item(code_term[i]); words(code_text[i]) }
  put(".El")
}

function write_threads(name,   where) {
  where = threads_text; sub(/^Threads: */, "", where); sub(/ *From:.*/, "", where)
  put(".Sh THREAD SAFETY")
  words("Calls that may run at the same time: " where)
  if (name in threads) {
    put(".Bl -tag -width Ds")
    put(".It On one object\\&:"); words(threads[name] (note[name] == "" ? "." : "; " note[name] "."))
    put(".It \\&In an upcall or proxy agent\\&:"); words(upcall[name] ".")
    put(".It \\&In a signal handler\\&:"); words(signal[name] ".")
    put(".El")
  }
}

function write_standards(   from) {
  from = threads_text
  if (!sub(/.*From: */, "", from)) return
  put(".Sh STANDARDS")
  words("From: " from)
}

function read_example(file,   path, line, text, shown) {
  path = file; sub(/^dat_(api_)?/, "", path); sub(/\.h$/, ".c", path)
  path = examples "/" path
  while ((getline line < path) > 0) {
    if (shown && (text != "" || line != "")) text = text line "\n"
    # After the last header that it includes.
    if (line ~ /^#include/) { shown = 1; text = "" }
  }
  close(path)
  return text
}

function call_page(name,   n, i, a, names, text) {
  names = name also[name]
  begin_page(names, 3, "Generated from dat2/" of[name] ".")
  put(".Sh NAME")
  n = split(names, a, " ")
  for (i = 1; i <= n; i++) put(".Nm " a[i] (i < n ? " ," : ""))
  put(".Nd " name_line(said[name]))
  library()
  put(".Sh SYNOPSIS")
  put(".In dat2/" (of[name] ~ /^dat_api_/ ? "udat.h" : of[name]))
  for (i = 1; i <= n; i++) synopsis(a[i])
  put(".Sh DESCRIPTION")
  in_parameters = 1
  parts(said[name], 1)
  write_arguments(name)
  parts(said[name], 0)
  if (codes) {
    put(".Sh RETURN VALUES")
    write_codes()
  }
  if (prototype[name] ~ /^DAT_RETURN/ || name in macro_takes) {
    put(".Pp")
    words("Each call can also return these:")
    parts(head["dat_api_ia.h"], 0)
    write_codes()
    parts(said[name], 0)
  }
  write_threads(name)
  text = example[of[name]]
  for (i = 1; i <= heads && text !~ name "\\("; i++) text = example[header[i]] # of another header
  if (text ~ name "\\(") { put(".Sh EXAMPLES"); literal(text) }
  see_also(references(said[name], of[name] " rearm", names))
  write_standards()
  end_page(name, 3)
  for (i = 2; i <= n; i++) link(a[i], name)
}

function library() {
  put(".Sh LIBRARY")
  put("DAT 2.0 registry (libdat2, \\-ldat2)")
}

function head_page(file,   title, text, n, i, name) {
  text = head[file]; sub(/^[ \n]+/, "", text)
  title = text; sub(/\n.*/, "", title); sub(/^[^ ]+ -- /, "", title)
  sub(/^[^\n]*\n[^\n]*/, "", text)
  sub(/^\n+/, "", text)
  begin_page(file, 3, "Generated from dat2/" file ".")
  put(".Sh NAME")
  put(".Nm " file (file == "dat.h" ? " ," : ""))
  if (file == "dat.h") put(".Nm DAT_EVENT") # the page of what this type is made of
  put(".Nd " title)
  library()
  put(".Sh SYNOPSIS")
  put(".In dat2/" file)
  put(".Sh DESCRIPTION")
  in_parameters = whole_header = 1
  parts(text, 1)
  whole_header = 0
  n = split(list[file], name, " ")
  if (n) {
    put(".Ss Calls")
    put(".Bl -tag -width Ds")
    for (i = 1; i <= n; i++) { put(".It Xr " name[i] " 3"); words(name_line(said[name[i]])) }
    put(".El")
  }
  if (file in structures) { put(".Ss Types of events"); literal(structures[file]); if (file == "dat.h") link("DAT_EVENT", file) }
  if (example[file] != "") { put(".Sh EXAMPLES"); literal(example[file]) }
  see_also(references(text list[file], "rearm", file))
  end_page(file, 3)
}

END {
  n = split("rearm 7 dat_upcall 7 dat.conf 5 softverbs 7", w, " ")
  for (i = 1; i < n; i += 2) xref[w[i]] = w[i + 1]
  for (i = 1; i <= heads; i++) { xref[header[i]] = 3; example[header[i]] = read_example(header[i]) }
  for (i = 1; i <= heads; i++) head_page(header[i])
  for (i = 1; i <= calls; i++) call_page(call[i])
  for (name in alias) if (index(" " also[alias[name]] " ", " " name " ") == 0) link(name, alias[name])
}
