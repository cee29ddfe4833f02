"""The frames of documents: a page that needs nothing else, its style, and the head of a LaTeX
document.
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@title@</title>
<style>
@style@</style>
</head>
<body>
@body@
</body>
</html>
"""

# Colours have a contrast of 4.5 and more on the paper; equations scroll in boxes of their own, and
# a definition stands at the foot of the window while its name is pointed at.
SCREEN_STYLE = """:root { color-scheme: light dark; --ink: #1c2430; --soft: #566170; --paper: #fdfdfb; --card: #f4f5f2;
  --rule: #d9dcd6; --link: #1a5596; --good: #1d6b3a; --poor: #a8321e; --mark: #fff3c4; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --soft: #a3adba; --paper: #15181d; --card: #1e2229;
  --rule: #363c46; --link: #8dbbf0; --good: #7fd19b; --poor: #ff9d85; --mark: #4a4113; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { font: 16px/1.6 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--paper); margin: 0; }
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 5rem; }
h1 { font-size: 2rem; line-height: 1.2; font-weight: 650; letter-spacing: -.01em; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; line-height: 1.3; font-weight: 650; margin: 0 0 .8rem; padding-top: 1.1rem;
  border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
h3 { font-size: 1.08rem; font-weight: 650; margin: 1.6rem 0 .5rem; overflow-wrap: anywhere; }
section { margin-top: 2.2rem; } section section { margin-top: 1.4rem; }
p { margin: .5rem 0; max-width: 54rem; overflow-wrap: anywhere; }
a { color: var(--link); } a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.note { color: var(--soft); font-size: .94rem; }
nav { margin: 1.2rem 0; padding: .7rem 1rem; background: var(--card); border-radius: 8px; font-size: .94rem; line-height: 1.9; }
nav a { display: inline-block; margin-right: 1.1rem; text-decoration: none; } nav a:hover { text-decoration: underline; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "TeX Gyre Termes Math", "DejaVu Math TeX Gyre", math, serif; }
.eq { margin: .3rem 0; padding: .15rem 0 .15rem 2.2rem; text-indent: -2.2rem; line-height: 1.95; overflow-x: auto; overflow-y: hidden; }
.eq math { text-indent: 0; font-size: 1.07rem; }
.row { white-space: nowrap; }
.eq:target { background: var(--mark); border-radius: 4px; }
.whole { padding: .4rem 0; text-indent: 0; } .whole math { width: max-content; margin: 0; }
mtd { padding: .28em .55em; }
.law { padding: .2rem 0 .4rem; text-indent: 0; } .law math { font-size: 1.35rem; }
.eq a { color: inherit; text-decoration: none; } .eq a:hover, .eq a:focus-visible { color: var(--link); }
.eq a:hover::after, .eq a:focus-visible::after { content: attr(data-is); position: fixed; left: 0; right: 0; bottom: 0; z-index: 9;
  padding: .7rem 1.5rem; background: var(--card); color: var(--ink); border-top: 2px solid var(--link); font: 1rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace;
  text-indent: 0; white-space: normal; text-align: left; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--link); width: fit-content; padding: .15rem 0; }
.columns { columns: 24rem; column-gap: 2.5rem; } .columns .eq { break-inside: avoid; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .92rem; line-height: 1.45; }
th, td { text-align: left; vertical-align: baseline; padding: .34rem 1.05rem .34rem 0; border-bottom: 1px solid var(--rule); overflow-wrap: break-word; }
thead th { font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--soft); white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: break-word; }
@media (max-width: 40rem) { main { padding: 1.4rem 1rem 4rem; } h1 { font-size: 1.55rem; } th, td { padding-right: .9rem; } .law math { font-size: 1.12rem; }
  .eq { padding-left: 1.4rem; text-indent: -1.4rem; } .whole, .law { padding-left: 0; text-indent: 0; } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --card: #fff; --rule: #bbb; --link: #000; }
  @page { margin: 18mm 16mm; } body { font-size: 10.5pt; } main { max-width: none; padding: 0; } nav { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; } summary { list-style: none; color: var(--soft); }
  h1, h2, h3, summary, .note { break-after: avoid; } tr, .eq, figure { break-inside: avoid; } thead { display: table-header-group; }
  .wide, .eq { overflow: visible; } .eq { line-height: 1.6; margin: .1rem 0; } .eq math { font-size: 1rem; } .columns { columns: 2; column-gap: 1.5rem; } .columns .eq math { font-size: .85rem; } }
"""

LATEX_HEAD = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.2cm]{geometry}
\usepackage{amsmath,amssymb,longtable,iftex,textcomp}
\ifpdftex
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
@declared@\else
\usepackage{fontspec}
\fi
\setlength{\parindent}{0pt}
\setlength{\parskip}{2pt}
\allowdisplaybreaks
\begin{document}
\raggedright
"""
