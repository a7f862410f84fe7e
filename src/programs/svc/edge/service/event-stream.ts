/** Server-sent events, as they arrive. */
import { Failure } from "../command/exit.ts";

export interface StreamedEvent {
  readonly id: number;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Of one event; the service's largest are those of runs over ten thousand hosts. */
const maxEventChars = 32 * 1024 * 1024;

/**
 * Splits a stream into its events.
 *
 * @param heard called for all that arrives, comments included
 * @throws what the stream fails with; Failure `failed` for what is no event of the service
 */
export async function* eventsOf(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let size = 0;
  for await (const chunk of body) {
    heard();
    const text = decoder.decode(chunk, { stream: true }).replaceAll("\r", "");
    pieces.push(text);
    size += text.length;
    // An end of an event may lie across two chunks; joining waits until there may be one.
    if (!text.includes("\n")) {
      if (size > maxEventChars) throw unreadable();
      continue;
    }
    const frames = pieces.join("").split("\n\n");
    const open = frames.pop() ?? "";
    if (open.length > maxEventChars) throw unreadable();
    pieces.splice(0, pieces.length, open);
    size = open.length;
    for (const frame of frames) {
      const event = readFrame(frame);
      if (event !== null) yield event;
    }
  }
}

/** @returns null for comments */
function readFrame(frame: string): StreamedEvent | null {
  let [id, name] = [0, ""];
  const lines: string[] = [];
  for (const line of frame.split("\n")) {
    const split = line.indexOf(":");
    if (split === 0) continue;
    const field = split === -1 ? line : line.slice(0, split);
    const value = split === -1 ? "" : line.slice(split + 1).replace(/^ /, "");
    if (field === "id" && /^\d{1,15}$/.test(value)) id = Number(value);
    if (field === "event") name = value;
    if (field === "data") lines.push(value);
  }
  if (lines.length === 0) return null;
  try {
    const data: unknown = JSON.parse(lines.join("\n"));
    if (typeof data === "object" && data !== null) return { id, name, data: { ...data } };
  } catch {}
  throw unreadable();
}

const unreadable = (): Failure => new Failure("failed", "the stream holds what is no event", "unreadable_answer");
