/** Following an execution's stream to its end, across broken connections and restarts of the service. */
import { type Client, Refused, Unreachable } from "./client.ts";

const retryMs = 500;
/** Keep-alives come every 15 s: a stream silent for longer than this is dead. */
const silenceMs = 45_000;

export type Told = (id: number, name: string, body: Readonly<Record<string, unknown>>) => void;

/** @returns 0 when the execution completed, 1 when it ended otherwise */
export async function follow(client: Client, executionId: string, tell: Told): Promise<number> {
  const progress: Progress = { last: 0, ended: null, away: false };
  while (progress.ended === null) {
    try {
      await connection(client, executionId, progress, tell);
    } catch (error) {
      if (error instanceof Refused && error.status !== 401 && error.status !== 429) throw error;
      if (!progress.away && error instanceof Unreachable) console.error("      … the service is gone; waiting for it");
      progress.away ||= error instanceof Unreachable;
    }
    if (progress.ended === null) await Bun.sleep(retryMs);
  }
  return progress.ended === "execution_completed" ? 0 : 1;
}

interface Progress {
  /** Id of the last event told. */
  last: number;
  /** Name of the terminal event. */
  ended: string | null;
  /** The service could not be reached when last tried. */
  away: boolean;
}

/** Tells what one connection brings; returns or throws when it is over. */
async function connection(client: Client, executionId: string, progress: Progress, tell: Told): Promise<void> {
  const silent = new AbortController();
  const restart = (timer?: Timer) => {
    clearTimeout(timer);
    return setTimeout(() => silent.abort(), silenceMs);
  };
  let timer = restart();
  try {
    const stream = await client.stream(`/v1/executions/${executionId}/stream`, progress.last, silent.signal);
    if (progress.away) console.error("      … the service is back");
    progress.away = false;
    const heard = () => {
      timer = restart(timer);
    };
    for await (const { id, data } of events(stream, heard)) {
      progress.last = id;
      const [name = ""] = Object.keys(data);
      tell(id, name, data[name] ?? {});
      if (/^execution_(completed|failed|cancelled|timed_out)$/.test(name)) progress.ended = name;
    }
  } finally {
    clearTimeout(timer);
  }
}

interface StreamedEvent {
  readonly id: number;
  readonly data: Readonly<Record<string, Record<string, unknown>>>;
}

/** Splits a stream into its events. @param heard called for everything that arrives, comments included */
async function* events(stream: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    heard();
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const event = readFrame(frame);
      if (event !== null) yield event;
    }
  }
}

function readFrame(frame: string): StreamedEvent | null {
  const fields = new Map(
    frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const data = fields.get("data");
  return data === undefined ? null : { id: Number(fields.get("id") ?? 0), data: JSON.parse(data) };
}
