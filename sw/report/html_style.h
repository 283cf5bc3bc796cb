// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice {

/// Style sheet of the report. The palette is Okabe and Ito's (distinguishable with any common colour blindness): c = fill,
/// l = stroke, b = legend swatch.
inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --muted: #59636e; --rule: #d5dae0; --panel: #f5f7f9;
  --p0: #8a8f96; --p1: #e69f00; --p2: #56b4e9; --p3: #009e73; --p4: #0072b2; --p5: #d55e00; --p6: #cc79a7; --p7: #b8a400;
  --p8: #7a5c3e; --p9: #4b3f9e; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e4e8ec; --muted: #9aa5b1; --rule: #343b44; --panel: #1d2228;
  --p0: #8f969e; --p4: #3d9be0; --p5: #ec7424; --p7: #d9c82b; --p8: #b08b66; --p9: #9a8cf0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 74rem; background: var(--bg); color: var(--fg);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 3rem 0 .25rem; padding-top: .75rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .35rem 0 .8rem; max-width: 46rem; }
.note, .lead { color: var(--muted); } .note { font-size: .875rem; }
code { font: .85em/1.45 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
dl.meta { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .875rem; margin: 1rem 0; padding: .75rem 1rem;
  background: var(--panel); border-radius: .5rem; }
dl.meta dt { color: var(--muted); } dl.meta dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.scroll { overflow-x: auto; margin: .25rem 0 .5rem; }
.multiples { display: flex; flex-wrap: wrap; gap: .5rem 1rem; } .multiple { max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
table.words th, table.words td { text-align: left; white-space: normal; vertical-align: top; }
th { font-weight: 600; } thead th { border-bottom: 2px solid var(--rule); vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--bg); }
tr.group th { text-align: left; padding-top: .9rem; color: var(--muted); font-weight: 600; }
tr.mean td, tr.mean th { font-weight: 700; background: var(--panel); }
td.best { font-weight: 700; } td.differs { font-weight: 700; } td.published { color: var(--muted); font-style: italic; }
th.published { color: var(--muted); font-style: italic; }
td.centre, th.centre { text-align: center; } td.sentence { white-space: normal; text-align: left; min-width: 16rem; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .5rem 0; padding: 0; font-size: .875rem; }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; }
.multiple .legend { padding-left: 54px; margin-top: 0; gap: .1rem .9rem; }
svg { display: block; font: 12px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
svg text { fill: var(--fg); } svg .muted { fill: var(--muted); } svg .strong { font-weight: 700; }
svg .value, svg .on-bar { fill: #fff; font-size: 10.5px; font-weight: 600; paint-order: stroke; stroke: rgb(0 0 0 / .45); stroke-width: 2px; }
svg .value-out { font-size: 10.5px; font-weight: 600; }
svg .grid { stroke: var(--rule); stroke-width: 1; } svg .axis { stroke: var(--muted); stroke-width: 1; }
svg .baseline { stroke: var(--fg); stroke-width: 1; stroke-dasharray: 5 3; }
svg rect { stroke-width: 0; } svg rect:hover, svg circle:hover { filter: brightness(1.2); }
svg .hollow { fill: transparent; stroke-width: 1.5; stroke-dasharray: 3 2; } svg .part { stroke: var(--bg); stroke-width: 1; }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.c0 { fill: var(--p0); } .c1 { fill: var(--p1); } .c2 { fill: var(--p2); } .c3 { fill: var(--p3); } .c4 { fill: var(--p4); }
.c5 { fill: var(--p5); } .c6 { fill: var(--p6); } .c7 { fill: var(--p7); } .c8 { fill: var(--p8); } .c9 { fill: var(--p9); }
.l0 { stroke: var(--p0); } .l1 { stroke: var(--p1); } .l2 { stroke: var(--p2); } .l3 { stroke: var(--p3); } .l4 { stroke: var(--p4); }
.l5 { stroke: var(--p5); } .l6 { stroke: var(--p6); } .l7 { stroke: var(--p7); } .l8 { stroke: var(--p8); } .l9 { stroke: var(--p9); }
.b0 { background: var(--p0); } .b1 { background: var(--p1); } .b2 { background: var(--p2); } .b3 { background: var(--p3); }
.b4 { background: var(--p4); } .b5 { background: var(--p5); } .b6 { background: var(--p6); } .b7 { background: var(--p7); }
.b8 { background: var(--p8); } .b9 { background: var(--p9); }
@media (max-width: 40rem) { body { padding: 1.25rem .75rem 3rem; } dl.meta { grid-template-columns: 1fr; gap: 0; } dl.meta dd { margin-bottom: .4rem; }
  th, td { padding: .2rem .45rem; } tr.mean td:first-child { white-space: normal; max-width: 7.5rem; } }
@media print { .scroll { overflow: visible; } h2 { break-after: avoid; } svg { break-inside: avoid; max-width: 100%; } }
)css";

}  // namespace sluice
