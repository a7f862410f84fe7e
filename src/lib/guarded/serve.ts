/** The child's side of guarded work: jobs come as lines of JSON on standard input, answers leave as lines. */

/** Says that the program is loaded, so that its budget may begin. */
export const ready = "\u0001";

const newline = 0x0a;

/** Answers one job after the other until standard input ends; a job that throws ends the process. */
export async function serveGuarded(work: (input: never) => unknown): Promise<void> {
  await Bun.write(Bun.stdout, `${ready}\n`);
  let pieces: Uint8Array[] = [];
  for await (const chunk of Bun.stdin.stream()) {
    // The parent sends the next job when it has the answer to the one before: a line ends with its chunk.
    pieces.push(chunk);
    if (chunk.at(-1) !== newline) continue;
    const input = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    pieces = [];
    await Bun.write(Bun.stdout, `${JSON.stringify(work(input as never))}\n`);
  }
}
