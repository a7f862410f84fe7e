/** What tenants have used, as it is shown: a page with its totals, or all rows as CSV. */
import { stringify } from "csv-stringify/sync";
import { type Figures, figures, figuresOf, type Grouping } from "../../../../actors/usage/figures.ts";
import type { Span } from "../../../../actors/usage/spans.ts";
import { listOf, type Page } from "../../../http/paging.ts";
import { placeOf, type Reports, type SummedRow } from "./records.ts";
import type { UsageRow } from "./schema.ts";

export interface UsageOptions {
  readonly reports: Reports;
  /** Names of agents by their ids. */
  readonly agentNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** What is asked for. */
export interface Asked {
  readonly tenant: string;
  readonly span: Span;
  readonly grouping: Grouping;
  /** Whether the reader may see what was paid. */
  readonly showsCost: boolean;
}

export type Usage = ReturnType<typeof createUsage>;

const columns = ["key", "name", ...figures] as const;
/** Rows of CSV that are read at once. */
const rowsAtOnce = 5_000;

export function createUsage({ reports, agentNames }: UsageOptions) {
  async function shown(rows: readonly SummedRow[], { grouping, showsCost }: Asked): Promise<UsageRow[]> {
    const keys = rows.flatMap(({ key }) => (key === null ? [] : [key]));
    const names = grouping === "agent" ? await agentNames(keys) : null;
    return rows.map(({ key, ...sums }) => ({
      key,
      name: key === null || names === null ? key : (names.get(key) ?? null),
      ...figuresOf(sums, grouping, showsCost),
    }));
  }

  return {
    async page(asked: Asked, page: Page) {
      const { tenant, span, grouping, showsCost } = asked;
      const { totals, rows } = await reports.read(tenant, span, grouping, page);
      const totalled: Figures = figuresOf(totals, null, showsCost);
      return { ...listOf("usage", await shown(rows, asked), page, ({ key }) => placeOf(key)), totals: totalled };
    },

    /** All rows in pieces of CSV, the header line first. A text that a spreadsheet would take for a formula begins with `'`. */
    async *csv(asked: Asked): AsyncGenerator<string, void> {
      yield stringify([columns]);
      const { tenant, span, grouping } = asked;
      for (let after: readonly string[] | null = null; ; ) {
        const { rows } = await reports.read(tenant, span, grouping, { limit: rowsAtOnce, offset: 0, after });
        const some = rows.slice(0, rowsAtOnce);
        yield stringify(await shown(some, asked), { columns: [...columns], escape_formulas: true });
        const last = some.at(-1);
        if (rows.length <= rowsAtOnce || last === undefined) return;
        after = placeOf(last.key);
      }
    },
  };
}
