"use strict";
// Whatever comes from crawled pages enters this page as text: there is no innerHTML in here.
(() => {
  const $ = (id) => document.getElementById(id);
  const WORDS = JSON.parse($("words").textContent);
  const DATA = JSON.parse($("data").textContent);
  const { origin, columns, addresses, titles, better, ids, sites, texts, totals, words } = DATA;
  const ROWS = columns.page.length;
  const EQUAL = new Set(["same_page", "same_list", "same_text", "method"]);
  const PAIRS = new Set(["duplicate", "pair"]);
  const PER_PAGE = 100;
  const GRAM = 3;
  const ENOUGH_PRECISION = 0.99;
  const HELD = { distance: origin.max_distance ?? 11, similarity: origin.min_similarity ?? 0.73 };

  const state = {
    language: "en",
    distance: HELD.distance,
    similarity: HELD.similarity,
    sort: { by: null, falling: false },
    view: new Int32Array(0),
    page: 0,
    clusters: 20,
    open: -1,
  };

  // --- words and figures -------------------------------------------------------------------

  const t = (key, values = {}) => {
    const both = WORDS[key];
    const text = both ? both[state.language === "zh" ? 1 : 0] : key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  };
  const named = (group, word) => (WORDS[`${group}.${word}`] ? t(`${group}.${word}`) : visible(word));
  const locale = () => (state.language === "zh" ? "zh-Hans" : "en");
  const count = (number) => number.toLocaleString(locale());
  const percent = (share) =>
    share.toLocaleString(locale(), { style: "percent", maximumFractionDigits: 1 });
  const similarityText = (value) => (value === null ? "" : value.toFixed(2));
  const moment = (seconds) => {
    const date = new Date(seconds * 1000);
    return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 19).replace("T", " ");
  };

  function bytesText(bytes) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let step = 0;
    let size = bytes;
    for (; size >= 1000 && step < units.length - 1; step += 1) size /= 1000;
    const digits = step && size < 100 ? 1 : 0;
    return `${size.toLocaleString(locale(), { maximumFractionDigits: digits })} ${units[step]}`;
  }

  /** What a page could write to mislead the eye is shown by its number. */
  function visible(text) {
    return String(text).replace(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu,
      (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`,
    );
  }

  // --- elements ----------------------------------------------------------------------------

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") made.addEventListener("click", value);
      else if (value !== null && value !== false) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  function drawing(name, attributes = {}, text = null) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  const own = (text) => element("bdi", {}, visible(text));

  /** An address: a link where following it is harmless, else its text. */
  function addressElement(url) {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    if (!/^https?:$/.test(parsed?.protocol)) return element("span", { class: "url" }, own(url));
    const how = { class: "url", href: parsed.href, rel: "noreferrer noopener", target: "_blank" };
    return element("a", how, own(url));
  }

  /** The URL by which an original had better be linked, if there is one. */
  function betterElement(address) {
    if (!(address in better)) return null;
    return element("p", { class: "quiet" }, `${t("better_url")} `, addressElement(better[address]));
  }

  const titleOf = (address) => titles[address] || "";
  const idOf = (address) => ids[address] ?? addresses[address];

  // --- rows --------------------------------------------------------------------------------

  const verdictOf = (row) => words.verdict[columns.verdict[row]];
  const reasonOf = (row) => words.reason[columns.reason[row]];
  const siteOf = (address) => words.site[sites[address]];
  const objectionOf = (row) => words.objection[columns.objection[row]];
  const isPair = (row) => columns.original[row] !== null && PAIRS.has(verdictOf(row));
  /** A page that was kept has no original, but perhaps one that it looks like. */
  const hasOther = (row) => columns.original[row] !== null;
  const isEqual = (row) => EQUAL.has(reasonOf(row));

  const pairs = [];
  for (let row = 0; row < ROWS; row += 1) if (isPair(row)) pairs.push(row);
  const similar = pairs.filter((row) => !isEqual(row) && columns.similarity[row] !== null);
  /** Kept pages with which a threshold alone stood against a match. */
  const nearMisses = [];
  for (let row = 0; row < ROWS; row += 1) {
    if (hasOther(row) && !isPair(row) && objectionOf(row) === "text_differs") nearMisses.push(row);
  }
  const measured = [...similar, ...nearMisses];
  const isMeasured = new Set(measured);
  const borderOf = (row) => Math.abs(columns.similarity[row] - HELD.similarity);

  const passes = (row, distance, similarity) =>
    columns.distance[row] <= distance && columns.similarity[row] >= similarity;
  const drops = (row, distance = state.distance, similarity = state.similarity) =>
    isPair(row)
      ? isEqual(row) || columns.similarity[row] === null || passes(row, distance, similarity)
      : objectionOf(row) === "text_differs" && passes(row, distance, similarity);

  // --- judgements --------------------------------------------------------------------------

  const STORAGE = `neardup:${origin.kind}:${origin.name}`;
  const judgements = new Map();
  const pairKey = (row) =>
    JSON.stringify([idOf(columns.original[row]), idOf(columns.page[row])]);
  const judgementOf = (row) => judgements.get(pairKey(row)) || "";

  /** Some browsers keep nothing for a file; the judgements then live as long as the page. */
  function remembered(name, value) {
    try {
      if (value !== undefined) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  }

  function loadJudgements() {
    const known = new Set();
    for (let row = 0; row < ROWS; row += 1) if (hasOther(row)) known.add(pairKey(row));
    let stored = [];
    try {
      stored = JSON.parse(remembered(STORAGE) || "[]");
    } catch {
      return;
    }
    for (const [key, label] of stored) if (known.has(key)) judgements.set(key, label);
  }

  function judge(row, label) {
    if (label) judgements.set(pairKey(row), label);
    else judgements.delete(pairKey(row));
    remembered(STORAGE, JSON.stringify([...judgements]));
    showAdvice();
    showTable();
    showExports();
  }

  // --- summary -----------------------------------------------------------------------------

  const totalOf = (test) =>
    totals.reduce(([n, b], row) => (test(row) ? [n + row[2], b + row[3]] : [n, b]), [0, 0]);

  function tile(label, value, more = "") {
    const dd = element("dd", {}, value, more ? " " : "", more ? element("small", {}, more) : "");
    return element("div", {}, element("dt", {}, label), dd);
  }

  function showSummary() {
    const [pages] = totalOf(([verdict]) => verdict !== "pair");
    const [doubles, saved] = totalOf(([verdict]) => verdict === "duplicate");
    const [undecided] = totalOf(([verdict]) => verdict === "undecided");
    const [near] = totalOf(([verdict]) => verdict === "pair");
    const tiles = [];
    if (origin.kind === "store") {
      const inPairs = new Set(pairs.flatMap((row) => [columns.page[row], columns.original[row]]));
      tiles.push(tile(t("pages_stored"), count(pages)), tile(t("pairs_found"), count(near)));
      tiles.push(tile(t("pages_in_pairs"), count(inPairs.size), percent(inPairs.size / (pages || 1))));
      tiles.push(tile(t("sites"), count(new Set(sites).size)));
    } else {
      tiles.push(tile(t(origin.by_item ? "items_judged" : "pages_judged"), count(pages)));
      tiles.push(tile(t(`done.${origin.action}`), count(doubles), percent(doubles / (pages || 1))));
      if (saved) tiles.push(tile(t(origin.action === "drop" ? "bytes_saved" : "bytes_doubled"), bytesText(saved)));
      tiles.push(tile(t("undecided_kept"), count(undecided)));
    }
    $("tiles").replaceChildren(...tiles);
    showNotes();
    showReasons();
    showSites();
    showTimes();
  }

  function showNotes() {
    const notes = [];
    if (origin.kind === "store") notes.push(t("store_note"));
    if (origin.kind === "crawl" && origin.action === "report") notes.push(t("report_note"));
    const [all] = totalOf(() => true);
    if (all > ROWS) notes.push(t("left_out", { listed: count(ROWS), all: count(all) }));
    if (DATA.texts_dropped) notes.push(t("texts_dropped", { n: count(DATA.texts_dropped) }));
    $("notes").textContent = notes.join(" ");
  }

  function meter(share, label) {
    const made = drawing("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img" });
    made.setAttribute("aria-label", label);
    made.append(drawing("rect", { class: "bar", width: Math.max(0.5, 100 * share), height: 10 }));
    return element("td", { class: "meter" }, made);
  }

  function figureRow(name, number, most, extra = null) {
    const cells = [element("td", {}, ...name), element("td", { class: "number" }, count(number))];
    if (extra !== null) cells.push(element("td", { class: "number quiet" }, extra));
    return element("tr", {}, ...cells, meter(number / (most || 1), count(number)));
  }

  function showReasons() {
    const rows = [...totals].sort((a, b) => b[2] - a[2]);
    const most = rows.length ? rows[0][2] : 1;
    $("reasons").replaceChildren(
      ...rows.map(([verdict, reason, number]) => {
        const said = reason ? element("span", { class: "quiet" }, ` · ${named("reason", reason)}`) : "";
        return figureRow([named("verdict", verdict), said], number, most);
      }),
    );
  }

  function showSites() {
    const pages = new Map();
    const doubles = new Map();
    for (let row = 0; row < ROWS; row += 1) {
      const site = sites[columns.page[row]];
      if (verdictOf(row) !== "pair") pages.set(site, (pages.get(site) || 0) + 1);
      if (isPair(row)) doubles.set(site, (doubles.get(site) || 0) + 1);
    }
    const order = [...new Set([...pages.keys(), ...doubles.keys()])].sort(
      (a, b) => (doubles.get(b) || 0) - (doubles.get(a) || 0) || (pages.get(b) || 0) - (pages.get(a) || 0),
    );
    const shown = order.slice(0, 12);
    const most = Math.max(1, ...shown.map((site) => doubles.get(site) || 0));
    $("sites").replaceChildren(
      ...shown.map((site) =>
        figureRow(
          [own(words.site[site] || t("no_site"))],
          doubles.get(site) || 0,
          most,
          t("of_pages", { n: count(pages.get(site) || 0) }),
        ),
      ),
    );
    const more = order.length - shown.length;
    $("more-sites").textContent = more ? t("more_sites", { n: count(more) }) : "";
  }

  // --- charts ------------------------------------------------------------------------------

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
      marks.push({ name: "held", place: (HELD.distance + 1) / n });
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
      marks.push({ name: "held", place: at(HELD.similarity) });
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

  // --- thresholds --------------------------------------------------------------------------

  function showThresholds() {
    $("distance").value = state.distance;
    $("similarity").value = state.similarity;
    $("distance-value").textContent = state.distance;
    $("similarity-value").textContent = state.similarity.toFixed(2);
    const all = [...pairs, ...nearMisses];
    const now = all.filter((row) => drops(row)).length;
    const held = all.filter((row) => drops(row, HELD.distance, HELD.similarity)).length;
    const values = {
      now: count(now),
      all: count(pairs.length),
      near: count(nearMisses.length),
      equal: count(pairs.length - similar.length),
      change: now === held ? t("no_change") : t(now < held ? "fewer" : "more_than", { n: count(Math.abs(now - held)) }),
    };
    $("would").textContent = t(origin.kind === "store" ? "would_pairs" : "would", values);
    showDistances();
    showSimilarities();
  }

  function setThresholds(distance, similarity) {
    state.distance = distance;
    state.similarity = similarity;
    showThresholds();
    if ($("by-threshold").value) select();
  }

  /** Thresholds from judged pairs: the most that are the same, with nearly none that differ. */
  function fromJudgements(same, different) {
    let best = null;
    const levels = [...new Set([...same, ...different].map((row) => Math.floor(columns.similarity[row] * 100) / 100))];
    for (const similarity of levels.sort((a, b) => b - a)) {
      for (let distance = 0; distance <= 11; distance += 1) {
        const found = same.filter((row) => drops(row, distance, similarity)).length;
        const wrong = different.filter((row) => drops(row, distance, similarity)).length;
        const isPrecise = found && found / (found + wrong) >= ENOUGH_PRECISION;
        if (isPrecise && (best === null || found > best.found)) best = { distance, similarity, found, wrong };
      }
    }
    return best;
  }

  /** Where nothing was judged: the widest gap among the less similar half shows a border. */
  function fromGaps() {
    const values = similar.map((row) => columns.similarity[row]).sort((a, b) => a - b);
    let gap = { size: 0 };
    for (let i = 1; i <= values.length / 2; i += 1) {
      const size = values[i] - values[i - 1];
      if (size > gap.size) gap = { size, from: values[i - 1], to: values[i], below: i };
    }
    if (gap.size < 0.04) return null;
    return { ...gap, similarity: Math.ceil(((gap.from + gap.to) / 2) * 100 - 1e-9) / 100 };
  }

  /** The least distance that holds all pairs found at a similarity. */
  const farthest = (similarity) =>
    similar.reduce((far, row) => (columns.similarity[row] >= similarity ? Math.max(far, columns.distance[row]) : far), 0);

  function advised() {
    const judged = measured.filter((row) => judgementOf(row));
    const same = judged.filter((row) => judgementOf(row) === "duplicate");
    const different = judged.filter((row) => judgementOf(row) === "distinct");
    const values = { same: count(same.length), different: count(different.length) };
    const reasons = [];
    if (same.length && different.length) {
      const best = fromJudgements(same, different);
      if (best === null) return { ...HELD, reasons: [t("advice_none", values)] };
      Object.assign(values, { found: count(best.found), wrong: count(best.wrong) });
      reasons.push(t("advice_judged", values), t("advice_strictest"));
      // Clopper and Pearson's bound where none was wrong: 1 − 0.05^(1/n).
      const bound = 1 - 0.05 ** (1 / best.found);
      if (!best.wrong) reasons.push(t("advice_bound", { n: count(best.found), bound: percent(bound) }));
      return { distance: best.distance, similarity: best.similarity, reasons };
    }
    if (!similar.length) return { ...HELD, reasons: [t("advice_no_pairs")] };
    const gap = fromGaps();
    if (gap !== null) {
      const from = similarityText(gap.from);
      reasons.push(t("advice_gap", { from, to: similarityText(gap.to), below: count(gap.below) }));
    } else {
      reasons.push(t("advice_no_gap"));
    }
    const similarity = gap === null ? HELD.similarity : gap.similarity;
    const seen = { far: farthest(similarity), similarity: similarity.toFixed(2) };
    reasons.push(t("advice_far", seen));
    const border = similar.filter((row) => columns.similarity[row] < HELD.similarity + 0.1).length;
    if (border) reasons.push(t("advice_border", { n: count(border), to: (HELD.similarity + 0.1).toFixed(2) }));
    reasons.push(judged.length ? t("advice_both", values) : t("advice_judge"));
    return { distance: HELD.distance, similarity, reasons };
  }

  function showAdvice() {
    const advice = advised();
    $("advice").replaceChildren(
      element(
        "p",
        {},
        element("code", {}, `NEARDUP_MAX_DISTANCE = ${advice.distance}`),
        ", ",
        element("code", {}, `NEARDUP_MIN_SIMILARITY = ${advice.similarity.toFixed(2)}`),
      ),
      element("ul", {}, ...advice.reasons.map((reason) => element("li", {}, reason))),
    );
    return advice;
  }

  // --- clusters ----------------------------------------------------------------------------

  function clustersOf() {
    const parents = new Int32Array(addresses.length).map((_, i) => i);
    const root = (at) => {
      let place = at;
      while (parents[place] !== place) {
        parents[place] = parents[parents[place]];
        place = parents[place];
      }
      return place;
    };
    for (const row of pairs) {
      const [a, b] = [root(columns.original[row]), root(columns.page[row])];
      if (a !== b) parents[b] = a;
    }
    const groups = new Map();
    for (const row of pairs) {
      const at = root(columns.page[row]);
      if (!groups.has(at)) groups.set(at, { first: at, rows: [], pages: new Set() });
      const group = groups.get(at);
      group.rows.push(row);
      group.pages.add(columns.page[row]).add(columns.original[row]);
    }
    return [...groups.values()].sort((a, b) => b.pages.size - a.pages.size);
  }

  const clusters = clustersOf();

  function openButton(row, address) {
    const label = titleOf(address) || addresses[address];
    return element("button", { type: "button", class: "open", onclick: () => openPair(row) }, own(label));
  }

  function clusterElement(cluster) {
    const name = element("span", { class: "name" }, own(titleOf(cluster.first) || addresses[cluster.first]));
    const size = element("span", { class: "number" }, t("n_pages", { n: count(cluster.pages.size) }));
    const made = element("details", {}, element("summary", {}, size, name));
    const fill = () => {
      if (!made.open || made.childElementCount > 1) return;
      const list = element("ol", {}, element("li", {}, own(titleOf(cluster.first)), addressElement(addresses[cluster.first]), betterElement(cluster.first)));
      for (const row of cluster.rows.slice(0, 200)) {
        const page = columns.page[row];
        const url = titleOf(page) ? addressElement(addresses[page]) : null;
        const figures = columns.distance[row] === null ? "" : ` ${columns.distance[row]} · ${similarityText(columns.similarity[row])}`;
        list.append(element("li", {}, openButton(row, page), element("span", { class: "quiet" }, figures), url));
      }
      const more = cluster.rows.length - 200;
      made.append(list);
      if (more > 0) made.append(element("p", { class: "quiet" }, t("and_more", { n: count(more) })));
    };
    made.addEventListener("toggle", fill);
    return made;
  }

  function showClusters() {
    $("clusters-intro").textContent = clusters.length ? t("clusters_intro", { n: count(clusters.length) }) : t("no_clusters");
    $("clusters").replaceChildren(...clusters.slice(0, state.clusters).map(clusterElement));
    $("more-clusters").hidden = state.clusters >= clusters.length;
  }

  // --- the list ----------------------------------------------------------------------------

  const haystacks = new Array(addresses.length);
  function haystack(address) {
    haystacks[address] ??= `${addresses[address]}\n${titleOf(address)}\n${ids[address] ?? ""}`.toLowerCase();
    return haystacks[address];
  }

  const SORTS = {
    page: (row) => addresses[columns.page[row]],
    original: (row) => (columns.original[row] === null ? "" : addresses[columns.original[row]]),
    verdict: (row) => `${verdictOf(row)} ${reasonOf(row)}`,
    distance: (row) => columns.distance[row] ?? Infinity,
    similarity: (row) => columns.similarity[row] ?? -1,
    bytes: (row) => columns.bytes[row] ?? -1,
    time: (row) => columns.time[row] ?? Infinity,
    judgement: (row) => judgementOf(row),
    doubt: (row) => (isMeasured.has(row) && !judgementOf(row) ? borderOf(row) : Infinity),
  };

  function select() {
    const wanted = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = (id) => $(id).value;
    const verdict = words.verdict.indexOf(chosen("by-verdict"));
    const reason = words.reason.indexOf(chosen("by-reason"));
    const site = chosen("by-site") === "" ? -1 : Number(chosen("by-site"));
    const threshold = chosen("by-threshold");
    const judgement = chosen("by-judgement");
    const found = (row) => {
      const original = columns.original[row];
      return wanted.every(
        (word) =>
          haystack(columns.page[row]).includes(word) ||
          (original !== null && haystack(original).includes(word)),
      );
    };
    const view = [];
    for (let row = 0; row < ROWS; row += 1) {
      if (verdict >= 0 && columns.verdict[row] !== verdict) continue;
      if (reason >= 0 && columns.reason[row] !== reason) continue;
      if (site >= 0 && sites[columns.page[row]] !== site) continue;
      if (threshold && !(hasOther(row) && drops(row) === (threshold === "dropped"))) continue;
      if (judgement === "none" && !(hasOther(row) && !judgementOf(row))) continue;
      if (judgement && judgement !== "none" && judgementOf(row) !== judgement) continue;
      if (wanted.length && !found(row)) continue;
      view.push(row);
    }
    state.view = sorted(view);
    state.page = 0;
    showTable();
  }

  function sorted(view) {
    const { by, falling } = state.sort;
    if (by === null) return view;
    const keys = new Map(view.map((row) => [row, SORTS[by](row)]));
    const sign = falling ? -1 : 1;
    return view.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }

  function shownColumns() {
    const has = (name) => columns[name].some((value) => value !== null);
    const others = has("original");
    return [
      "page",
      ...(others ? ["original"] : []),
      "verdict",
      ...(others ? ["distance", "similarity"] : []),
      ...(has("bytes") ? ["bytes"] : []),
      ...(has("time") ? ["time"] : []),
      ...(others ? ["judgement"] : []),
    ];
  }

  const COLUMNS = shownColumns();
  const NUMBERS = new Set(["distance", "similarity", "bytes"]);
  const classOf = (name) => (NUMBERS.has(name) ? "number" : name === "original" ? "page" : name);

  function showHead() {
    const heads = COLUMNS.map((name) => {
      const { by, falling } = state.sort;
      const arrow = by === name ? (falling ? " ↓" : " ↑") : "";
      const sortBy = () => {
        state.sort = { by: name, falling: by === name && !falling };
        showHead();
        state.view = sorted([...state.view]);
        state.page = 0;
        showTable();
        $("table").querySelector(`button[data-sort="${name}"]`).focus();
      };
      const button = element("button", { type: "button", "data-sort": name, onclick: sortBy }, t(`column.${name}`) + arrow);
      const order = by === name ? (falling ? "descending" : "ascending") : null;
      return element("th", { scope: "col", class: classOf(name), "aria-sort": order }, button);
    });
    $("table").tHead.replaceChildren(element("tr", {}, ...heads));
  }

  function pageCell(row, address) {
    const title = titleOf(address);
    const main = hasOther(row) ? openButton(row, address) : own(title || addresses[address]);
    return [main, title || hasOther(row) ? addressElement(addresses[address]) : null].filter(Boolean);
  }

  /** Why a page was dropped, or why it was kept although there is another one like it. */
  const whyOf = (row) =>
    hasOther(row) && !isPair(row)
      ? t("kept_because", { objection: named("objection", objectionOf(row)) })
      : named("reason", reasonOf(row));

  const CELLS = {
    page: (row) => pageCell(row, columns.page[row]),
    original: (row) => {
      const at = columns.original[row];
      if (at === null) return [];
      const title = titleOf(at);
      return title ? [own(title), addressElement(addresses[at])] : [addressElement(addresses[at])];
    },
    verdict: (row) => [
      named("verdict", verdictOf(row)),
      reasonOf(row) ? element("span", { class: "url" }, whyOf(row)) : "",
    ],
    distance: (row) => [columns.distance[row] === null ? "" : String(columns.distance[row])],
    similarity: (row) => [similarityText(columns.similarity[row])],
    bytes: (row) => [columns.bytes[row] === null ? "" : bytesText(columns.bytes[row])],
    time: (row) => [columns.time[row] === null ? "" : moment(columns.time[row])],
    judgement: (row) => [judgementOf(row) ? t(`label.${judgementOf(row)}`) : ""],
  };

  function showTable() {
    const pages = Math.max(1, Math.ceil(state.view.length / PER_PAGE));
    state.page = Math.min(state.page, pages - 1);
    const rows = state.view.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE);
    $("table").tBodies[0].replaceChildren(
      ...[...rows].map((row) =>
        element("tr", {}, ...COLUMNS.map((name) => element("td", { class: classOf(name) }, ...CELLS[name](row)))),
      ),
    );
    $("shown").textContent = t("shown", { n: count(state.view.length), all: count(ROWS) });
    $("page").textContent = t("page_of", { n: count(state.page + 1), all: count(pages) });
    $("previous").disabled = state.page === 0;
    $("next").disabled = state.page >= pages - 1;
  }

  function options(id, any, choices) {
    const chosen = $(id).value;
    $(id).replaceChildren(
      element("option", { value: "" }, any),
      ...choices.map(([value, label]) => element("option", { value }, label)),
    );
    $(id).value = chosen;
    if ($(id).selectedIndex < 0) $(id).value = "";
  }

  function showFilters() {
    options("by-verdict", t("all"), words.verdict.map((word) => [word, named("verdict", word)]));
    options("by-reason", t("all"), words.reason.filter(Boolean).map((word) => [word, named("reason", word)]));
    const known = words.site.map((site, i) => [i, site]).filter(([, site]) => site);
    options("by-site", t("all"), known.sort((a, b) => (a[1] < b[1] ? -1 : 1)).slice(0, 1000).map(([i, site]) => [String(i), visible(site)]));
    options("by-threshold", t("all"), [["dropped", t("threshold_dropped")], ["kept", t("threshold_kept")]]);
    const labels = ["duplicate", "distinct", "unclear"].map((label) => [label, t(`label.${label}`)]);
    options("by-judgement", t("all"), [...labels, ["none", t("not_judged")]]);
  }

  // --- what is taken away ------------------------------------------------------------------

  function download(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  // The mark tells spreadsheets that it is UTF-8.
  const csv = (rows) => `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\r\n")}\r\n`;
  /** A spreadsheet would run a text that begins like a formula; `evaluate` takes the ' away again. */
  const harmless = (value) => (typeof value === "string" && /^'*[=+\-@\t\r\n]/.test(value) ? `'${value}` : value);

  function record(row) {
    const [page, original] = [columns.page[row], columns.original[row]];
    return {
      id: idOf(page),
      url: addresses[page],
      title: titleOf(page),
      verdict: verdictOf(row),
      reason: reasonOf(row),
      duplicate_of: isPair(row) ? addresses[original] : null,
      duplicate_of_id: isPair(row) ? idOf(original) : null,
      look_alike: hasOther(row) && !isPair(row) ? addresses[original] : null,
      look_alike_id: hasOther(row) && !isPair(row) ? idOf(original) : null,
      objection: objectionOf(row) || null,
      distance: columns.distance[row],
      similarity: columns.similarity[row],
      bytes: columns.bytes[row],
      time: columns.time[row],
      judgement: judgementOf(row) || null,
    };
  }

  function exportCsv() {
    const records = [...state.view].map(record);
    const names = Object.keys(records[0] || record(0));
    download("decisions.csv", "text/csv", csv([names, ...records.map((r) => names.map((n) => harmless(r[n])))]));
  }

  function exportLines() {
    const lines = [...state.view].map((row) => `${JSON.stringify(record(row))}\n`);
    download("decisions.jsonl", "application/jsonl", lines.join(""));
  }

  function exportJudgements() {
    const rows = [...judgements].map(([key, label]) => [...JSON.parse(key).map(harmless), label]);
    download("judgements.csv", "text/csv", csv([["id_a", "id_b", "label"], ...rows]));
  }

  function showExports() {
    $("export-judgements").textContent = t("export_judgements", { n: count(judgements.size) });
    $("export-judgements").disabled = !judgements.size;
    $("export-csv").disabled = $("export-jsonl").disabled = !ROWS;
  }

  // --- a pair ------------------------------------------------------------------------------

  async function unpacked(address) {
    const packed = texts === null ? undefined : texts[address];
    if (packed === undefined) return null;
    const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  const tokensOf = (text) =>
    text.match(/\p{Script=Han}|[\p{L}\p{N}\p{M}]+|\s+|[^]/gu) || [];
  const isSpace = (token) => /^\s/.test(token);

  function gramsOf(tokens, length) {
    const said = tokens.filter((token) => !isSpace(token)).map((token) => token.toLowerCase());
    const grams = [];
    for (let i = 0; i + length <= said.length; i += 1) grams.push(said.slice(i, i + length).join("\n"));
    return grams;
  }

  /** Which tokens stand in no run of a few words that the other text has as well. */
  function differences(tokens, other) {
    const length = Math.max(1, Math.min(GRAM, ...[tokens, other].map((all) => all.filter((x) => !isSpace(x)).length)));
    const known = new Set(gramsOf(other, length));
    const grams = gramsOf(tokens, length);
    const said = tokens.length ? new Uint8Array(grams.length + length) : new Uint8Array(0);
    grams.forEach((gram, place) => {
      if (known.has(gram)) said.fill(1, place, place + length);
    });
    let place = -1;
    return tokens.map((token) => {
      if (isSpace(token)) return false;
      place += 1;
      return !said[place];
    });
  }

  function marked(tokens, differs) {
    const made = element("div", { class: "text", dir: "auto" });
    let start = 0;
    const isOut = (i) => differs[i] || (isSpace(tokens[i]) && i > 0 && i + 1 < tokens.length && differs[i - 1] && differs[i + 1]);
    for (let i = 1; i <= tokens.length; i += 1) {
      if (i < tokens.length && isOut(i) === isOut(start)) continue;
      const text = visible(tokens.slice(start, i).join(""));
      made.append(isOut(start) ? element("mark", {}, text) : text);
      start = i;
    }
    return made;
  }

  function side(id, label, address, body) {
    const head = element("h3", {}, own(titleOf(address) || t("no_title")));
    const parts = [element("p", { class: "quiet" }, label), head, addressElement(addresses[address]), betterElement(address), body];
    $(id).replaceChildren(...parts.filter((part) => part !== null));
  }

  function facts(row) {
    const parts = [whyOf(row)];
    if (columns.distance[row] !== null) parts.push(`${t("column.distance")} ${columns.distance[row]}`);
    if (columns.similarity[row] !== null) parts.push(`${t("column.similarity")} ${similarityText(columns.similarity[row])}`);
    if (columns.time[row] !== null) parts.push(`${moment(columns.time[row])} UTC`);
    if (columns.bytes[row] !== null) parts.push(bytesText(columns.bytes[row]));
    return parts.join(" · ");
  }

  async function showPair() {
    const row = state.open;
    const [page, original] = [columns.page[row], columns.original[row]];
    $("pair-facts").textContent = facts(row);
    for (const input of $("judging").querySelectorAll("input")) input.checked = input.value === judgementOf(row);
    $("unjudge").disabled = !judgementOf(row);
    const both = [original, page];
    const [left, right] = await Promise.all(both.map(unpacked));
    if (state.open !== row) return;
    const bodies = [left, right].map((text) => element("p", { class: "quiet" }, text === null ? t(texts === null ? `no_texts.${origin.kind}` : "no_text_kept") : ""));
    $("marked").textContent = "";
    if (left !== null && right !== null) {
      const [a, b] = [tokensOf(left), tokensOf(right)];
      bodies[0] = marked(a, differences(a, b));
      bodies[1] = marked(b, differences(b, a));
      $("marked").textContent = t("marked");
    } else {
      [left, right].forEach((text, i) => {
        if (text !== null) bodies[i] = marked(tokensOf(text), []);
      });
    }
    side("left", t(isPair(row) ? "stored_page" : "look_alike"), original, bodies[0]);
    side("right", t("this_page"), page, bodies[1]);
  }

  const openable = () => [...state.view].filter(hasOther);

  function openPair(row) {
    state.open = row;
    if (!$("pair").open) $("pair").showModal();
    $("pair").scrollTop = 0;
    showPair();
  }

  function step(by) {
    const rows = openable();
    const place = rows.indexOf(state.open) + by;
    if (rows.length) openPair(rows[(place + rows.length) % rows.length]);
  }

  // --- language, theme, and the beginning ----------------------------------------------------

  function showAll() {
    document.documentElement.lang = locale();
    document.title = t("document_title", { name: visible(origin.name) });
    for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
    for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
    $("origin").textContent = t(`origin.${origin.kind}`, { name: visible(origin.name), made: moment(origin.made) });
    $("limits").textContent = t(`limits.${origin.kind}`);
    showSummary();
    showThresholds();
    showAdvice();
    showClusters();
    showFilters();
    showHead();
    showTable();
    showExports();
    if (state.open >= 0 && $("pair").open) showPair();
  }

  function listen() {
    const on = (id, event, act) => $(id).addEventListener(event, act);
    on("language", "change", () => {
      state.language = $("language").value;
      remembered("neardup:language", state.language);
      showAll();
    });
    on("theme", "change", () => {
      document.documentElement.dataset.theme = $("theme").value;
      remembered("neardup:theme", $("theme").value);
    });
    for (const id of ["distance", "similarity"]) {
      on(id, "input", () => setThresholds(Number($("distance").value), Number($("similarity").value)));
    }
    on("reset", "click", () => setThresholds(HELD.distance, HELD.similarity));
    on("apply", "click", () => {
      const { distance, similarity } = advised();
      setThresholds(distance, similarity);
    });
    on("doubtful", "click", () => {
      for (const choice of $("filters").querySelectorAll("select")) choice.value = "";
      $("search").value = "";
      $("by-judgement").value = "none";
      state.sort = { by: "doubt", falling: false };
      showHead();
      select();
      $("decisions").scrollIntoView();
      $("decisions").focus();
    });
    on("more-clusters", "click", () => {
      state.clusters += 50;
      showClusters();
    });
    addEventListener("resize", showTimes);
    let waiting = 0;
    on("search", "input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(select, 120);
    });
    on("filters", "change", (event) => {
      // A search that is left would build the list anew, under the hand that goes to it.
      if (event.target !== $("search")) select();
    });
    on("filters", "submit", (event) => event.preventDefault());
    on("previous", "click", () => turn(-1));
    on("next", "click", () => turn(1));
    on("export-csv", "click", exportCsv);
    on("export-jsonl", "click", exportLines);
    on("export-judgements", "click", exportJudgements);
    on("pair-close", "click", () => $("pair").close());
    on("pair-previous", "click", () => step(-1));
    on("pair-next", "click", () => step(1));
    on("judging", "change", (event) => {
      judge(state.open, event.target.value);
      $("unjudge").disabled = false;
    });
    on("unjudge", "click", () => {
      judge(state.open, "");
      showPair();
    });
  }

  function turn(by) {
    state.page += by;
    showTable();
    $("decisions").scrollIntoView();
  }

  state.language = remembered("neardup:language") || (navigator.language.startsWith("zh") ? "zh" : "en");
  const theme = remembered("neardup:theme") || "auto";
  document.documentElement.dataset.theme = theme;
  $("language").value = state.language;
  $("theme").value = theme;
  loadJudgements();
  state.view = Int32Array.from({ length: ROWS }, (_, row) => row);
  $("similarity").min = lowest.toFixed(2);
  listen();
  showAll();
  if (pairs.length) {
    const kind = origin.kind === "store" ? "pair" : "duplicate";
    $("by-verdict").value = kind;
    select();
  }
})();
