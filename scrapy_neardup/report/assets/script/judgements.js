const STORAGE = `neardup:${origin.kind}:${origin.name}`;
const judgements = new Map();
const pairKey = (row) =>
  JSON.stringify([idOf(columns.original[row]), idOf(columns.page[row])]);
const judgementOf = (row) => judgements.get(pairKey(row)) || "";

/** Some browsers keep nothing for a file; the judgements then live as long as the page. */
function remembered(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function loadJudgements() {
  const known = new Set();
  for (let row = 0; row < ROWS; row += 1) if (hasOther(row)) known.add(pairKey(row));
  let stored = [];
  try {
    stored = JSON.parse(remembered(STORAGE) || "[]");
  } catch {
    return;
  }
  for (const [key, label] of stored) if (known.has(key)) judgements.set(key, label);
}

function judge(row, label) {
  if (label) judgements.set(pairKey(row), label);
  else judgements.delete(pairKey(row));
  remembered(STORAGE, JSON.stringify([...judgements]));
  showAdvice();
  showTable();
  showExports();
}
