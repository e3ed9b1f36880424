# SPDX-License-Identifier: BSD-3-Clause
# text.awk: text of a comment or of a Markdown page as mdoc(7).  The scripts that use it write with put().
#
# In the text, `this` is code.  Names of calls, constants, headers and manual pages are recognised.
# xref["name"] is the section of a page.

function put(line) { page = page line "\n" }

# An argument of a macro.
function quoted(s) {
  gsub(/\\/, "\\e", s)
  gsub(/"/, "\\(dq", s)
  if (s ~ /^[A-Z%][A-Za-z0-9]?[a-z]?$/ || s ~ /^[](),:;.?!|'[]$/)
    s = "\\&" s
  return s ~ /[ \t]/ ? "\"" s "\"" : s
}

# What a word means, as a macro with its argument; "" if it is only a word.
function macro(word, code,   name, section) {
  if (word ~ /^[a-z_0-9.+-]+\([1-8]\)$/) {
    name = word; sub(/\(.*/, "", name)
    section = word; gsub(/.*\(|\)/, "", section)
    return "Xr " name " " section
  }
  name = word; sub(/\(\)$/, "", name); sub(/^dat2\//, "", name)
  if (index(" " names_here " ", " " name " "))
    return "Fn " name
  if ((name in xref) && (code || name ~ /[_.]/))
    return "Xr " name " " xref[name]
  if (word ~ /^[a-z_0-9]+\(\)$/)
    return "Fn " name
  if (word ~ /^(DAT|DCNT|REARM|IBV)_[A-Z0-9_]+$/ || word == "NULL")
    return "Dv " word
  if (word ~ /^-E[A-Z0-9]+$/)
    return "Er " word
  if (!code)
    return ""
  if (word ~ /^[a-z0-9_]+\/[a-z0-9_.\/]+$/)
    return "Pa " word
  if (word ~ /^\*?[a-z_0-9]+$/ && in_parameters)
    return "Fa " word
  return "Ql " quoted(word)
}

# Punctuation of a macro line: each mark is an argument.
function marks(s,   i, all) {
  for (i = 1; i <= length(s); i++)
    all = all " " substr(s, i, 1)
  return all
}

function flush_line() {
  if (current != "")
    put(current ~ /^[.']/ ? "\\&" current : current)
  current = ""
}

# Writes a paragraph: a line for each sentence, and for each macro.
function words(text,   n, i, w, core, before, after, m, word) {
  gsub(/\*\*/, "", text)
  n = split(text, w, " ")
  for (i = 1; i <= n; i++) {
    word = w[i]
    # Code may have blanks.
    while (gsub(/`/, "`", word) % 2 == 1 && i < n)
      word = word " " w[++i]
    if (word ~ /^[("]*\*[a-z][^*]*\*[.,:;)"]*$/) gsub(/\*/, "", word)
    core = word; before = ""; after = ""
    if (match(core, /^[[("]+/)) { before = substr(core, 1, RLENGTH); core = substr(core, RLENGTH + 1) }
    if (match(core, /[].,:;?!)"]+$/) && core !~ /^[a-z_0-9.+-]+\([1-8]?\)$/) {
      after = substr(core, RSTART)
      core = substr(core, 1, RSTART - 1)
      # A call keeps its parentheses.
      if (core ~ /^`?[a-z_0-9.+-]+\([1-8]?$/ && after ~ /^\)/) { core = core ")"; after = substr(after, 2) }
    }
    m = (core ~ /^`[^`]+`$/) ? macro(substr(core, 2, length(core) - 2), 1) : macro(core, 0)
    if (m != "" && (before after) !~ /"/) {
      flush_line()
      sub(/^[A-Z][a-z]/, "&" marks(before), m)
      put("." m marks(after))
      continue
    }
    gsub(/`/, "", word)
    gsub(/\\/, "\\e", word)
    if (length(current) + length(word) > 78)
      flush_line()
    current = current (current == "" ? "" : " ") word
    if (word ~ /[.?!]\)?$/)
      flush_line()
  }
  flush_line()
}

# Code that is shown as it is.
function literal(text,   n, i, line) {
  put(".Bd -literal")
  n = split(text, line, "\n")
  while (n > 0 && line[n] == "") n--
  for (i = 1; i <= n; i++) {
    gsub(/\\/, "\\e", line[i])
    put(line[i] ~ /^[.']/ ? "\\&" line[i] : line[i])
  }
  put(".Ed")
}

# Begins the page of `names`, the first of which is its title.
function begin_page(names, section, about,   name) {
  page = ""
  names_here = names
  name = names; sub(/ .*/, "", name)
  put(".\\\" SPDX-License-Identifier: BSD-3-Clause")
  put(".\\\" " about)
  put(".Dd " date)
  put(".Dt " toupper(name) " " section)
  put(".Os Rearm")
}

function end_page(name, section,   file) {
  file = out "/" name "." section
  printf "%s", page > file
  close(file)
}

# A page under another name.
function link(name, to) {
  system("ln -sf " to ".3 " out "/" name ".3")
}

# The first sentence without its end, as a command: "Creates an EVD." is "create an EVD".
function name_line(comment,   first) {
  sub(/\n\n.*/, "", comment); gsub(/\n/, " ", comment); sub(/^ +/, "", comment)
  if (match(comment, /[.:;]( |$)/)) comment = substr(comment, 1, RSTART - 1)
  gsub(/`/, "", comment)
  first = comment; sub(/ .*/, "", first)
  comment = substr(comment, length(first) + 1)
  if (first == "Has") first = "have"
  else if (first ~ /(ss|sh|ch)es$/) sub(/es$/, "", first)
  else if (first ~ /ies$/) sub(/ies$/, "y", first)
  else if (first != "As") sub(/s$/, "", first)
  return tolower(first) comment
}

# References of the page that is written, sorted by section and name, without itself.
function see_also(list,   n, i, j, name, key, swap, part) {
  n = split(list, name, " ")
  for (i = 1; i <= n; i++) key[i] = xref[name[i]] " " name[i]
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && key[j] < key[j - 1]; j--) { swap = key[j]; key[j] = key[j - 1]; key[j - 1] = swap }
  put(".Sh SEE ALSO")
  for (i = 1; i <= n; i++) {
    split(key[i], part, " ")
    put(".Xr " part[2] " " part[1] (i < n ? " ," : ""))
  }
}
