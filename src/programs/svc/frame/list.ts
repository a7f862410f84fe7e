/** Every list of the command line: a table, JSON or YAML, some of it or all, once or as it changes. */
import type { Command } from "commander";
import { ApiError } from "../../client/errors.ts";
import { follow } from "../../client/events.ts";
import { items } from "../../client/pages.ts";
import { say } from "../output/inert.ts";
import type { Field } from "../output/output.ts";
import { usageFailure } from "../process/exit.ts";
import type { Context } from "./context.ts";
import { whole } from "./values.ts";
import { type Arguments, addVerb, type OptionTable, type OptionValues, type Verb } from "./verb.ts";

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string | null;
}
/** Handed to each request for a page, beside the filters. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export interface List<T, W extends string, O extends OptionTable> extends Omit<Verb<W, O>, "run"> {
  /** All columns, the usual ones first. */
  readonly columns: readonly Field<T>[];
  /** How many of them are shown unless others are asked for; all without it. */
  readonly usual?: number;
  /** One page. */
  readonly page: (
    context: Context,
    query: PageQuery,
    options: OptionValues<O>,
    words: Arguments<W>,
  ) => Promise<Page<T>>;
  /** Said for an empty list: what to do next. */
  readonly empty: string;
  /** The type of `/v1/events` that tells of changes; without one the list is read again every two seconds. */
  readonly live?: string;
}

const usualLimit = 50;
const mostItems = 100_000;
const pageSize = 500;

const listOptions = {
  "-L, --limit <n>": `how many at most (default ${usualLimit})`,
  "--columns <names>": "these columns, separated by commas; any field of the record",
  "-w, --watch": "show it again whenever it changes, until Ctrl-C",
} as const;

/** Adds a verb that lists. */
export function addList<T extends object, const W extends string, const O extends OptionTable>(
  group: Command,
  list: List<T, W, O>,
): Command {
  // Of both tables, each is typed on its own below.
  const options = { ...list.options, ...listOptions } as unknown as O & typeof listOptions;
  return addVerb(group, {
    ...list,
    options,
    async run(context, words, given) {
      const own = given as OptionValues<typeof listOptions>;
      const most = whole("--limit", own.limit, 1, mostItems) ?? usualLimit;
      const columns = columnsOf(list, own.columns);
      const read = async () => {
        const found: T[] = [];
        const limit = Math.min(most, pageSize);
        const next = async (cursor: string | undefined) => {
          const query = { limit, ...(cursor === undefined ? {} : { cursor }) };
          const page = await list.page(context, query, given as OptionValues<O>, words as Arguments<W>);
          return { items: page.items, next_cursor: page.next_cursor ?? null };
        };
        for await (const item of items(next, most)) found.push(item);
        refuseUnknown(list.columns, columns, found);
        return found;
      };
      const show = async (found: readonly T[], isAgain: boolean) => {
        const { out } = context;
        if (out.format !== "text") {
          const answer = own.columns === undefined ? found : found.map((item) => chosen(columns, item));
          return isAgain ? out.event(answer) : out.data(answer);
        }
        if (found.length === 0) return out.note(say`${list.empty}`);
        out.table(columns, found);
        return undefined;
      };
      if (own.watch === true) return watch(context, list.live ?? null, read, (found) => show(found, true));
      return show(await read(), false);
    },
  });
}

/** @throws Failure `usage` for a name that is neither column nor field */
function columnsOf<T>(
  { columns, usual }: Pick<List<T, string, OptionTable>, "columns" | "usual">,
  names: string | undefined,
): readonly Field<T>[] {
  if (names === undefined) return columns.slice(0, usual ?? columns.length);
  return names.split(",").map((text) => {
    const name = text.trim();
    const known = columns.find((column) => column.name === name.toLowerCase());
    if (known !== undefined) return known;
    if (!/^[a-z0-9_.-]{1,100}$/i.test(name))
      throw usageFailure(`--columns takes names as ${columns.map((column) => column.name).join(",")}, not ${text}`);
    return { name, value: (item: T) => valueAt(item, name) ?? valueAt(item, name.toLowerCase()) };
  });
}

/**
 * Members are known by the records alone: a name that none of them has is a slip.
 * @param own the list's columns
 * @throws Failure `usage` that tells the names; never without records
 */
function refuseUnknown<T extends object>(
  own: readonly Field<T>[],
  wanted: readonly Field<T>[],
  found: readonly T[],
): void {
  if (found.length === 0) return;
  const unknown = wanted.find(
    (column) => !own.includes(column) && found.every((item) => column.value(item) === undefined),
  );
  if (unknown === undefined) return;
  const names = new Set([...own.map(({ name }) => name), ...found.flatMap((item) => Object.keys(item))]);
  throw usageFailure(`No record has a column ${unknown.name}`, `There are: ${[...names].join(", ")}`);
}

/** The value at a dotted path; undefined where there is none. */
function valueAt(item: unknown, path: string): unknown {
  let value = item;
  for (const member of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, member)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[member];
  }
  return value;
}

const chosen = <T>(columns: readonly Field<T>[], item: T): Record<string, unknown> =>
  Object.fromEntries(columns.map(({ name, value }) => [name, value(item) ?? null]));

const againMs = 2_000;
/** Several changes at once are one reading. */
const settleMs = 250;
const clearScreen = "\u001b[H\u001b[2J\u001b[3J";

/** Reads and shows until Ctrl-C; the same answer is shown once. */
async function watch<T>(
  context: Context,
  type: string | null,
  read: () => Promise<readonly T[]>,
  show: (found: readonly T[]) => Promise<void> | void,
): Promise<void> {
  const { io, out } = context;
  const signal = io.interruption();
  let former = "";
  for await (const _ of changes(context, type, signal)) {
    const found = await read();
    const text = JSON.stringify(found);
    if (text === former) continue;
    const isFirst = former === "";
    former = text;
    if (out.format === "text" && io.isTerminal) out.raw(clearScreen);
    else if (out.format === "text" && !isFirst) out.raw("\n");
    await show(found);
  }
}

/** Once at the beginning, and then whenever something may have changed. */
async function* changes(context: Context, type: string | null, signal: AbortSignal): AsyncGenerator<void> {
  yield;
  if (type !== null) {
    try {
      yield* told(context, type, signal);
      return;
    } catch (error) {
      // A service that has no such stream is asked again and again.
      if (!(error instanceof ApiError && (error.status === 404 || error.status === 403))) throw error;
    }
  }
  while (!signal.aborted) {
    await pause(againMs, signal);
    if (!signal.aborted) yield;
  }
}

async function* told(context: Context, type: string, signal: AbortSignal): AsyncGenerator<void> {
  const client = await context.client();
  // What changed while the stream was being opened is read once it is open.
  const opened = { isAgain: false };
  const stream = follow(client, `/v1/events?types=${type}`, {
    signal,
    connection: (state) => {
      if (state === "open") opened.isAgain = true;
    },
  });
  let next = stream.next();
  let isDirty = false;
  while (!signal.aborted) {
    const settled = await Promise.race([next, pause(settleMs, signal).then(() => null)]);
    if (settled === null) {
      if (isDirty || opened.isAgain) {
        isDirty = false;
        opened.isAgain = false;
        yield;
      }
      continue;
    }
    if (settled.done === true) return;
    isDirty = true;
    next = stream.next();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
