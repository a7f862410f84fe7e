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

/** Where the events of runs come from beside their actors: progress of commands. It may be lost; nothing here throws. */
export interface RunProgress {
  /** Output of a run's command, in its order. */
  output(tenant: string, runId: string, output: CommandOutput): void;
  /** A step of a command. */
  step(tenant: string, runId: string, step: CommandStep): void;
  /** No more output of the command comes; call it before its end is told, and wait: its progress stands before its result. */
  ended(tenant: string, runId: string, nodeId: string, commandId: string): Promise<void>;
}

/** Streams of this node that are being decoded; the oldest are forgotten above it. */
const maxStreams = 20_000;

interface Decoding {
  /** The offset behind the last byte that came. */
  next: number;
  /** The beginning of a character that has not come whole. */
  pending: Uint8Array;
}

/** Decodes the output of commands as UTF-8 across the borders of what daemons send; bytes that are none are replaced. */
export function createDecoding() {
  const decoder = new TextDecoder();
  const streams = new Map<string, Decoding>();
  const keyOf = (id: string, stream: CommandOutput["stream"]) => `${id} ${stream}`;

  function take(key: string): Decoding | undefined {
    const state = streams.get(key);
    streams.delete(key);
    return state;
  }

  /** What to decode next, and where it begins; what was lost before it ends a character. */
  function joinedWith(state: Decoding, fresh: Uint8Array, gap: number) {
    if (gap === 0) return { lost: "", all: joined(state.pending, fresh), from: state.next - state.pending.length };
    return { lost: decoder.decode(state.pending), all: fresh, from: state.next + gap };
  }

  return {
    /** Null: nothing to show yet. */
    decode({ node_id, command_id, stream, offset, bytes }: CommandOutput): Progress | null {
      const key = keyOf(command_id, stream);
      const state = take(key) ?? { next: offset, pending: none };
      streams.set(key, state);
      if (streams.size > maxStreams) for (const oldest of streams.keys()) if (take(oldest) !== undefined) break;
      // What was sent again after a cut has been shown.
      const fresh = bytes.subarray(Math.max(0, state.next - offset));
      if (fresh.length === 0) return null;
      const gap = Math.max(0, offset - state.next);
      const { lost, all, from } = joinedWith(state, fresh, gap);
      const whole = all.length - unfinished(all);
      state.next = offset + bytes.length;
      state.pending = all.slice(whole);
      const text = lost + decoder.decode(all.subarray(0, whole));
      if (text === "" && gap === 0) return null;
      const chunk = chunkOf(stream, text);
      return { node_id, command_id, chunk, offset: from, ...(gap > 0 ? { gap_bytes: gap } : {}) };
    },

    /** The command has ended: what has come of a character is shown as what it is. */
    end(node_id: string, command_id: string): readonly Progress[] {
      return (["stdout", "stderr"] as const).flatMap((stream) => {
        const state = take(keyOf(command_id, stream));
        if (state === undefined || state.pending.length === 0) return [];
        const chunk = chunkOf(stream, decoder.decode(state.pending));
        return [{ node_id, command_id, chunk, offset: state.next - state.pending.length }];
      });
    },
  };
}

const none = new Uint8Array();
const chunkOf = (stream: CommandOutput["stream"], text: string) =>
  stream === "stdout" ? { stdout: text } : { stderr: text };

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other;
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

/** How many bytes at the end begin a character that they do not end. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
