/** Below this number of pairs a recommendation is called a guess. */
const ENOUGH_PAIRS = 10;

const used = (value) => t("name_value", { name: t(`used.${origin.kind}`), n: value });

function showThresholds() {
  $("distance").value = state.distance;
  $("similarity").value = state.similarity;
  $("distance-value").textContent = state.distance;
  $("similarity-value").textContent = state.similarity.toFixed(2);
  $("distance").setAttribute("aria-valuetext", t("n_bits", { n: count(state.distance) }));
  $("distance-used").textContent = used(HELD.distance);
  $("similarity-used").textContent = used(HELD.similarity.toFixed(2));
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
  const isJudged = same.length > 0 && different.length > 0;
  const basis = isJudged ? same.length + different.length : similar.length;
  if (basis && basis < ENOUGH_PAIRS) {
    reasons.push(t(isJudged ? "advice_few_judged" : "advice_few", { n: count(basis) }));
  }
  if (isJudged) {
    const best = fromJudgements(same, different);
    if (best === null) return { ...HELD, reasons: [...reasons, t("advice_none", values)] };
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
    element("p", { class: "quiet" }, used(`${HELD.distance}, ${HELD.similarity.toFixed(2)}`)),
    element("ul", {}, ...advice.reasons.map((reason) => element("li", {}, reason))),
  );
  return advice;
}
