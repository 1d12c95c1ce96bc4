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
  const [unchanged] = totalOf(([verdict, reason]) => verdict === "revisit" && reason === "unchanged");
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
    const dropped = origin.action === "drop" ? doubles : 0;
    const kept = pages - dropped - (origin.drops_unchanged ? unchanged : 0);
    tiles.push(tile(t("kept"), count(kept), percent(kept / (pages || 1))));
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
  const cells = [element("th", { scope: "row" }, ...name), element("td", { class: "number" }, count(number))];
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
