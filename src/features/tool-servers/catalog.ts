/** What tenants have of tool servers, remembered on this node: read anew when a notice says so, and now and then. */
import { LRUCache } from "lru-cache";
import type { Json } from "../../../actors/kernel/json.ts";
import { jsonWeight } from "../../lib/json-weight.ts";
import type { RegisteredTool } from "../tools/port.ts";
import type { ServerRow } from "./records.ts";
import { shownTools, withheldOf } from "./wire.ts";

export interface Offer {
  readonly tools: readonly RegisteredTool[];
  /** By the names of the servers. */
  readonly servers: ReadonlyMap<string, ServerRow>;
}

/** Read anew after so long without a notice, beside who asks, ms. */
const believedMs = 3_000;
/** Who asks waits for what is older, ms. */
const oldMs = 30_000;
/** Tenants that are remembered. */
const capacity = 2_000;
/** Characters of what they have together, about: more are read anew when they are asked for. What one has is kept alone. */
const keptCharacters = 64 * 1024 * 1024;

interface Known {
  offer: Offer;
  /** Tells whether the rows say something else. */
  stamp: string;
  readAt: number;
  /** Notices since it was first read; each makes what is remembered old. */
  changes: number;
  readFor: number;
  reading: Promise<Offer> | null;
}

export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(read: (tenant: string) => Promise<readonly ServerRow[]>, most = keptCharacters) {
  const known = new LRUCache<string, Known>({ max: capacity, maxSize: most });
  const nothing: Offer = { tools: [], servers: new Map() };
  const unread: Omit<Known, "offer"> = {
    stamp: "[]",
    readAt: Number.NEGATIVE_INFINITY,
    changes: 0,
    readFor: 0,
    reading: null,
  };

  async function readNow(tenant: string, entry: Known): Promise<Offer> {
    const [readAt, changes] = [performance.now(), entry.changes];
    const rows = (await read(tenant)).filter(({ definition }) => definition.enabled);
    const stamp = JSON.stringify(rows.map((row) => [row.id, row.version, row.generation, row.digests, row.accepted]));
    // The same list until something changed.
    if (stamp !== entry.stamp) {
      entry.offer = { tools: rows.flatMap(registered), servers: new Map(rows.map((row) => [row.name, row])) };
      entry.stamp = stamp;
      // A value that is set once more keeps the size that it had.
      known.delete(tenant);
      known.set(tenant, entry, { size: Math.min(most, weightOf(rows)) });
    }
    entry.readAt = readAt;
    entry.readFor = changes;
    return entry.offer;
  }

  function entryOf(tenant: string): Known {
    const found = known.get(tenant);
    if (found !== undefined) return found;
    const fresh: Known = { ...unread, offer: nothing };
    known.set(tenant, fresh, { size: 1 });
    return fresh;
  }

  return {
    /** @throws when the store is away and nothing is remembered */
    of(tenant: string): Offer | Promise<Offer> {
      const entry = entryOf(tenant);
      const isUnchanged = entry.readFor === entry.changes;
      const age = performance.now() - entry.readAt;
      if (isUnchanged && age < believedMs) return entry.offer;
      entry.reading ??= readNow(tenant, entry)
        .catch((error: unknown) => {
          if (entry.readAt === Number.NEGATIVE_INFINITY) throw error;
          return entry.offer;
        })
        .finally(() => {
          entry.reading = null;
        });
      // Calls and starts make no round trip for what no notice was about.
      return isUnchanged && age < oldMs ? entry.offer : entry.reading;
    },

    /** @param tenant null: anything may have changed */
    forget(tenant: string | null): void {
      for (const [each, entry] of known.entries()) if (tenant === null || each === tenant) entry.changes += 1;
    },
  };
}

const weightOf = (rows: readonly ServerRow[]): number =>
  // These members are stored as JSON.
  rows.reduce((sum, { tools, definition }) => sum + jsonWeight([tools, definition] as unknown as Json), 1);

function registered(row: ServerRow): RegisteredTool[] {
  const withheld = new Set(withheldOf(row));
  const judged = new Map(row.definition.capabilities?.map(({ name, skip_judge }) => [name, skip_judge]));
  return shownTools(row).map(({ name, description, inputSchema, outputSchema, annotations }) => ({
    name: `${row.name}.${name}`,
    aliases: [],
    description,
    inputSchema,
    ...(outputSchema === null ? {} : { outputSchema }),
    annotations,
    source: "mcp",
    server: row.name,
    executor: "server",
    runs: "service",
    readOnly: annotations.readOnlyHint,
    idempotent: annotations.idempotentHint,
    ...(judged.get(name) === true ? { skipJudge: true } : {}),
    ...(withheld.has(name) ? { withheld: true } : {}),
  }));
}
