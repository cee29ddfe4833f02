"""The frames of documents: an HTML page that needs nothing else, and the head of a LaTeX document."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@title@</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: #1d2330;
       background: #fdfdfb; max-width: 64rem; margin: 2.5rem auto 5rem; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; font-weight: 600; margin-bottom: .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; font-weight: 600; margin: 2.4rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid #d8d8d0; }
nav { margin: 1rem 0; font-size: .92rem; }
nav a { margin-right: 1.1rem; white-space: nowrap; color: #1f5fa8; text-decoration: none; }
p.eq { margin: .38rem 0 .38rem 2.5rem; text-indent: -2.5rem; line-height: 1.9; }
p.eq math { text-indent: 0; font-size: 1.06rem; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "DejaVu Math TeX Gyre", math, serif; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; padding: .2rem 1.4rem .2rem 0; border-bottom: 1px solid #e6e6de; overflow-wrap: anywhere; }
td.number { font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e6ea; background: #16181c; } h2 { border-color: #3a3d44; } th, td { border-color: #2c2f35; }
  nav a { color: #86b7f0; } }
@media print { body { max-width: none; margin: 0; } nav { display: none; } }
</style>
</head>
<body>
@body@
</body>
</html>
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
