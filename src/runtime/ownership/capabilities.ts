/** What the nodes know of each other's knowledge, and what partitions need (../versions/knowledge.ts). */
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { decodeNeed, type Knowledge, type Need } from "../versions/knowledge.ts";

export class Capabilities {
  /** Under which nodes name theirs. */
  readonly id: string;
  private readonly text: string;
  private readonly known = new Map<string, Knowledge>();

  constructor(
    private readonly sql: Sql,
    own: Knowledge,
  ) {
    this.text = JSON.stringify(own);
    this.id = Bun.hash(this.text).toString(36);
    this.known.set(this.id, own);
  }

  async announce(sql = this.sql): Promise<void> {
    await sql`
      insert into runtime_capabilities (id, knows) values (${this.id}, ${this.text}) on conflict do nothing`;
  }

  /** By the ids under which nodes name them; each is read once. */
  async of(ids: readonly string[]): Promise<ReadonlyMap<string, Knowledge>> {
    const missing = ids.filter((id) => !this.known.has(id));
    if (missing.length > 0) {
      const rows = await this.sql<{ id: string; knows: string }[]>`
        select id, knows from runtime_capabilities where id = any(${texts(missing)}::text[])`;
      for (const { id, knows } of rows) this.known.set(id, JSON.parse(knows) as Knowledge);
    }
    return this.known;
  }

  /** By partition. @param text JSON of the rows of `runtime_needs`; null for none */
  needs(text: string | null): ReadonlyMap<number, readonly (Need | null)[]> {
    const needs = new Map<number, (Need | null)[]>();
    const rows = JSON.parse(text ?? "[]") as { readonly partition: number; readonly need: string }[];
    for (const { partition, need } of rows) {
      const list = needs.get(partition) ?? [];
      list.push(decodeNeed(need));
      needs.set(partition, list);
    }
    return needs;
  }

  /** Forgets what partitions need once every node that lives knows it and nothing waits there. */
  async forgetNeeds(): Promise<void> {
    await this.sql`
      delete from runtime_needs n where not exists (select 1 from runtime_parked p where p.partition = n.partition)`;
  }
}
