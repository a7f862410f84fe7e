/** Messages whose turn failed for good. */
import { jsonTexts, numbers, texts } from "../../../store/postgres/array-literal.ts";
import { type Part, rowsPart } from "./part.ts";

export interface DeadLetterRow {
  readonly id: string;
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly messageId: string;
  readonly type: string;
  /** JSON. */
  readonly body: string;
  readonly error: string;
  readonly attempts: number;
}

const add = `insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts)
  select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::int[])`;

export const deadLetters = (rows: readonly DeadLetterRow[]): Part | null =>
  rowsPart(add, rows, () => [
    texts(rows.map((row) => row.id)),
    numbers(rows.map((row) => row.partition)),
    texts(rows.map((row) => row.kind)),
    texts(rows.map((row) => row.key)),
    texts(rows.map((row) => row.tenant)),
    texts(rows.map((row) => row.messageId)),
    texts(rows.map((row) => row.type)),
    jsonTexts(rows.map((row) => row.body)),
    texts(rows.map((row) => row.error)),
    numbers(rows.map((row) => row.attempts)),
  ]);
