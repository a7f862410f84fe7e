/** Output of running commands, with values hidden that are split over messages. */
import { LRUCache } from "lru-cache";
import type { CommandOutput } from "../../../actors/execution/messages.ts";
import { MaskedStream, type Piece } from "../../lib/masking/masked-stream.ts";
import type { Masker } from "../../lib/masking/masker.ts";

/** Streams of commands whose last characters may begin a value; of others the result shows what was held back. */
const mostStreams = 1024;
/** Characters that are held back of all of them. */
const mostCharacters = 16 * 1024 * 1024;
/** Of one piece of output, characters. */
const longestPiece = 65_536;

export class HiddenOutput {
  readonly #streams = new LRUCache<string, MaskedStream>({
    max: mostStreams,
    maxSize: mostCharacters,
    sizeCalculation: ({ held }) => 64 + held,
  });

  /** Characters that are held back. */
  get size(): number {
    return this.#streams.calculatedSize;
  }

  /** What can be shown by now; the rest is shown with what follows, or with the command's result. */
  shown(masker: Masker, dispatch: string, chunks: readonly CommandOutput[]): CommandOutput[] {
    return chunks.flatMap(({ stream, offset, content, truncated }): CommandOutput[] => {
      const name = `${dispatch} ${stream}`;
      const held = this.#streams.get(name) ?? new MaskedStream(masker);
      const shown = held.add({ offset, bytes: Buffer.byteLength(content), content });
      // Measured anew: the same entry set again would keep its former size.
      this.#streams.delete(name);
      this.#streams.set(name, held);
      const pieces = shown === null ? [] : cutIntoPieces(shown);
      const told = pieces.map((piece) => ({ stream, offset: piece.offset, content: piece.content }));
      return truncated === true ? [{ stream, offset, content: "", truncated }, ...told] : told;
    });
  }
}

/** As long as messages may be; no character is divided. */
function cutIntoPieces({ offset, content }: Piece): Pick<Piece, "offset" | "content">[] {
  const pieces: Pick<Piece, "offset" | "content">[] = [];
  let at = offset;
  for (let from = 0; from < content.length; ) {
    let to = Math.min(content.length, from + longestPiece);
    if (to < content.length && /[\ud800-\udbff]/.test(content[to - 1] ?? "")) to -= 1;
    const piece = content.slice(from, to);
    pieces.push({ offset: at, content: piece });
    at += Buffer.byteLength(piece);
    from = to;
  }
  return pieces;
}
