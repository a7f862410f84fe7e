/** What a story is made of: spans of time, lines of the console, turns with a model; and how events are read. */

export type SpanKind = "iteration" | "model" | "tool" | "judge" | "child" | "sandbox" | "handler" | "note";

export interface Span {
  readonly id: string;
  readonly kind: SpanKind;
  name: string;
  /** Unix ms. */
  readonly start: number;
  /** Null: it goes on. */
  end: number | null;
  status: string;
  readonly iteration: number | null;
  readonly depth: number;
  tokens: { readonly input: number; readonly output: number } | null;
  /** What went in and came out; undefined: not told to this reader. */
  input?: unknown;
  output?: unknown;
  error: string | null;
  /** Further facts: a model's name, a score. */
  facts: readonly (readonly [name: string, value: string])[];
  /** The execution that it is. */
  childId: string | null;
  approvalId: string | null;
  /** While people were asked. */
  waits: { from: number; to: number | null }[];
}

export interface ConsolePart {
  readonly iteration: number;
  readonly stream: "stdout" | "stderr";
  readonly content: string;
  readonly at: number;
  readonly callId: string | null;
  readonly isCut: boolean;
}

/** One turn of the conversation with a model. */
export interface Turn {
  readonly id: string;
  readonly iteration: number;
  readonly model: string;
  readonly at: number;
  readonly prompt: string | null;
  readonly response: string | null;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly calls: Span[];
}

/** What an event tells. */
export type Fields = Readonly<Record<string, unknown>>;

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
export const number = (value: unknown): number => (typeof value === "number" ? value : 0);
export const moment = (value: unknown): number => Date.parse(text(value));

/** What a result of a tool says went wrong. */
export function errorIn(result: unknown): string | null {
  if (typeof result !== "object" || result === null) return null;
  const { error, message } = result as Fields;
  return textOrNull(message) ?? textOrNull(error);
}
