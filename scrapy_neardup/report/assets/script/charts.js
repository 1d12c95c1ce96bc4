const WIDE = 480;
const HIGH = 130;

/** Bars of two parts each, the lower one filled. `marks` are lines at a place from 0 to 1. */
function bars(label, bins, marks = [], wide = WIDE) {
  const made = drawing("svg", { viewBox: `0 -14 ${wide} ${HIGH + 32}`, role: "img" });
  made.setAttribute("aria-label", label);
  const most = Math.max(1, ...bins.map((bin) => bin.filled + bin.rest));
  const width = wide / bins.length;
  bins.forEach((bin, place) => {
    const x = place * width + Math.min(2, width * 0.1);
    const w = Math.max(1, width - Math.min(4, width * 0.2));
    const filled = (HIGH * bin.filled) / most;
    const rest = (HIGH * bin.rest) / most;
    made.append(drawing("rect", { class: "bar", x, y: HIGH - filled, width: w, height: filled }));
    const upper = drawing("rect", { class: "bar out", x, y: HIGH - filled - rest, width: w, height: rest });
    upper.append(drawing("title", {}, bin.title));
    made.append(upper);
    const all = bin.filled + bin.rest;
    if (all && width > 24) {
      const y = HIGH - filled - rest - 4;
      made.append(drawing("text", { x: x + w / 2, y, "text-anchor": "middle" }, count(all)));
    }
    if (bin.label) {
      made.append(drawing("text", { x: x + w / 2, y: HIGH + 14, "text-anchor": "middle" }, bin.label));
    }
  });
  made.append(drawing("line", { class: "axis", x1: 0, x2: wide, y1: HIGH, y2: HIGH }));
  for (const mark of marks) {
    const x = Math.min(wide - 1, Math.max(1, mark.place * wide));
    made.append(drawing("line", { class: mark.name, x1: x, x2: x, y1: -8, y2: HIGH }));
    if (mark.label) {
      const isRight = mark.place > 0.6;
      const place = { x: isRight ? x - 4 : x + 4, y: -4, "text-anchor": isRight ? "end" : "start" };
      made.append(drawing("text", { class: "mark-label", ...place }, mark.label));
    }
  }
  return made;
}

function binned(n, placeOf, rows, test) {
  const bins = Array.from({ length: n }, () => ({ filled: 0, rest: 0, title: "" }));
  for (const row of rows) {
    const bin = bins[Math.min(n - 1, Math.max(0, placeOf(row)))];
    if (test(row)) bin.filled += 1;
    else bin.rest += 1;
  }
  return bins;
}

const told = (bin) => t("bin", { dropped: count(bin.filled), kept: count(bin.rest) });

function showDistances() {
  const n = 12;
  const bins = binned(n, (row) => columns.distance[row], measured, (row) => drops(row));
  bins.forEach((bin, place) => {
    bin.label = String(place);
    bin.title = `${place}: ${told(bin)}`;
  });
  const marks = [{ name: "threshold", place: (state.distance + 1) / n }];
  if (origin.max_distance !== null && HELD.distance !== state.distance) {
    marks.push({ name: "held", place: (HELD.distance + 1) / n, label: t(`used.${origin.kind}`) });
  }
  $("distances").replaceChildren(bars(t("distances_label", { n: count(measured.length) }), bins, marks));
}

let lowest = HELD.similarity;
for (const row of measured) lowest = Math.min(lowest, columns.similarity[row]);
lowest = Math.min(0.9, Math.floor(lowest * 10 + 1e-9) / 10);

function showSimilarities() {
  const n = Math.round((1 - lowest) / 0.02);
  const step = (1 - lowest) / n;
  const place = (row) => Math.floor((columns.similarity[row] - lowest) / step + 1e-9);
  const bins = binned(n, place, measured, (row) => drops(row));
  bins.forEach((bin, i) => {
    const from = lowest + i * step;
    bin.title = `${from.toFixed(2)}–${(from + step).toFixed(2)}: ${told(bin)}`;
  });
  const at = (similarity) => (similarity - lowest) / (1 - lowest);
  const marks = [{ name: "threshold", place: at(state.similarity) }];
  if (origin.min_similarity !== null && HELD.similarity !== state.similarity) {
    marks.push({ name: "held", place: at(HELD.similarity), label: t(`used.${origin.kind}`) });
  }
  const chart = bars(t("similarities_label", { n: count(measured.length) }), bins, marks);
  const ticks = Math.round((1 - lowest) / (lowest < 0.5 ? 0.1 : 0.05));
  for (let tick = 0; tick <= ticks; tick += 1) {
    const anchor = tick === 0 ? "start" : tick === ticks ? "end" : "middle";
    const label = (lowest + ((1 - lowest) * tick) / ticks).toFixed(2);
    const place = { x: (WIDE * tick) / ticks, y: HIGH + 14, "text-anchor": anchor };
    chart.append(drawing("text", place, label));
  }
  $("similarities").replaceChildren(chart);
}

function showTimes() {
  const rows = [];
  let first = Infinity;
  let last = -Infinity;
  for (let row = 0; row < ROWS; row += 1) {
    const at = columns.time[row];
    if (at === null || verdictOf(row) === "pair") continue;
    rows.push(row);
    first = Math.min(first, at);
    last = Math.max(last, at);
  }
  $("over-time").hidden = !rows.length || first === last;
  if ($("over-time").hidden) return;
  const n = Math.min(60, new Set(rows.map((row) => columns.time[row])).size);
  const step = (last - first) / n;
  const bins = binned(n, (row) => Math.floor((columns.time[row] - first) / step), rows, isPair);
  bins.forEach((bin, place) => {
    const values = { doubles: count(bin.filled), others: count(bin.rest) };
    bin.title = `${moment(first + place * step)} UTC: ${t("bin_time", values)}`;
  });
  const wide = $("times").clientWidth || WIDE;
  const chart = bars(t("over_time"), bins, [], wide);
  const ends = [["start", 0, first], ["end", wide, last]];
  for (const [anchor, x, at] of ends) {
    chart.append(drawing("text", { x, y: HIGH + 14, "text-anchor": anchor }, `${moment(at)} UTC`));
  }
  $("times").replaceChildren(chart, element("p", { class: "quiet" }, t("over_time_legend")));
}
