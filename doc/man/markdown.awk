# SPDX-License-Identifier: BSD-3-Clause
# markdown.awk: a page of doc/ as a manual page of section 7.
#
#	awk -v out=DIRECTORY -v date=DATE -v name=NAME -v about="LINE OF NAME" -v see="PAGES" \
#		-f text.awk -f markdown.awk PAGE.md
#
# The pages of `see` are SEE ALSO, and references where they are named in the text.
# Knows what these pages have: headings, paragraphs, lists with marks or numbers, tables, code and drawings.  A table of two columns
# becomes a list.  In a wider one each row becomes a list of its cells, with the titles of the columns.

BEGIN {
  n = split(see, w, " ")
  for (i = 1; i <= n; i++) xref[w[i]] = w[i] ~ /^rearm$/ ? 7 : 3
  begin_page(name, 7, "Generated from a page of doc/.")
  put(".Sh NAME")
  put(".Nm " name)
  put(".Nd " about)
  put(".Sh DESCRIPTION")
  fresh = 1
}

# The paragraph, item or table that was read.
function finish_text() {
  if (text == "") return
  if (!item && !fresh) put(".Pp")
  words(text)
  text = ""; fresh = 0
}

function end_list() {
  finish_text()
  if (item) put(".El")
  item = 0
}

function cells(line, cell,   n, i) {
  sub(/^\|/, "", line); sub(/\|[ \t]*$/, "", line)
  n = split(line, cell, "|")
  for (i = 1; i <= n; i++) { sub(/^[ \t]+/, "", cell[i]); sub(/[ \t]+$/, "", cell[i]) }
  return n
}

function bare(s) { gsub(/[`*]/, "", s); return quoted(s) }

function table_row(line,   n, i, cell) {
  n = cells(line, cell)
  if (columns == 2) {
    put(".It " bare(cell[1])); words(cell[2])
    return
  }
  put(".It " bare(cell[1]))
  put(".Bl -tag -width Ds -compact")
  for (i = 2; i <= n; i++) {
    if (cell[i] == "") continue
    put(".It " bare(title[i])); words(cell[i])
  }
  put(".El")
}

# ---- code, and drawings, which are indented ----

/^```/ {
  if (!in_code) { end_list(); code = "" } else literal(code)
  in_code = !in_code; fresh = 0
  next
}
in_code { code = code $0 "\n"; next }
/^    [^ ]/ && !item && !drawing { end_list(); drawing = 1; code = "" }
drawing && (/^    / || $0 == "") { code = code substr($0, 5) "\n"; next }
drawing { literal(code); drawing = 0; fresh = 0 }

# ---- tables ----

/^\|[-|]+\|?$/ { next }
/^\|/ {
  if (!in_table) {
    end_list()
    columns = cells($0, title)
    put(".Bl -tag -width Ds")
    in_table = 1
  } else table_row($0)
  next
}
in_table { put(".El"); in_table = 0; fresh = 0 }

# ---- text ----

/^# / { next }
/^## / {
  end_list()
  line = toupper(substr($0, 4))
  put(".Sh " bare(line)); fresh = 1
  next
}
/^(-|[0-9]+\.) / {
  kind = /^-/ ? "-bullet" : "-enum"
  if (item && kind != list) end_list()
  finish_text()
  if (!item) put(".Bl " kind)
  put(".It"); item = 1; list = kind
  text = $0; sub(/^[^ ]+ /, "", text)
  next
}
$0 == "" { if (item) finish_text(); else end_list(); next }
{
  if (item && !/^  /) end_list()
  text = text " " $0
}

END {
  end_list()
  if (in_table) put(".El")
  if (drawing) literal(code)
  see_also(see)
  end_page(name, 7)
}
