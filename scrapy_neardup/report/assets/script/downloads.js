function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const quoted = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
// The mark tells spreadsheets that it is UTF-8.
const csv = (rows) => `\ufeff${rows.map((row) => row.map(quoted).join(",")).join("\r\n")}\r\n`;
/** A spreadsheet would run a text that begins like a formula; `evaluate` takes the ' away again. */
const harmless = (value) => (typeof value === "string" && /^'*[=+\-@\t\r\n]/.test(value) ? `'${value}` : value);

function exported(row) {
  const [page, original] = [columns.page[row], columns.original[row]];
  return {
    id: idOf(page),
    url: addresses[page],
    title: titleOf(page),
    verdict: verdictOf(row),
    reason: reasonOf(row),
    duplicate_of: isPair(row) ? addresses[original] : null,
    duplicate_of_id: isPair(row) ? idOf(original) : null,
    look_alike: hasOther(row) && !isPair(row) ? addresses[original] : null,
    look_alike_id: hasOther(row) && !isPair(row) ? idOf(original) : null,
    objection: objectionOf(row) || null,
    distance: columns.distance[row],
    similarity: columns.similarity[row],
    bytes: columns.bytes[row],
    time: columns.time[row],
    judgement: judgementOf(row) || null,
  };
}

function exportCsv() {
  const records = [...state.view].map(exported);
  const names = Object.keys(records[0] || exported(0));
  download("decisions.csv", "text/csv", csv([names, ...records.map((r) => names.map((n) => harmless(r[n])))]));
}

function exportLines() {
  const lines = [...state.view].map((row) => `${JSON.stringify(exported(row))}\n`);
  download("decisions.jsonl", "application/jsonl", lines.join(""));
}

function exportJudgements() {
  const rows = [...judgements].map(([key, label]) => [...JSON.parse(key).map(harmless), label]);
  download("judgements.csv", "text/csv", csv([["id_a", "id_b", "label"], ...rows]));
}

function showExports() {
  $("export-judgements").textContent = t("export_judgements", { n: count(judgements.size) });
  $("export-judgements").disabled = !judgements.size;
  $("export-csv").disabled = $("export-jsonl").disabled = !ROWS;
}
