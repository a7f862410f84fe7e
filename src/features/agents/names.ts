/** What agents are called, for records that outlive them. */
import { isUuid } from "../../http/route.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";

/** By id as it was given. */
export async function agentNames(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const known = ids.filter(isUuid);
  if (known.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    select agent_id as id, name from agents where agent_id = any(${texts(known)}::uuid[])`;
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return new Map(known.flatMap((id) => (names.has(id.toLowerCase()) ? [[id, names.get(id.toLowerCase()) ?? ""]] : [])));
}
