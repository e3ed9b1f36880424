# SPDX-License-Identifier: BSD-3-Clause
# table.awk: prints the results of bench-softverbs as a table or, with json=yes, as one JSON object a line.
# A line of the input is a measurement, with tabs between: name, what, unit, baseline, side and value of the limit,
# what may be added to the baseline instead, iterations, seconds, percent of the two processors that other processes
# used, the figures of the program, those of the baseline, why it failed, notes.
# Exits with 1 if a measurement failed, or with strict=yes if a limit is not reached.
BEGIN {
  FS = "\t"
  noise = 0.3 # the difference between the lowest and the highest figure, from which on a median says little
}

# sorted(LIST): splits it, in order, into v; returns the number.
function sorted(list, n, i, j, t) {
  n = split(list, v, " ")
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) {
      t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
    }
  return n
}
function median(list, n) {
  n = sorted(list)
  return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function spread(list, n) {
  n = sorted(list)
  return (v[n] - v[1]) / median(list)
}
function quoted(text) {
  gsub(/[\\"]/, "\\\\&", text)
  gsub(/[[:cntrl:]]/, " ", text)
  return "\"" text "\""
}
# array(LIST): its words as a JSON array.
function array(list) {
  gsub(/ /, ", ", list)
  return "[" list "]"
}
# best(LIST, SIDE): the highest of what must be at least its limit, the lowest of what must be at most that.
function best(list, side, n) {
  n = sorted(list)
  return side == "least" ? v[n] : v[1]
}
function figure(value) {
  return sprintf(value < 10 ? "%.2f" : value < 1000 ? "%.1f" : "%.0f", value)
}
function note(text) {
  notes = notes "\n  " $1 ": " text
}
function percent(share) {
  return sprintf("%.0f %%", share * 100)
}

NR == 1 {
  if (json == "yes")
    printf "{\"processor\": %s, \"kernel\": %s, \"server_cpu\": %d, \"client_cpu\": %d, \"repetitions\": %d, \"load\": %s}\n", \
      quoted(model), quoted(kernel), cpus, substr(cpus, index(cpus, " ") + 1), repetitions, quoted(load)
  else {
    printf "%s, Linux %s; server on processor %d, client on %d\n", model, kernel, cpus, substr(cpus, index(cpus, " ") + 1)
    printf "medians of %d, in turns; load average %s\n\n", repetitions, load
    printf "%-26s %14s %5s  %-18s %14s %5s %7s  %s\n", \
      "what", "measured", "+-", "baseline", "", "+-", "ratio", "limit"
  }
}

$13 != "" {
  failed++
  if (json == "yes")
    printf "{\"name\": %s, \"what\": %s, \"failed\": %s}\n", quoted($1), quoted($2), quoted($13)
  else {
    printf "%-26s %s\n", $2, "failed"
    note($13)
  }
  next
}

{
  measured = median($11); base = median($12); ratio = measured / base
  n = split($11, m, " "); split($12, b, " ")
  low = high = m[1] / b[1]
  for (i = 2; i <= n; i++) {
    low = m[i] / b[i] < low ? m[i] / b[i] : low
    high = m[i] / b[i] > high ? m[i] / b[i] : high
  }
  if ($5 == "least") {
    met = ratio >= $6
    bound = ">= " $6
  } else {
    met = ratio <= $6 || measured <= base + $7
    bound = "<= " $6 ($7 > 0 ? " or +" $7 " " $3 : "")
  }
  missed += !met
  noisy = spread($11) > noise || spread($12) > noise
  unclear = noisy && ($5 == "least" ? (low < $6) != (high < $6) : (low > $6) != (high > $6))
  if (json == "yes") {
    printf "{\"name\": %s, \"what\": %s, \"unit\": %s, \"measured\": %s, \"baseline\": %s, \"against\": %s, ", \
      quoted($1), quoted($2), quoted($3), measured, base, quoted($4)
    printf "\"ratio\": %.4f, \"ratio_lowest\": %.4f, \"ratio_highest\": %.4f, \"ratio_of_best\": %.4f, ", \
      ratio, low, high, best($11, $5) / best($12, $5)
    printf "\"limit\": %s, \"met\": %s, \"unclear\": %s, ", quoted(bound), met ? "true" : "false", unclear ? "true" : "false"
    printf "\"iterations\": %d, \"seconds\": %s, \"others_percent\": %d, \"all_measured\": %s, \"all_baseline\": %s, \"notes\": %s}\n", \
      $8, $9, $10, array($11), array($12), quoted($14)
    next
  }
  printf "%-26s %9s %-4s %5s  %-18s %9s %-4s %5s %7s  %-14s %s\n", $2, figure(measured), $3, percent(spread($11)), \
    $4, figure(base), $3, percent(spread($12)), sprintf(ratio < 1 ? "%.3f" : "%.2f", ratio), bound, (met ? "met" : "not met") (unclear ? ", unclear" : "")
  if (noisy)
    note(sprintf("the repetitions differ much; the best of each have the ratio %.2f, neighbours %.2f to %.2f", \
      best($11, $5) / best($12, $5), low, high))
  if ($10 > 5)
    note("other processes used " $10 " % of the two processors")
  if ($9 > 60)
    note("took " $9 " s: program and baseline did not run in the same minute")
  if ($14 != "")
    note($14)
}

END {
  if (NR && json != "yes") {
    printf "\n+-: the difference between the highest and the lowest repetition, as a share of the median\n"
    if (notes != "")
      printf "Notes:%s\n", notes
  }
  exit failed > 0 || (strict == "yes" && missed > 0)
}
