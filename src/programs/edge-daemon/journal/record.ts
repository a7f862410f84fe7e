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

/** Where something is, in bytes from the begin of its line or file. */
export interface Span {
  readonly at: number;
  readonly length: number;
}

export interface Line {
  readonly bytes: Buffer;
  /** Of each record, in the line. */
  readonly spans: readonly Span[];
}

/** In front of the first record: the sum, a blank and the bracket of the list. */
const headLength = sumLength + 2;

export function encodeLine(records: readonly JournalRecord[]): Line {
  const texts = records.map((record) => JSON.stringify(record));
  const text = Buffer.from(`[${texts.join(",")}]`);
  return { bytes: Buffer.concat([Buffer.from(`${sumOf(text)} `), text, Buffer.from("\n")]), spans: spansOf(texts) };
}

function spansOf(texts: readonly string[]): Span[] {
  let at = headLength;
  return texts.map((text) => {
    const span = { at, length: Buffer.byteLength(text) };
    at += span.length + 1;
    return span;
  });
}

/** @param line with its line end @returns null for what is none, or torn */
export function decodeLine(
  line: Uint8Array,
): { readonly records: readonly JournalRecord[]; readonly spans: readonly Span[] } | null {
  if (line.length < headLength + 2 || line.at(-1) !== newline) return null;
  const text = line.subarray(sumLength + 1, -1);
  if (Buffer.from(line.subarray(0, sumLength + 1)).toString("latin1") !== `${sumOf(text)} `) return null;
  const records = parsed(text);
  if (!Value.Check(Records, records)) return null;
  return { records, spans: spansOf(records.map((record) => JSON.stringify(record))) };
}

/** One record by itself, from where a line has it. @returns null for what is none */
export function decodeRecord(bytes: Uint8Array): JournalRecord | null {
  const record = parsed(bytes);
  return Value.Check(JournalRecord, record) ? record : null;
}

function parsed(text: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(text).toString("utf8"));
  } catch {
    return null;
  }
}
