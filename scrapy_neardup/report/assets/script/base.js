// The report's script in parts, which report_script() joins in one function.
// Whatever comes from crawled pages enters the page as text: nothing here assigns HTML.
const $ = (id) => document.getElementById(id);
const WORDS = JSON.parse($("words").textContent);
const DATA = JSON.parse($("data").textContent);
const { origin, columns, addresses, titles, better, ids, sites, texts, totals, words } = DATA;
const ROWS = columns.page.length;
const EQUAL = new Set(["same_page", "same_list", "same_text", "same_item", "method"]);
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

// --- words and figures -----------------------------------------------------------------------

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

// --- elements --------------------------------------------------------------------------------

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

// --- rows ------------------------------------------------------------------------------------

const verdictOf = (row) => words.verdict[columns.verdict[row]];
const reasonOf = (row) => words.reason[columns.reason[row]];
const siteOf = (address) => words.site[sites[address]];
const objectionOf = (row) => words.objection[columns.objection[row]];
const isPair = (row) => columns.original[row] !== null && PAIRS.has(verdictOf(row));
/** A page that was kept has no original, but perhaps one that it looks like. */
const hasOther = (row) => columns.original[row] !== null;
const figuresOf = (row) =>
  [
    ["distance", columns.distance[row]],
    ["similarity", similarityText(columns.similarity[row])],
  ].flatMap(([name, value]) => (value === null || value === "" ? [] : [`${t(`column.${name}`)} ${value}`]));
const isEqual = (row) => EQUAL.has(reasonOf(row));

const pairs = [];
for (let row = 0; row < ROWS; row += 1) if (isPair(row)) pairs.push(row);
const similar = pairs.filter((row) => !isEqual(row) && columns.similarity[row] !== null);
const passes = (row, distance, similarity) =>
  columns.distance[row] <= distance && columns.similarity[row] >= similarity;
/** A kept page that a threshold alone keeps; one that passes both was kept by another rule. */
const isNearMiss = (row) =>
  hasOther(row) &&
  !isPair(row) &&
  objectionOf(row) === "text_differs" &&
  !passes(row, HELD.distance, HELD.similarity);
const nearMisses = [];
for (let row = 0; row < ROWS; row += 1) if (isNearMiss(row)) nearMisses.push(row);
const measured = [...similar, ...nearMisses];
const isMeasured = new Set(measured);
const borderOf = (row) => Math.abs(columns.similarity[row] - HELD.similarity);

const drops = (row, distance = state.distance, similarity = state.similarity) =>
  isPair(row)
    ? isEqual(row) || columns.similarity[row] === null || passes(row, distance, similarity)
    : isNearMiss(row) && passes(row, distance, similarity);
