/** What is told of a command before it has ended: its steps and its output, as far as they are not lost on the way. */

/** Output of a command as the daemon sent it. */
export interface CommandOutput {
  readonly node_id: string;
  readonly command_id: string;
  readonly stream: "stdout" | "stderr";
  /** Of the first byte in that stream. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A step of a command. */
export interface CommandStep {
  readonly node_id: string;
  readonly command_id: string;
  readonly status: "dispatched" | "running" | "cancelling";
}

/** The data of an event `command_progress`. */
export interface Progress {
  readonly node_id: string;
  readonly command_id: string;
  readonly chunk: { readonly stdout: string } | { readonly stderr: string } | { readonly status: string };
  readonly offset?: number;
  /** Bytes that were lost before it. */
  readonly gap_bytes?: number;
}

/** Commands of this node whose output is being decoded; the oldest are forgotten above it. */
const maxCommands = 20_000;

interface Decoding {
  readonly decoder: TextDecoder;
  /** The offset behind the last byte that came. */
  next: number;
  /** Bytes of a character that has not come whole, at the end of what came. */
  held: number;
}

/** Decodes the output of commands as UTF-8 across the borders of what daemons send; bytes that are none are replaced. */
export function createDecoding() {
  const streams = new Map<string, Decoding>();
  const keyOf = (id: string, stream: CommandOutput["stream"]) => `${id} ${stream}`;

  function decodingOf(key: string, offset: number): Decoding {
    const known = streams.get(key);
    streams.delete(key);
    const made = known ?? { decoder: new TextDecoder(), next: offset, held: 0 };
    streams.set(key, made);
    if (streams.size > 2 * maxCommands) for (const oldest of streams.keys()) return drop(oldest, made);
    return made;
  }
  const drop = (oldest: string, made: Decoding): Decoding => {
    streams.delete(oldest);
    return made;
  };

  return {
    /** Null: nothing to show yet. */
    decode({ node_id, command_id, stream, offset, bytes }: CommandOutput): Progress | null {
      const state = decodingOf(keyOf(command_id, stream), offset);
      // What was sent again after a cut has been shown.
      const repeated = Math.max(0, state.next - offset);
      if (repeated >= bytes.length) return null;
      const gap = Math.max(0, offset - state.next);
      const lost = gap > 0 ? state.decoder.decode() : "";
      const from = gap > 0 ? offset : state.next - state.held;
      const text = lost + state.decoder.decode(bytes.subarray(repeated), { stream: true });
      state.next = offset + bytes.length;
      state.held = heldBytes(bytes, gap > 0 ? 0 : state.held);
      if (text === "") return null;
      const chunk = stream === "stdout" ? { stdout: text } : { stderr: text };
      return { node_id, command_id, chunk, offset: from, ...(gap > 0 ? { gap_bytes: gap } : {}) };
    },

    /** The command has ended: what is left of a character is shown as what it is. */
    end(node_id: string, command_id: string): readonly Progress[] {
      return (["stdout", "stderr"] as const).flatMap((stream) => {
        const key = keyOf(command_id, stream);
        const state = streams.get(key);
        streams.delete(key);
        const text = state?.decoder.decode() ?? "";
        if (state === undefined || text === "") return [];
        const chunk = stream === "stdout" ? { stdout: text } : { stderr: text };
        return [{ node_id, command_id, chunk, offset: state.next - state.held }];
      });
    },
  };
}

/** Bytes at the end that begin a character and do not end it. @param before held from what came earlier */
function heldBytes(bytes: Uint8Array, before: number): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return bytes.length < 3 && before > 0 ? bytes.length + before : 0;
}
