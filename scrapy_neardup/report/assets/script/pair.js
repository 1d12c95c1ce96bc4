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
  const above = element("p", { class: "quiet" }, label);
  const parts = [above, head, addressElement(addresses[address]), betterElement(address), body];
  $(id).replaceChildren(...parts.filter((part) => part !== null));
}

function facts(row) {
  const parts = [whyOf(row), ...figuresOf(row)];
  if (columns.time[row] !== null) parts.push(`${moment(columns.time[row])} UTC`);
  if (columns.bytes[row] !== null) parts.push(bytesText(columns.bytes[row]));
  return parts.join(" · ");
}

async function showPair() {
  const row = state.open;
  const [page, original] = [columns.page[row], columns.original[row]];
  const rows = openable();
  const place = rows.indexOf(row) + 1;
  const title = place ? t("pair_of", { n: count(place), all: count(rows.length) }) : t("pair");
  $("pair-title").textContent = title;
  $("pair-facts").textContent = facts(row);
  showLabel();
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
  side("right", t(isPair(row) ? "this_page" : "kept"), page, bodies[1]);
}

const openable = () => [...state.view].filter(hasOther);

function displayPair(row) {
  state.open = row;
  $("pair-said").textContent = "";
  if (!$("pair").open) $("pair").showModal();
  $("pair").scrollTop = 0;
  showPair();
}

function openPair(row) {
  record(row, !$("pair").open);
  displayPair(row);
}

/** Open the next pair of the list in place of this one; after the last one comes the first. */
function step(by) {
  const rows = openable();
  if (!rows.length) return;
  const at = rows.indexOf(state.open);
  const place = at < 0 && by < 0 ? -1 : at + by;
  openPair(rows[(place + rows.length) % rows.length]);
  $("pair-said").textContent = t("name_value", {
    name: $("pair-title").textContent,
    n: $("pair-facts").textContent,
  });
}

function showLabel() {
  const chosen = judgementOf(state.open);
  for (const input of $("judging").querySelectorAll("input")) input.checked = input.value === chosen;
  // A button that is disabled loses the focus.
  if (!chosen && document.activeElement === $("unjudge")) $("judging").querySelector("input").focus();
  $("unjudge").disabled = !chosen;
}

/** Judge the open pair; "" takes the judgement back. */
function label(chosen) {
  judge(state.open, chosen);
  showLabel();
  $("pair-said").textContent = t("name_value", {
    name: t("judgement"),
    n: t(chosen ? `label.${chosen}` : "not_judged"),
  });
}

/** Put the focus back where it was: the list may have been laid out anew since. */
function closed() {
  if ($("pair").open) return;
  recordClosed();
  const focus = document.activeElement;
  if (focus !== document.body && !$("pair").contains(focus)) return;
  const link = $("table").querySelector(`.open[href="${linkOf(state.open)}"]`);
  (link ?? $("decisions")).focus({ preventScroll: link === null });
}
