# SPDX-License-Identifier: BSD-3-Clause
"""event_plot -- bars as SVG"""
from xml.sax.saxutils import escape

COLOURS = ["#9aa5b1", "#5f6c7b", "#d98e04", "#1f6feb", "#7db0ff"]
WIDTH, LEFT, RIGHT, ROW, GAP, TOP = 760, 190, 90, 16, 12, 62


def bars(path, title, unit, groups, series, values):
    """A horizontal bar for each series of each group; values[group, series] may be missing."""
    shown = {key: value for key, value in values.items() if value is not None}
    if not shown:
        return
    scale = (WIDTH - LEFT - RIGHT) / max(shown.values())
    y = TOP
    body = []
    for group in groups:
        rows = [s for s in series if (group, s) in shown]
        body.append('<text x="%d" y="%d" text-anchor="end">%s</text>' %
                    (LEFT - 10, y + len(rows) * ROW / 2 + 4, escape(group)))
        for name in rows:
            value = shown[group, name]
            body.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' %
                        (LEFT, y, max(value * scale, 1), ROW - 3, COLOURS[series.index(name)]))
            body.append('<text x="%.1f" y="%d" font-size="11">%s</text>' %
                        (LEFT + value * scale + 5, y + ROW - 6, "%.0f" % value if value >= 10 else "%.2f" % value))
            y += ROW
        y += GAP
    legend = []
    x = LEFT
    for i, name in enumerate(series):
        legend.append('<rect x="%d" y="38" width="11" height="11" fill="%s"/><text x="%d" y="48">%s</text>' %
                      (x, COLOURS[i], x + 16, escape(name)))
        x += 30 + 8 * len(name)
    with open(path, "w") as out:
        out.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">\n'
                  '<rect width="100%%" height="100%%" fill="white"/>\n'
                  '<text x="10" y="22" font-size="15">%s</text><text x="%d" y="22" text-anchor="end">%s</text>\n'
                  '%s\n%s\n</svg>\n' % (WIDTH, y + 4, escape(title), WIDTH - 10, escape(unit), "\n".join(legend),
                                        "\n".join(body)))
