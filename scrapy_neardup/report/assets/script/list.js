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
  // The pages of a store have an empty reason, which is not the choice of all reasons.
  const placeOf = (list, id) => (chosen(id) === "" ? -1 : list.indexOf(chosen(id)));
  const verdict = placeOf(words.verdict, "by-verdict");
  const reason = placeOf(words.reason, "by-reason");
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
  const main = hasOther(row) ? pairLink(row, address) : own(title || addresses[address]);
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

/** A row opens its pair, as its link does, unless the click follows a link or selects text. */
function rowElement(row) {
  const cells = COLUMNS.map((name) => element("td", { class: classOf(name) }, ...CELLS[name](row)));
  if (!hasOther(row)) return element("tr", {}, ...cells);
  const open = (event) => {
    if (hasModifier(event) || event.target.closest("a") || !getSelection().isCollapsed) return;
    // The focus returns to it when the pair is closed.
    event.currentTarget.querySelector(".open").focus({ preventScroll: true });
    openPair(row);
  };
  return element("tr", { class: "openable", onclick: open }, ...cells);
}

function showTable() {
  const pages = Math.max(1, Math.ceil(state.view.length / PER_PAGE));
  state.page = Math.min(state.page, pages - 1);
  const rows = state.view.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE);
  $("table").tBodies[0].replaceChildren(...[...rows].map(rowElement));
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
