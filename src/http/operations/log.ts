/** Structured logs: one JSON object per line. */
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

/** A token in front of a path, as agents without headers send it, in place of a path segment, or of a decision link. */
const pathToken = /^\/x\/[^/?#]*|\/approval-links\/[^/?#]*|\/eyJ[\w-]*(?:\.|%2e)[^/?#]*/gi;
const beforeToken = /^\/(?:x|approval-links)(?=\/)/i;

/** Path and query of a request as they may be recorded. */
export function recordedUrl(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const path = start < 0 ? "/" : url.slice(start);
  const shown = path.replace(pathToken, (token) => `${beforeToken.exec(token)?.[0] ?? ""}/REDACTED`);
  return shown.replace(/([?&](?:[\w.-]*(?:token|secret|password|signature)|state|code))=[^&#]*/gi, "$1=REDACTED");
}
