// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice::report {

/// Of charts, in a page and alone. The palette is Okabe and Ito's, which no common colour blindness confuses: c fills, l strokes,
/// b is a legend's swatch.
inline constexpr const char* kChartStyle = R"css(
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --muted: #59636e; --rule: #d9dee3; --panel: #f3f5f7;
  --p0: #8a8f96; --p1: #e69f00; --p2: #56b4e9; --p3: #009e73; --p4: #0072b2; --p5: #d55e00; --p6: #cc79a7; --p7: #b8a400;
  --p8: #7a5c3e; --p9: #4b3f9e; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e4e8ec; --muted: #9aa5b1; --rule: #343b44; --panel: #1d2228;
  --p0: #8f969e; --p4: #3d9be0; --p5: #ec7424; --p7: #d9c82b; --p8: #b08b66; --p9: #9a8cf0; } }
svg { font: 12px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
svg text { fill: var(--fg); paint-order: stroke; stroke: var(--bg); stroke-width: 3px; } svg .muted { fill: var(--muted); } svg .strong { font-weight: 700; }
svg .headline { font-size: 15px; font-weight: 700; } svg .page { fill: var(--bg); } svg .lane { fill: var(--panel); }
svg .grid { stroke: var(--rule); } svg .axis { stroke: var(--muted); } svg .baseline { stroke: var(--muted); stroke-dasharray: 4 3; }
svg .phase { stroke: var(--fg); stroke-width: 1.2; } svg .interval { stroke: var(--fg); stroke-width: 1.3; }
svg .stem { stroke-width: 2; stroke-opacity: .55; } svg .part { stroke: var(--bg); } svg .dot { stroke: var(--bg); }
svg .paper { fill: var(--bg); stroke: var(--fg); stroke-width: 1.6; }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.c0 { fill: var(--p0); } .c1 { fill: var(--p1); } .c2 { fill: var(--p2); } .c3 { fill: var(--p3); } .c4 { fill: var(--p4); }
.c5 { fill: var(--p5); } .c6 { fill: var(--p6); } .c7 { fill: var(--p7); } .c8 { fill: var(--p8); } .c9 { fill: var(--p9); }
.l0 { stroke: var(--p0); } .l1 { stroke: var(--p1); } .l2 { stroke: var(--p2); } .l3 { stroke: var(--p3); } .l4 { stroke: var(--p4); }
.l5 { stroke: var(--p5); } .l6 { stroke: var(--p6); } .l7 { stroke: var(--p7); } .l8 { stroke: var(--p8); } .l9 { stroke: var(--p9); }
)css";

/// Of everything else in a page.
inline constexpr const char* kPageStyle = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 74rem; background: var(--bg); color: var(--fg);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.22; margin: 0 0 .4rem; max-width: 54rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.6rem 0 .25rem; padding-top: .7rem; border-top: 1px solid var(--rule); }
h3 { font-size: .95rem; margin: 1rem 0 .15rem; }
p { margin: .35rem 0 .7rem; max-width: 46rem; } .lead { color: var(--muted); font-size: 1.05rem; }
nav { font-size: .875rem; margin: .8rem 0; } nav a { margin-right: .9rem; white-space: nowrap; } a { color: var(--p4); }
dl.said { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .9rem; margin: .4rem 0 .7rem; max-width: 54rem; }
dl.said dt { color: var(--muted); } dl.said dd { margin: 0; min-width: 0; }
.scroll { overflow-x: auto; margin: .4rem 0 .6rem; }
.multiples { display: flex; flex-wrap: wrap; gap: .6rem 1.6rem; } .multiple { max-width: 100%; }
svg { display: block; max-width: 100%; height: auto; } .narrow { display: none; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 700; padding: .2rem 0; }
th, td { padding: .22rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { font-weight: 600; vertical-align: bottom; } thead th { border-bottom: 2px solid var(--rule); white-space: normal; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--bg); }
th.words, td.words { text-align: left; white-space: normal; min-width: 13rem; max-width: 30rem; vertical-align: top; }
tr.group th { padding-top: .8rem; color: var(--muted); } tr.mean td { font-weight: 700; background: var(--panel); }
.published { color: var(--muted); font-style: italic; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--muted); font-size: .875rem; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .3rem 0; padding: 0; font-size: .875rem; }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .45em; }
.legend i.ring { border: 2px solid var(--fg); border-radius: 50%; }
.b0 { background: var(--p0); } .b1 { background: var(--p1); } .b2 { background: var(--p2); } .b3 { background: var(--p3); }
.b4 { background: var(--p4); } .b5 { background: var(--p5); } .b6 { background: var(--p6); } .b7 { background: var(--p7); }
.b8 { background: var(--p8); } .b9 { background: var(--p9); }
footer { margin-top: 3rem; padding-top: .6rem; border-top: 1px solid var(--rule); color: var(--muted); font-size: .8rem; overflow-wrap: anywhere; }
footer code { font: .95em/1.4 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
@media (max-width: 44rem) { body { padding: 1.1rem .7rem 2rem; } h1 { font-size: 1.35rem; } .wide { display: none; } .narrow { display: block; }
  th, td { padding: .2rem .4rem; } td:first-child, th:first-child { white-space: normal; overflow-wrap: anywhere; max-width: 9rem; }
  dl.said { grid-template-columns: 1fr; gap: 0; } dl.said dd { margin-bottom: .4rem; } }
@media print { .scroll { overflow: visible; } svg { break-inside: avoid; } }
)css";

}  // namespace sluice::report
