/**
 * Lines of the journal. A line is one write: the CRC-32 of its text, a blank, and the list of its records as JSON. So a
 * torn write is a line that does not fit its sum, and there is only ever one, the last.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Result } from "../../../../actors/edge/frames.ts";
import { Nullable, Text } from "../../../../actors/kernel/schema.ts";

const Number53 = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** First in the file. `seq`: records that the journal had before it was written anew. */
const Head = Type.Object({ k: Type.Literal("journal"), id: Text, seq: Number53 });

/** A command may run from now on. Times are Unix ms by this machine's clock. */
const StartedRecord = Type.Object({
  k: Type.Literal("started"),
  n: Number53,
  id: Text,
  started_at: Text,
  /** Leader of the command's process group, and when it began. */
  pid: Type.Integer({ minimum: 1 }),
  born: Nullable(Text),
});
export type StartedRecord = Static<typeof StartedRecord>;

const FinishedRecord = Type.Object({
  k: Type.Literal("finished"),
  n: Number53,
  id: Text,
  result: Result,
  acked_at: Type.Optional(Number53),
});
export type FinishedRecord = Static<typeof FinishedRecord>;

const AckedRecord = Type.Object({ k: Type.Literal("acked"), id: Text, at: Number53 });

const JournalRecord = Type.Union([Head, StartedRecord, FinishedRecord, AckedRecord]);
export type JournalRecord = Static<typeof JournalRecord>;

const Records = Type.Array(JournalRecord);

const newline = 0x0a;
const sumLength = 8;

const sumOf = (bytes: Uint8Array): string => Bun.hash.crc32(bytes).toString(16).padStart(sumLength, "0");

export function encodeLine(records: readonly JournalRecord[]): Buffer {
  const text = Buffer.from(JSON.stringify(records));
  return Buffer.concat([Buffer.from(`${sumOf(text)} `), text, Buffer.from("\n")]);
}

/** @param line with its line end @returns null for what is none, or torn */
export function decodeLine(line: Uint8Array): readonly JournalRecord[] | null {
  if (line.length < sumLength + 4 || line.at(-1) !== newline) return null;
  const text = line.subarray(sumLength + 1, -1);
  if (Buffer.from(line.subarray(0, sumLength + 1)).toString("latin1") !== `${sumOf(text)} `) return null;
  try {
    const records: unknown = JSON.parse(Buffer.from(text).toString("utf8"));
    return Value.Check(Records, records) ? records : null;
  } catch {
    return null;
  }
}
