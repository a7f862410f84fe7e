/** The figures of usage, and what they can be grouped by (docs/reference/usage.md). */

export const figures = [
  "executions",
  "tool_calls",
  "input_tokens",
  "output_tokens",
  "cost",
  "sandbox_seconds",
  "storage_gib_hours",
  "host_commands",
] as const;
export type Figure = (typeof figures)[number];

export const groupings = ["day", "agent", "model", "workflow", "tool"] as const;
export type Grouping = (typeof groupings)[number];

/** Figures that each grouping divides. Every other one is null in its rows, and whole in its totals. */
const divided: Readonly<Record<Grouping, ReadonlySet<Figure>>> = {
  day: new Set(figures),
  agent: new Set(["executions", "tool_calls", "input_tokens", "output_tokens", "cost", "sandbox_seconds"]),
  model: new Set(["input_tokens", "output_tokens", "cost"]),
  workflow: new Set(["executions", "tool_calls", "input_tokens", "output_tokens", "cost", "sandbox_seconds"]),
  tool: new Set(["tool_calls", "host_commands"]),
};

export const divides = (grouping: Grouping, figure: Figure): boolean => divided[grouping].has(figure);

export type Figures = { readonly [Name in Figure]: number | null };

/** Sums as the store has them: whole numbers, decimals as text. */
export interface Sums {
  readonly executions: string;
  readonly tool_calls: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cost: string;
  readonly sandbox_ms: string;
  /** Of all samples together, one an hour. */
  readonly bytes: string;
  readonly host_commands: string;
}

const bytesOfGib = 2 ** 30;

const whole = ({ sandbox_ms, bytes, ...sums }: Sums): Figures => ({
  executions: Number(sums.executions),
  tool_calls: Number(sums.tool_calls),
  input_tokens: Number(sums.input_tokens),
  output_tokens: Number(sums.output_tokens),
  cost: Number(sums.cost),
  sandbox_seconds: Number(sandbox_ms) / 1000,
  storage_gib_hours: Number(bytes) / bytesOfGib,
  host_commands: Number(sums.host_commands),
});

/**
 * Sums as they are shown.
 * @param grouping of a row; null: they are totals
 * @param showsCost whether the reader may see what was paid
 */
export function figuresOf(sums: Sums, grouping: Grouping | null, showsCost: boolean): Figures {
  const all = whole(sums);
  const shown = (figure: Figure): number | null => {
    if (figure === "cost" && !showsCost) return null;
    return grouping === null || divides(grouping, figure) ? all[figure] : null;
  };
  return Object.fromEntries(figures.map((figure) => [figure, shown(figure)])) as Figures;
}
