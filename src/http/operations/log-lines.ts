/** Log lines for people: one short line each, where the service writes JSON in production. */
import type { DestinationStream } from "pino";

type Entry = Readonly<Record<string, unknown>>;

/** What every line has, or what stands elsewhere in it. */
const known = new Set(["level", "time", "msg", "pid", "hostname", "err"]);
const ofRequests = new Set(["method", "url", "status", "ms", "request_id"]);

/** @param write takes whole lines */
export function readableLines(write: (text: string) => void): DestinationStream {
  return { write: (line) => write(`${readable(JSON.parse(line) as Entry)}\n`) };
}

function readable(entry: Entry): string {
  const time = String(entry.time).slice(11, 19);
  const level = String(entry.level).padEnd(5);
  return `${time} ${level} ${entry.msg}${facts(entry)}${stackOf(entry.err)}`;
}

function facts(entry: Entry): string {
  if (entry.msg === "request")
    return ` ${entry.method} ${entry.url} ${entry.status} (${entry.ms} ms)${rest(entry, ofRequests)}`;
  return rest(entry, new Set());
}

function rest(entry: Entry, shown: ReadonlySet<string>): string {
  return Object.entries(entry)
    .filter(([name]) => !known.has(name) && !shown.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("");
}

function stackOf(error: unknown): string {
  return typeof error === "object" && error !== null && "stack" in error ? `\n${error.stack}` : "";
}
