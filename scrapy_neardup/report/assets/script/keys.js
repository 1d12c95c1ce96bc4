const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** Keys, what they do, and the function; the browser has its own for those without one. */
const KEYS = {
  page: [
    [["j", "n"], "key_next_row", () => focusRow(1)],
    [["k", "p"], "key_previous_row", () => focusRow(-1)],
    [["Enter"], "key_open", null],
    [["?"], "key_help", () => $("help").showModal()],
  ],
  pair: [
    [["1", "s"], "same", () => label("duplicate")],
    [["2", "d"], "different", () => label("distinct")],
    [["3", "u"], "unsure", () => label("unclear")],
    [["0"], "unjudge", () => label("")],
    [["j", "n", "ArrowRight"], "next", () => step(1)],
    [["k", "p", "ArrowLeft"], "previous", () => step(-1)],
    [["Escape"], "close", null],
    [["?"], "key_help", () => $("help").showModal()],
  ],
};

/** Focus the next pair of the list, on its next page if need be. */
function focusRow(by) {
  const links = () => [...$("table").querySelectorAll(".open")];
  const at = links().indexOf(document.activeElement);
  const wanted = at < 0 && by < 0 ? -1 : at + by;
  const isBeyond = wanted < 0 || wanted >= links().length;
  const isLast = $(by < 0 ? "previous" : "next").disabled;
  if (isBeyond && (at < 0 || isLast)) return;
  if (isBeyond) turn(by);
  links().at(isBeyond ? (by < 0 ? -1 : 0) : wanted)?.focus();
}

/** Whether a key belongs to the element that has the focus. */
function isTaken(target, key) {
  const isChoice = target.matches("[type=radio], [type=checkbox]");
  if (target.matches("input, select, textarea") || target.isContentEditable) {
    return !isChoice || key.startsWith("Arrow");
  }
  return false;
}

function press(event) {
  const isShortcut = event.ctrlKey || event.altKey || event.metaKey;
  if (isShortcut || event.isComposing || event.defaultPrevented) return;
  if (!$("keys-on").checked || $("help").open || isTaken(event.target, event.key)) return;
  // Shift with an arrow selects text.
  if (event.shiftKey && event.key.startsWith("Arrow")) return;
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const found = KEYS[$("pair").open ? "pair" : "page"].find(([keys]) => keys.includes(pressed));
  if (!found?.[2]) return;
  event.preventDefault();
  found[2]();
}

function showKeys() {
  for (const [place, rows] of Object.entries(KEYS)) {
    $(`keys-${place}`).replaceChildren(
      ...rows.map(([keys, word]) => {
        const caps = keys.flatMap((key) => [" ", element("kbd", {}, KEY_NAMES[key] ?? key)]);
        return element("div", {}, element("dt", {}, ...caps), element("dd", {}, t(word)));
      }),
    );
  }
}

function listenToKeys() {
  // WCAG 2.1.4: who speaks to the computer, or hits keys by accident, can do without.
  $("keys-on").checked = remembered("neardup:keys") !== "off";
  $("keys-on").addEventListener("change", () => remembered("neardup:keys", $("keys-on").checked ? "on" : "off"));
  $("keys").addEventListener("click", () => $("help").showModal());
  $("help-close").addEventListener("click", () => $("help").close());
  document.addEventListener("keydown", press);
}
