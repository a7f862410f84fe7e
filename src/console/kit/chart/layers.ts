/** What a chart of stacked bars shows, and the same in words and by the hour for those who do not see it. */

/** Names of the console's colours (`styles.css`). */
export type Colour = "good" | "bad" | "warn" | "info" | "violet" | "ink-faint" | "line-strong";

export interface Layer {
  readonly name: string;
  readonly colour: Colour;
  /** One for each bar. */
  readonly values: readonly number[];
}

export interface Bars {
  /** What is counted: `Executions`. */
  readonly label: string;
  /** When each bar begins, Unix seconds, in even steps. */
  readonly at: readonly number[];
  readonly stepSeconds: number;
  /** The lowest first. */
  readonly layers: readonly Layer[];
}

export interface ChartProps extends Bars {
  /** Opens what a bar stands for; both Unix seconds. */
  readonly onOpen: (from: number, to: number) => void;
}

/** CSS pixels. */
export const chartHeight = 150;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** @param at Unix seconds @returns `14:15` where the reader is */
export const clockText = (at: number): string => clock.format(at * 1_000);

/** @returns `14:15–14:30` */
export const spanText = (at: number, seconds: number): string => `${clockText(at)}–${clockText(at + seconds)}`;

export const totalOf = (layers: readonly Layer[], bar: number): number =>
  layers.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0);

/** What a bar says: `14:15–14:30: 12, completed 10, failed 2`. */
export function barText({ at, stepSeconds, layers }: Bars, bar: number): string {
  const parts = layers.flatMap(({ name, values }) => ((values[bar] ?? 0) > 0 ? [`${name} ${values[bar]}`] : []));
  return `${spanText(at[bar] ?? 0, stepSeconds)}: ${[totalOf(layers, bar), ...parts].join(", ")}`;
}

export interface Row {
  readonly at: number;
  readonly seconds: number;
  readonly counts: readonly number[];
}

/** The bars added up by the hour; hours without anything are left out. */
export function byHour({ at, layers }: Bars): readonly Row[] {
  const hours = new Map<number, number[]>();
  for (const [bar, begun] of at.entries()) {
    if (totalOf(layers, bar) === 0) continue;
    const hour = Math.floor(begun / 3_600) * 3_600;
    const counts = hours.get(hour) ?? layers.map(() => 0);
    hours.set(
      hour,
      counts.map((count, layer) => count + (layers[layer]?.values[bar] ?? 0)),
    );
  }
  return [...hours].map(([hour, counts]) => ({ at: hour, seconds: 3_600, counts }));
}
