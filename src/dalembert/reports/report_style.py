"""The style of reports, beside that of pages of equations."""

REPORT_STYLE = """:root { --doubt: #9a4100; }
@media screen and (prefers-color-scheme: dark) { :root { --doubt: #f2a25c; } }
header { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.05fr); gap: 1.5rem 2.5rem; align-items: start; }
header h1 { font-size: 2.3rem; } header .note { margin-top: 0; }
.verdicts { list-style: none; margin: 1rem 0 1.2rem; padding: 0; } .verdicts li { margin: .2rem 0; }
.good { color: var(--good); } .poor { color: var(--poor); font-weight: 600; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem 1.4rem; margin: 0; padding: 1rem 0 0; border-top: 1px solid var(--rule); }
.facts dt { font-size: .82rem; color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } figcaption { font-size: .9rem; color: var(--soft); margin: .3rem 0; }
.picture { margin: 0; } .picture svg { display: block; width: 100%; height: auto; background: var(--card); border-radius: 10px; }
.caption { font-weight: 600; font-size: .95rem; margin: 1.3rem 0 .2rem; break-after: avoid; } tbody th { font-weight: 500; }
td, tbody th { overflow-wrap: break-word; max-width: 24rem; }
pre { font: .9rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); padding: .7rem 1rem; border-radius: 8px; }
.formula { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
.findings { list-style: none; padding: 0; margin: .8rem 0; } .findings li { padding: .5rem 0 .5rem .9rem; margin: .4rem 0; border-left: 3px solid var(--rule); max-width: 56rem; overflow-wrap: anywhere; }
.severity { text-transform: uppercase; font-size: .78rem; letter-spacing: .04em; } .severity.error { color: var(--poor); } .severity.warning { color: var(--doubt); } .severity.note { color: var(--soft); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem; } .charts figure { margin: 0; }
.film .axis { fill: none; stroke: var(--soft); } .film text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.motion { max-width: 46rem; } .film { display: block; width: 100%; height: auto; background: var(--card); border-radius: 10px; margin-top: .4rem; }
.ghost { fill: var(--soft); fill-opacity: .11; } .way { fill: none; stroke: var(--doubt); stroke-width: 1.3; stroke-opacity: .8; }
@media (max-width: 52rem) { header { grid-template-columns: minmax(0, 1fr); } header h1 { font-size: 1.7rem; } tbody th { min-width: 8.5rem; } }
@media print { header { grid-template-columns: 1fr 1fr; } .picture svg, .film { background: none; border: 1px solid var(--rule); } table { font-size: 7.5pt; } th, td { padding-right: .45rem; }
  .charts { grid-template-columns: 1fr 1fr; } .charts figure, .motion, .picture, .findings li { break-inside: avoid; } thead th { white-space: normal; } tbody th, td:not(.number) { overflow-wrap: anywhere; } }
"""
