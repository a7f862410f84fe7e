/** The body of an upload as it arrives, in no more memory than its last piece. */
import { Problem } from "../../../../actors/kernel/problem.ts";

/**
 * A piece is good until the next one is asked for: its memory is given back then. Otherwise thousands of pieces would lie
 * in memory until they are collected.
 * @throws Problem 400 `malformed_body` where the body breaks off
 */
export async function* bodyOf({ body }: Request): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body === null) return;
  const reader = body.getReader();
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw new Problem("malformed_body", "The body broke off", {}, { Connection: "close" });
      });
      isRead = done;
      if (value === undefined) return;
      yield value;
      release(value);
    }
  } finally {
    // Who reads no further wants no more of it.
    if (!isRead) void reader.cancel().catch(() => {});
  }
}

function release({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void {
  if (byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0);
}
