/** A field above each long table that leaves only the rows with these words. */

/** Rows from which on a table gets one. */
const longFrom = 25;

export function addRowFilters(): void {
  for (const region of document.querySelectorAll<HTMLElement>("article .table")) {
    const rows = [...region.querySelectorAll<HTMLTableRowElement>("tbody tr")];
    if (rows.length >= longFrom) region.before(filterOf(rows));
  }
}

function filterOf(rows: readonly HTMLTableRowElement[]): HTMLElement {
  const label = document.createElement("label");
  label.className = "rows";
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = `Filter ${rows.length} rows`;
  field.setAttribute("aria-label", "Filter the rows of the table below");
  const count = document.createElement("output");
  label.append(field, count);
  const texts = rows.map((row) => row.textContent?.toLowerCase() ?? "");
  field.addEventListener("input", () => {
    const words = field.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    let shown = 0;
    for (const [index, row] of rows.entries()) {
      row.hidden = !words.every((word) => texts[index]?.includes(word));
      if (!row.hidden) shown += 1;
    }
    count.textContent = words.length === 0 ? "" : `${shown} of ${rows.length}`;
  });
  return label;
}
