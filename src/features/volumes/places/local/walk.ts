/** Everything that lies in a volume's directory, found by a process of its own: its number is not ours to choose. */
import { overAgentsFiles } from "../../../../lib/processes/agents-programs.ts";
import { maxSegments } from "../../paths.ts";
import type { Rebuild } from "../index/rebuild.ts";

/** Of a volume with more files and directories there is no index: the directory itself is looked into. */
const maxEntries = 5_000_000;
const budgetMs = 30 * 60_000;

/** Whether the system's `find` can say what is needed. */
export const canWalk = process.platform === "linux";

/**
 * @param begin called each time that the walk begins: it may run twice
 * @returns the index that holds all of it; null when it is too large, or took too long
 */
export async function walkInto(directory: string, begin: () => Promise<Rebuild>): Promise<Rebuild | null> {
  const format = "%y %s %T@ %P\\0";
  const begun: Rebuild[] = [];
  let isWhole = false;
  // Its last record says that the walk came to its end.
  const argv = ["find", directory, "/dev/null", "-xdev", "-printf", format];
  await overAgentsFiles(argv, (output) => take(output), budgetMs);
  const made = begun.pop();
  for (const other of begun) await other.discard();
  if (made === undefined || isWhole) return made ?? null;
  await made.discard();
  return null;

  async function take(output: ReadableStream<Uint8Array>): Promise<void> {
    isWhole = false;
    const rebuild = await begin();
    begun.push(rebuild);
    let count = 0;
    for await (const record of recordsIn(output)) {
      const [, type, size, time, path] = /^(\S) (\d+) (-?[\d.]+) (.*)$/s.exec(record) ?? [];
      if (type === "c" && path === "") isWhole = true;
      if (path === undefined || path === "" || time === undefined || (type !== "f" && type !== "d")) continue;
      count += 1;
      if (count > maxEntries) return;
      const entry = { directory: type === "d", path, size: Number(size), modifiedUs: Math.round(Number(time) * 1e6) };
      await rebuild.add(entry, path.split("/", maxSegments + 1).length <= maxSegments);
    }
  }
}

async function* recordsIn(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of output) {
    const records = (rest + decoder.decode(chunk, { stream: true })).split("\0");
    rest = records.pop() ?? "";
    yield* records;
  }
}
