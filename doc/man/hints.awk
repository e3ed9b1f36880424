# SPDX-License-Identifier: BSD-3-Clause
# hints.awk: the table of hints of the provider, dapl/trace/hint_text.c, from the public headers.
#
#	awk -f hints.awk dat_error.h HEADER...
#
# A comment describes the calls that are declared after it.  Its lines "TYPE/SUBTYPE, SUBTYPE<tab>text" say when
# a call returns a code; the text goes on in the lines below.  Those at the head of dat_api_ia.h are of all calls.

FNR == 1 { file = FILENAME; sub(/.*\//, "", file); comment = 0; forget() }

file == "dat_error.h" { if (/^[ \t]*DAT_[A-Z_0-9]+ = 0x/) constant[$1] = 1; next }

function forget() { n = 0 }

# The name of the constant of a subtype; "-1" is the state of an endpoint, whatever it is.
function subtype(type, word,   i, m, stem, short) {
  if (word == "") return "DAT_NO_SUBTYPE"
  if (word == "state") return "DAPL_HINT_STATE"
  if (word ~ /^[0-9]$/) word = "HANDLE" word
  short = type; sub(/_VIOLATION$/, "", short)
  m = split("DAT_INVALID_ " type "_ DAT_RESOURCE_ DAT_ " short "_", stem, " ")
  for (i = 1; i <= m; i++)
    if (stem[i] word in constant) return stem[i] word
  return ""
}

function keep(term, text,   type, rest, m, i, word) {
  type = term; sub(/\/.*/, "", type)
  if (!(type in constant) || type == "DAT_SUCCESS") return
  rest = term; if (!sub(/^[^\/]*\//, "", rest)) rest = ""
  m = split(rest, word, /, */)
  if (m == 0) { m = 1; word[1] = "" }
  for (i = 1; i <= m; i++)
    if ((word[i] = subtype(type, word[i])) != "") {
      types[++n] = type; subtypes[n] = word[i]; texts[n] = text
    }
}

function flush_item() { if (item != "") { gsub(/[ \t]+/, " ", said); sub(/^ /, "", said); keep(item, said) } item = "" }

function emit(name,   i, text) {
  for (i = 1; i <= n; i++) {
    text = texts[i]; gsub(/["\\]/, "\\\\&", text)
    printf "\t{ \"%s\", %s, %s,\n\t    \"%s\" },\n", name, types[i], subtypes[i], text
  }
}

/^\/\*/ && !/SPDX/ { comment = 1; forget(); item = ""; first = file == "dat_api_ia.h" && !seen++ }
comment {
  line = $0; ended = sub(/[ \t]*\*\/.*$/, "", line)
  sub(/^(\/\*| \*)/, "", line)
  if (match(line, /^\tDAT_[A-Z_0-9]+(\/[A-Za-z_0-9]+(, [A-Za-z_0-9]+)*)?(\t|  |$)/)) {
    flush_item()
    item = substr(line, 2, RLENGTH - 1); sub(/[ \t]+$/, "", item); said = substr(line, RLENGTH + 1)
  } else if (item != "" && line ~ /^[ \t]+[^ \t]/) said = said " " line
  else flush_item()
  if (ended) { flush_item(); comment = 0; if (first) { emit(""); forget() } }
  next
}
/DAT_API dats?_[a-z_0-9]+\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); emit(name) }
/^dats?_[a-z_0-9]+\(/ { name = $0; sub(/\(.*/, "", name); emit(name) }
/^#define dat_[a-z_0-9]+\(/ { name = $2; sub(/\(.*/, "", name); emit(name) }

BEGIN {
  print "/* SPDX-License-Identifier: BSD-3-Clause */"
  print "/* hint_text -- when calls return which codes: `make -C doc update-doc` writes it from dat2/ */"
  print "#include \"dapl/trace/hint.h\"\n\n/* clang-format off */\nconst struct dapl_hint_text dapl_hint_texts[] = {"
}
END { print "\t{ NULL, DAT_SUCCESS, DAT_NO_SUBTYPE, NULL },\n};" }
