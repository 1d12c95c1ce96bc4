const MOST_OF_CLUSTER = 200;

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

/** The pages of a cluster that duplicate no other one. In a store all pages were kept. */
function originalsOf(cluster) {
  const copies = new Set(cluster.rows.map((row) => columns.page[row]));
  return [...cluster.pages].filter((page) => !copies.has(page));
}

function originalElement(page) {
  const mark = t(`mark.${origin.kind === "store" ? "store" : origin.action}`);
  const title = titleOf(page);
  const parts = [element("strong", { class: "tag" }, mark), " ", title ? own(title) : null];
  return element("li", {}, ...parts, addressElement(addresses[page]), betterElement(page));
}

function copyElement(row) {
  const page = columns.page[row];
  const figures = element("span", { class: "quiet" }, ` ${figuresOf(row).join(" · ")}`);
  const url = titleOf(page) ? addressElement(addresses[page]) : null;
  return element("li", {}, pairLink(row, page), figures, url);
}

function clusterElement(cluster) {
  const name = element("span", { class: "name" }, own(titleOf(cluster.first) || addresses[cluster.first]));
  const size = element("span", { class: "number" }, t("n_pages", { n: count(cluster.pages.size) }));
  const made = element("details", {}, element("summary", {}, size, name));
  const fill = () => {
    if (!made.open || made.childElementCount > 1) return;
    const originals = originalsOf(cluster).slice(0, MOST_OF_CLUSTER).map(originalElement);
    const copies = cluster.rows.slice(0, MOST_OF_CLUSTER).map(copyElement);
    made.append(element("ol", {}, ...originals, ...copies));
    const more = cluster.rows.length - MOST_OF_CLUSTER;
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
