/** What a bench prints: rows of a measured value beside the floor measured in the same run. */

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** The same work without svc, on the same machine in the same run. */
  readonly floor: number;
  readonly floorIs: string;
  readonly goal: string;
  /** What makes the number mean something: durability, sizes, counts. */
  readonly note: string;
}

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    row.name,
    `${format(row.value)} ${row.unit}`,
    `${format(row.floor)} ${row.unit}`,
    `${(row.value / row.floor).toFixed(2)}x`,
    row.goal,
    `${row.note}; floor: ${row.floorIs}`,
  ]);
  const header = ["", "svc", "floor", "svc/floor", "goal", ""];
  const widths = header.map((text, column) =>
    Math.max(text.length, ...cells.map((line) => (line[column] ?? "").length)),
  );
  for (const line of [header, ...cells]) {
    console.log(
      line.map((text, column) => (column === line.length - 1 ? text : text.padEnd(widths[column] ?? 0))).join("  "),
    );
  }
}

function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(2);
}

/** The value below which `share` of the samples lie; sorts in place. */
export function percentile(samples: number[], share: number): number {
  samples.sort((left, right) => left - right);
  return samples[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? Number.NaN;
}

/** Runs `count` pieces of work, `width` at a time. @returns milliseconds each took, and all together */
export async function pumped(
  count: number,
  width: number,
  work: (index: number) => Promise<unknown>,
): Promise<{ samples: number[]; totalMs: number }> {
  const samples: number[] = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) {
        const index = next++;
        const at = performance.now();
        await work(index);
        samples.push(performance.now() - at);
      }
    }),
  );
  return { samples, totalMs: performance.now() - started };
}
