/** Security contexts as features read them, without a node around. */
import { type ContextReader, createContextReader } from "../../../src/features/security-contexts/known.ts";
import { contextRecords } from "../../../src/features/security-contexts/records.ts";
import type { Sql } from "../../../src/store/postgres/pool.ts";

/** @param sql null: the system's contexts alone */
export function contextsOf(sql: Sql | null, now: () => number = Date.now): ContextReader {
  const records = sql === null ? { find: async () => null } : contextRecords(sql);
  return createContextReader({ records, notices: { on: () => () => {}, tell: () => {} }, now });
}
