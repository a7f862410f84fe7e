/** What the command line writes: tables and lines for people, JSON for programs. Notes go to standard error. */

export interface Output {
  readonly isJson: boolean;
  /** The answer for programs; nothing where people read. */
  json(value: unknown): void;
  /** A line for people; nothing where programs read. */
  line(text: string): void;
  table(head: readonly string[], rows: readonly (readonly unknown[])[]): void;
  /** A remark beside the answer, on standard error. */
  note(text: string): void;
  /** Text of commands as it comes, on standard output or standard error, for people only. */
  text(text: string, stream: "stdout" | "stderr"): void;
}

export interface Streams {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

export function createOutput(isJson: boolean, { out, error }: Streams): Output {
  const line = (text: string) => {
    if (!isJson) out(`${plain(text)}\n`);
  };
  return {
    isJson,
    json: (value) => {
      if (isJson) out(`${JSON.stringify(value)}\n`);
    },
    line,
    table: (head, rows) => {
      for (const row of tableOf(head, rows)) line(row);
    },
    note: (text) => error(isJson ? `${JSON.stringify({ note: text })}\n` : `${plain(text)}\n`),
    text: (text, stream) => {
      if (!isJson) (stream === "stdout" ? out : error)(plain(text));
    },
  };
}

/** Names and output come from hosts and from other users: none of it may steer the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
export const plain = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(steering, "�");

/** The rows under their heads, in columns. An empty list is a line that says so. */
export function tableOf(head: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] {
  if (rows.length === 0) return ["none"];
  const cells = [head, ...rows.map((row) => row.map(cellOf))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  return cells.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

const padded = (cell: string, width: number): string => cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(",");
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = plain(typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s+/g, " ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
