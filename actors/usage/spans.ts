/** A span of time as it is read: whole days and hours that are summed up already, and what lies beside them. */

/** From a moment up to another, which is not part of it; Unix ms. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Spans of sums of days, of sums of hours, and of single activities. Together they are the whole, and none meets another. */
export interface Spans {
  readonly days: readonly Span[];
  readonly hours: readonly Span[];
  readonly activities: readonly Span[];
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Where sums end: each is whole hours or days, and there are none from that moment on; Unix ms. */
export interface SummedUntil {
  readonly hours: number;
  readonly days: number;
}

const down = (at: number, unit: number): number => Math.floor(at / unit) * unit;
const up = (at: number, unit: number): number => Math.ceil(at / unit) * unit;

/** The whole units of a span that are summed up, and what is left of it on both sides. */
function split(
  span: Span,
  unit: number,
  until: number,
): { readonly whole: readonly Span[]; readonly rest: readonly Span[] } {
  const whole = { from: up(span.from, unit), to: Math.min(down(span.to, unit), down(until, unit)) };
  if (whole.from >= whole.to) return { whole: [], rest: [span] };
  const rest = [
    { from: span.from, to: whole.from },
    { from: whole.to, to: span.to },
  ];
  return { whole: [whole], rest: rest.filter(({ from, to }) => from < to) };
}

export function spansOf(span: Span, summed: SummedUntil): Spans {
  const { whole: days, rest } = split(span, dayMs, summed.days);
  const parts = rest.map((one) => split(one, hourMs, summed.hours));
  return { days, hours: parts.flatMap(({ whole }) => whole), activities: parts.flatMap((part) => part.rest) };
}
