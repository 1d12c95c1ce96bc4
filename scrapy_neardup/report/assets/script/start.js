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
  showKeys();
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
  on("pair", "close", closed);
  on("judging", "change", (event) => label(event.target.value));
  on("unjudge", "click", () => label(""));
  listenToKeys();
  addEventListener("popstate", follow);
  const observer = new ResizeObserver(() => showScrolling());
  for (const box of document.querySelectorAll(".scroll, .scroll > table")) observer.observe(box);
}

/** A box that scrolls can be focused, so that arrow keys scroll it. */
function showScrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
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
$("thresholds").hidden = $("by-threshold").parentElement.hidden = origin.max_distance === null;
listen();
showAll();
if (pairs.length) {
  const kind = origin.kind === "store" ? "pair" : "duplicate";
  $("by-verdict").value = kind;
  select();
}
follow();
