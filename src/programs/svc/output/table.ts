/** Rows in aligned columns. */
import { fitted, Safe } from "./inert.ts";

const gap = "  ";
const leastWidth = 8;

/**
 * @param rows cells of one line each, inert, as many as there are heads
 * @param most columns of the terminal, where long cells are cut; null: nothing is cut
 * @param style paints a cell after it was measured; row -1 is the heads'
 */
export function tableLines(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  most: number | null,
  style: (cell: string, row: number, column: number) => Safe,
): readonly Safe[] {
  const all = [heads, ...rows];
  const wanted = heads.map((_, column) =>
    all.reduce((width, row) => Math.max(width, Bun.stringWidth(row[column] ?? "")), 0),
  );
  const widths = most === null ? wanted : shrunk(wanted, most - gap.length * (heads.length - 1));
  return all.map((row, at) => {
    const cells = row.map((text, column) => {
      const width = widths[column] ?? 0;
      const shown = most === null ? text : fitted(text, Math.max(1, width));
      const isLast = column === row.length - 1;
      const blanks = isLast ? 0 : Math.max(0, width - Bun.stringWidth(shown));
      return style(shown, at - 1, column).text + " ".repeat(blanks);
    });
    return new Safe(cells.join(gap).trimEnd());
  });
}

/** The widest columns give way first. */
function shrunk(wanted: readonly number[], room: number): readonly number[] {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= leastWidth) break;
    const next = Math.max(leastWidth, ...widths.filter((width) => width < widest));
    const cut = Math.min(over, widest - next);
    widths[widths.indexOf(widest)] = widest - cut;
    over -= cut;
  }
  return widths;
}
