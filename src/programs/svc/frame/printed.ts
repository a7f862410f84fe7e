/** Bytes of the service on standard output: a program gets them as they are, a terminal is steered by none of them. */
import { lines } from "../output/inert.ts";
import { Failure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";

/** A line that is longer is shown in pieces. */
const longestLine = 65_536;

/** @throws Failure `usage` for what is no text, where standard output is a terminal: before the first byte of it is shown */
export async function printed(io: Io, body: ReadableStream<Uint8Array> | null): Promise<void> {
  if (!io.isTerminal) return io.write(body);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = "";
  for await (const piece of body ?? []) {
    line += textOf(decoder, piece);
    // What is made inert does not end amid a line, where a mark has half of its meaning.
    const end = line.length > longestLine ? line.length : line.lastIndexOf("\n") + 1;
    if (end > 0) io.out(lines(line.slice(0, end)).text);
    line = line.slice(end);
  }
  line += textOf(decoder, null);
  if (line !== "") io.out(lines(line).text);
}

/** @param piece null: there is no more */
function textOf(decoder: TextDecoder, piece: Uint8Array | null): string {
  if (piece?.includes(0) === true) throw binary();
  try {
    return piece === null ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch {
    throw binary();
  }
}

const binary = (): Failure =>
  new Failure(
    "usage",
    "That is no text, and a terminal cannot show it",
    "-o FILE writes it to a file; a pipe takes it as it is.",
    "binary_content",
  );
