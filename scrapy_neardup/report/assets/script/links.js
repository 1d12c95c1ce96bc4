const PAIR_LINK = /^#pair=[0-9a-f]{16}$/;

/** Two 32-bit hashes in one text: 200,000 pairs collide with a probability of about 1e-9. */
function digest(text) {
  let [a, b] = [0x3c6ef372, 0x1b873593];
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    a = Math.imul(a ^ unit, 0x2c1b3c6d);
    a ^= a >>> 15;
    b = Math.imul(b ^ unit, 0x297a2d39);
    b ^= b >>> 13;
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

/** The link depends on the two pages only, so that the next report of a crawl takes it as well. */
const linkOf = (row) => `#pair=${digest(pairKey(row))}`;

/** The row of a link; `hint` is tried first, because a report may have the same pair twice. */
function rowOf(link, hint) {
  if (!PAIR_LINK.test(link)) return -1;
  const isIt = (row) => row >= 0 && row < ROWS && hasOther(row) && linkOf(row) === link;
  if (Number.isInteger(hint) && isIt(hint)) return hint;
  return columns.page.findIndex((_, row) => isIt(row));
}

// Closing a pair goes back to the entry below it. Until the browser is there, no entry is added.
let isGoingBack = false;

/** Let the address bar show the open pair. */
function record(row, isNew) {
  if (isGoingBack) return;
  const entry = { row, isAbove: isNew || Boolean(history.state?.isAbove) };
  try {
    if (isNew) history.pushState(entry, "", linkOf(row));
    else history.replaceState(entry, "", linkOf(row));
  } catch {
    // Browsers refuse this when it happens too often; the pair is open all the same.
  }
}

/** Let the address bar show that no pair is open. */
function recordClosed() {
  if (isGoingBack || !PAIR_LINK.test(location.hash)) return;
  if (history.state?.isAbove) {
    isGoingBack = true;
    history.back();
  } else {
    history.replaceState(null, "", location.pathname + location.search);
  }
}

/** Open or close a pair, as the address says. */
function follow() {
  if (isGoingBack) {
    isGoingBack = false;
    // Another pair was opened in the meantime.
    if ($("pair").open) record(state.open, true);
    return;
  }
  const row = rowOf(location.hash, history.state?.row);
  $("unknown-link").hidden = row >= 0 || !location.hash.startsWith("#pair=");
  if (row >= 0) displayPair(row);
  else if ($("pair").open) $("pair").close();
}

const hasModifier = (event) => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;

/** A link that opens a pair in this window, and can be copied or opened in another one. */
function pairLink(row, address) {
  const open = (event) => {
    if (hasModifier(event)) return;
    event.preventDefault();
    openPair(row);
  };
  const label = titleOf(address) || addresses[address];
  return element("a", { class: "open", href: linkOf(row), onclick: open }, own(label));
}
