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
    const list = element("ol", {}, element("li", {}, own(titleOf(cluster.first)), addressElement(addresses[cluster.first])));
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
