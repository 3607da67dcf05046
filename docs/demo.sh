#!/bin/sh
# Prints docs/demo.svg: the first chapter of `taskie demo` as a picture. The `taskie` on PATH plays it.
# A test fails when docs/demo.svg is out of date; TASKIE_UPDATE_DOCS=1 makes the test rewrite it.
set -eu

CLICOLOR_FORCE=1 taskie demo | LC_ALL=C awk '
  # What a sequence of colors means is a class of the style sheet.
  function class_of(code) {
    if (code == 1) return "b"
    if (code == 2) return "d"
    if (code == 31) return "r"
    if (code == 32) return "g"
    if (code == 33) return "y"
    if (code == 34) return "u"
    if (code == 36) return "c"
    print "docs/demo.sh: unknown color " code > "/dev/stderr"
    exit 1
  }
  function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
  }
  # One line of the terminal; `classes` carries over to the next one.
  function drawn(line,   svg, parts, count, i, end, code) {
    count = split(line, parts, /\033\[/)
    for (i = 1; i <= count; i++) {
      if (i > 1) {
        end = index(parts[i], "m")
        code = substr(parts[i], 1, end - 1)
        parts[i] = substr(parts[i], end + 1)
        classes = code == 0 ? "" : classes (classes == "" ? "" : " ") class_of(code)
      }
      if (parts[i] == "") continue
      svg = svg (classes == "" ? escaped(parts[i]) : "<tspan class=\"" classes "\">" escaped(parts[i]) "</tspan>")
    }
    return svg
  }
  { plain = $0; gsub(/\033\[[0-9;]*m/, "", plain) }
  # A chapter begins with a ruled heading.
  plain ~ /^── / { chapter++ }
  chapter == 1 { lines[++last] = $0; if (plain != "") shown = last }
  END {
    if (!shown) { print "docs/demo.sh: the demo has no chapter" > "/dev/stderr"; exit 1 }
    height = shown * 19 + 84
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"" height "\" viewBox=\"0 0 900 " height "\" role=\"img\">"
    print "<title>The first review cycle of taskie demo</title>"
    print "<style>"
    print "text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #e6edf3; white-space: pre }"
    print ".b { font-weight: bold } .d { fill: #9198a1 } .r { fill: #ff7b72 } .g { fill: #7ee787 } .y { fill: #e3b341 } .u { fill: #79c0ff } .c { fill: #76e3ea }"
    print "</style>"
    # The frame keeps the dark window visible on a dark page.
    print "<rect x=\"0.5\" y=\"0.5\" width=\"899\" height=\"" height - 1 "\" rx=\"8\" fill=\"#0d1117\" stroke=\"#3d444d\"/>"
    print "<circle cx=\"22\" cy=\"20\" r=\"6\" fill=\"#ff5f56\"/><circle cx=\"42\" cy=\"20\" r=\"6\" fill=\"#ffbd2e\"/><circle cx=\"62\" cy=\"20\" r=\"6\" fill=\"#27c93f\"/>"
    print "<text x=\"24\" y=\"54\" xml:space=\"preserve\"><tspan class=\"d\">$</tspan> taskie demo</text>"
    for (i = 1; i <= shown; i++) {
      text = drawn(lines[i])
      if (text != "") print "<text x=\"24\" y=\"" 54 + i * 19 "\" xml:space=\"preserve\">" text "</text>"
    }
    print "</svg>"
  }
'
