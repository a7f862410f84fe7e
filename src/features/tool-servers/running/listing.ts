/** What a server listed, stored for every node: changes are on record, and pinned tools that changed are withheld. */
import {
  acceptedDefinitions,
  type Bounded,
  type Difference,
  definitionText,
  differenceOf,
  type ListedTool,
  standingOf,
  withinBounds,
} from "../../../../actors/tool-server/listing.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { storable } from "../../../lib/storable.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../../audit/port.ts";
import type { Incidents } from "../../incidents/port.ts";
import { ownerOf } from "../permission.ts";
import type { Listing, ServerRow, ToolServerRecords } from "../records.ts";

export interface ListingOptions {
  readonly sql: Sql;
  readonly records: ToolServerRecords;
  readonly audit: Pick<Audit, "append">;
  readonly incidents: Pick<Incidents, "report">;
}

/** Names in one entry of the audit log. */
const shownNames = 50;

export interface Listed {
  /** By their names. */
  readonly tools: ReadonlyMap<string, ListedTool>;
  readonly warnings: readonly string[];
  /** Whether the stored list is another one now. */
  readonly isNews: boolean;
}

export type StoreListing = ReturnType<typeof storesListing>;

export function storesListing({ sql, records, audit, incidents }: ListingOptions) {
  /**
   * @param redacted what the server says, with its credentials hidden
   * @param generation of the definition that the connection was made by; a later one has its own list
   */
  return async (id: string, generation: number, protocolVersion: string | null, redacted: Bounded): Promise<Listed> => {
    // What hides credentials may have made it longer.
    const { tools, warnings: further } = withinBounds(redacted.tools.map(storable), Buffer.byteLength);
    const warnings = [...redacted.warnings.map(storable), ...further];
    const digests = Object.fromEntries(tools.map((tool) => [tool.name, digest(definitionText(tool))]));
    const result = (isNews: boolean): Listed => ({
      tools: new Map(tools.map((tool) => [tool.name, tool])),
      warnings,
      isNews,
    });
    const told = await sql.begin(async (tx) => {
      const row = await records.locked(tx, id);
      if (row === null || row.generation !== generation) return null;
      const before = row.tools === null ? {} : row.digests;
      const difference = differenceOf(before, digests);
      const standing = standingOf(row.definition.definitions, row.accepted, digests);
      const isSame = difference === null && row.tools !== null && row.protocol_version === protocolVersion;
      if (isSame && (standing.accepted === null) === (row.accepted === null)) return null;
      const listing = { tools, digests, accepted: standing.accepted, protocol_version: protocolVersion };
      await records.list(tx, id, { ...listing, accepted_tools: await formerTools(tx, row, listing) });
      if (difference !== null) {
        await audit.append(tx, auditedSystem("tool-servers"), {
          tenant: ownerOf(row),
          action: "tool_server.tools_changed",
          target: { type: "tool_server", id: row.name },
          details: { ...shownDifference(difference), withheld: standing.withheld.slice(0, shownNames) },
        });
      }
      const news = new Set([...(difference?.added ?? []), ...(difference?.changed ?? [])]);
      return { row, withheld: standing.withheld.filter((name) => news.has(name)) };
    });
    if (told !== null && told.withheld.length > 0) report(told.row, told.withheld);
    return result(told !== null);
  };

  /** What tools were when they were accepted, where they are listed otherwise now. */
  async function formerTools(tx: Transaction, row: ServerRow, { accepted, digests }: Omit<Listing, "accepted_tools">) {
    if (accepted === null) return {};
    const former = { tools: row.tools ?? [], digests: row.tools === null ? {} : row.digests };
    return acceptedDefinitions(await records.acceptedTools(row.id, tx), former, accepted, digests, Buffer.byteLength);
  }

  function report(row: ServerRow, withheld: readonly string[]): void {
    incidents.report({
      category: "tool_changed",
      tenant: ownerOf(row),
      agentId: null,
      executionId: null,
      sessionId: null,
      toolName: withheld.length === 1 ? `${row.name}.${withheld[0]}` : null,
      violationType: null,
      details: { tool_server: row.name, tools: withheld.slice(0, shownNames), count: withheld.length },
    });
  }
}

/** Characters of a digest: more than chance needs. */
const digestCharacters = 32;
const digest = (text: string): string => sha256Hex(text).slice(0, digestCharacters);

function shownDifference({ added, removed, changed }: Difference) {
  const [a, r, c] = [added, removed, changed].map((names) => names.slice(0, shownNames));
  return { added: a ?? [], removed: r ?? [], changed: c ?? [], count: added.length + removed.length + changed.length };
}
