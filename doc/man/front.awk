# SPDX-License-Identifier: BSD-3-Clause
# front.awk: the page of one front end, from a page that is written for both.
#
#	awk -v front=dat|rearm -f front.awk upcalls.in
#
# The page is written in the words of DAT.
#
#	@word DAT = REARM	for librearm each DAT of the text, but for code, becomes REARM
#	@dat, @rearm, @end	the lines between them are for one front end
#	@{DAT|REARM}		so is this part of a line; a part of REARM keeps its words
#
# The paragraphs of librearm are filled again, because their words have other lengths.

BEGIN { rearm = front == "rearm"; only = "" }

/^@word / {
  split(substr($0, 7), word, " = ")
  from[++n_words] = word[1]; to[n_words] = word[2]
  next
}
/^@(dat|rearm)$/ { end_paragraph(); only = substr($0, 2); next }
/^@end$/ { end_paragraph(); only = ""; next }
only != "" && only != front { next }

function chosen(text,   all, part, at) {
  if (rearm && only == "rearm") return text
  while (at = index(text, "@{")) {
    all = all translated(substr(text, 1, at - 1))
    part = substr(text, at + 2); text = part
    at = index(part, "}"); text = substr(part, at + 1); part = substr(part, 1, at - 1)
    at = index(part, "|")
    all = all (rearm ? substr(part, at + 1) : substr(part, 1, at - 1))
  }
  return all translated(text)
}

function translated(text,   i, all, at) {
  if (!rearm) return text
  for (i = 1; i <= n_words; i++) {
    all = ""
    while (at = index(text, from[i])) {
      all = all substr(text, 1, at - 1) to[i]
      text = substr(text, at + length(from[i]))
    }
    text = all text
  }
  return text
}

# A paragraph or an item of a list, in lines of at most 118 characters.
function end_paragraph(   n, i, w, line, indent) {
  if (paragraph == "") return
  paragraph = chosen(paragraph)
  indent = paragraph ~ /^- / ? "  " : paragraph ~ /^[0-9]+\. / ? "   " : ""
  n = split(paragraph, w, " ")
  line = w[1]
  for (i = 2; i <= n; i++) {
    if (length(line) + 1 + length(w[i]) > 118) { print line; line = indent w[i] }
    else line = line " " w[i]
  }
  print line
  paragraph = ""
}

/^```/ { end_paragraph(); in_code = !in_code; print; next }
in_code { print; next }
!rearm { print chosen($0); next }
/^$/ || /^[#|]/ || /^    / && !in_item { end_paragraph(); in_item = 0; print chosen($0); next }
/^(- |[0-9]+\. )/ { end_paragraph(); in_item = 1 }
{
  line = $0; sub(/^ +/, "", line)
  paragraph = paragraph (paragraph == "" ? "" : " ") line
}
END { end_paragraph() }
