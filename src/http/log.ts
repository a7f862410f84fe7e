/** Structured logs: one JSON object per line on standard output. */
import pino, { type DestinationStream, type Logger } from "pino";

export type { Logger } from "pino";

/** Members that never reach a log, wherever a caller puts them. */
const secrets = ["authorization", "token", "access_token", "password", "client_secret", "secret", "api_key", "apiKey"];

export function createLogger(level: string, node: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { node },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "REDACTED" },
  };
  return pino(options, destination ?? pino.destination({ fd: 1, sync: false }));
}

/** Path and query of a request as they may be recorded. */
export function recordedUrl(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const path = start < 0 ? "/" : url.slice(start);
  return path.replace(/([?&](?:[\w.-]*(?:token|secret|password|signature)|state|code))=[^&#]*/gi, "$1=REDACTED");
}
