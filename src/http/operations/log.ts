/** Structured logs: one JSON object for each line, or in development a short line for people. */
import pino, { type DestinationStream, type Logger } from "pino";

export type { Logger } from "pino";

/** Members that never reach a log, wherever a caller puts them. */
const secrets = ["authorization", "token", "access_token", "password", "client_secret", "secret", "api_key", "apiKey"];

/** @param destination standard output when absent */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "REDACTED" },
  };
  return pino(options, destination ?? pino.destination({ fd: 1, sync: false }));
}

/**
 * A token in front of a path, as agents without headers send it, in place of a path segment, of a decision link, or of an
 * invitation: there what is neither an id nor a route's own word.
 */
const pathToken =
  /^\/x\/[^/?#]*|\/approval-links\/[^/?#]*|\/invitations\/(?!accept(?:[/?#]|$)|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:[/?#]|$))[^/?#]*|\/eyJ[\w-]*(?:\.|%2e)[^/?#]*/gi;
const beforeToken = /^\/(?:x|approval-links|invitations)(?=\/)/i;

/** The value of an API key, wherever a caller writes it. */
const keyValue = /svc_[0-9A-Za-z]{40}/g;

/** Characters of a recorded URL: what no token had to allow may not fill the log. */
const maxRecordedUrl = 1024;

/** Path and query of a request as they may be recorded: without tokens, the end of a long one left out. */
export function recordedUrl(url: string): string {
  // Under a malformed Host there is nothing in front of the path.
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const path = start < 0 ? "/" : url.slice(start);
  const shown = path.replace(pathToken, (token) => `${beforeToken.exec(token)?.[0] ?? ""}/REDACTED`);
  const told = shown
    .replace(
      /([?&](?:[\w.-]*(?:token|secret|password|signature)|state|code|user_code|id_token_hint))=[^&#]*/gi,
      "$1=REDACTED",
    )
    .replace(keyValue, "svc_REDACTED");
  return told.length > maxRecordedUrl ? `${told.slice(0, maxRecordedUrl)}…` : told;
}

type Entry = Readonly<Record<string, unknown>>;

/** Members that are not repeated as `name=value`: every line has them, or shows them elsewhere. */
const shownElsewhere = new Set(["level", "time", "msg", "pid", "hostname", "err"]);
const ofRequests = new Set(["method", "url", "status", "ms", "request_id"]);

/**
 * A destination that writes each entry as one short line for people.
 * @param write takes whole lines
 */
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
    .filter(([name]) => !shownElsewhere.has(name) && !shown.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("");
}

function stackOf(error: unknown): string {
  return typeof error === "object" && error !== null && "stack" in error ? `\n${error.stack}` : "";
}
