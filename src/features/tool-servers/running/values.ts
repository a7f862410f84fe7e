/** What a server's credentials mean now, for its process or its requests, and what hides them. */
import { type CredentialSource, readSource } from "../../../../actors/tool-server/definition.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { Masker } from "../../../lib/masking/masker.ts";
import { Secret } from "../../../lib/secret.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, auditedSystem } from "../../audit/port.ts";
import type { ServerCredentials } from "../../credentials/port.ts";
import type { ReferenceFault, ResolvedReference } from "../../references/port.ts";
import type { SecretValues } from "../../secrets/port.ts";
import { ownerOf } from "../permission.ts";
import type { ServerRow } from "../records.ts";

export interface ServerValues {
  /** By variable, or by header. */
  readonly values: Readonly<Record<string, string>>;
  readonly masker: Masker;
  /** Tells whether the values are still the same, and nothing else of them. */
  readonly stamp: string;
}

export interface ValuesOptions {
  readonly sql: Sql;
  readonly secrets: SecretValues;
  readonly credentials: Pick<ServerCredentials, "meaning" | "used">;
  readonly audit: Pick<Audit, "once">;
  /** Of this node's environment, byte for byte. */
  readonly variable: (name: string) => string | undefined;
}

/** A value that cannot be had; the message is for people and names no value. */
class ValueFault extends Error {
  override readonly name = "ValueFault";
}

interface Meant extends Pick<ResolvedReference, "value" | "hidden"> {
  readonly isToken?: boolean;
}

export type ResolveValues = ReturnType<typeof resolvesValues>;

export function resolvesValues({ sql, secrets, credentials, audit, variable }: ValuesOptions) {
  /** @throws ValueFault */
  async function meaning(row: ServerRow, name: string, source: CredentialSource | string): Promise<Meant> {
    if (typeof source === "string") throw new ValueFault(`${name} ${source}`);
    if (source.kind === "env") {
      const value = variable(source.variable);
      if (value === undefined) throw new ValueFault(`${name}: this node has no variable ${source.variable}`);
      const secret = new Secret(value);
      return { value: secret, hidden: [secret] };
    }
    const tenant = ownerOf(row);
    const meant: Meant | ReferenceFault =
      source.kind === "secret"
        ? await secrets.meaning(tenant, source)
        : await credentials.meaning(tenant, source.by.id, row.defined_by);
    if ("code" in meant) throw new ValueFault(`${name}: ${meant.code}: ${meant.message}`);
    return meant;
  }

  return {
    /** @throws ValueFault; Problem 503 where a store is away */
    async look(row: ServerRow): Promise<ServerValues> {
      const values: Record<string, string> = {};
      const masker = new Masker();
      for (const [name, text] of Object.entries(row.definition.credentials)) {
        const meant = await meaning(row, name, readSource(text));
        masker.hide(meant.hidden.map((each) => each.reveal()));
        values[name] = shaped(row, name, meant);
      }
      return { values, masker, stamp: sha256Hex(JSON.stringify(values)) };
    },

    /** Puts on record, once for each making of connections, that they are used; before they leave. */
    async used(row: ServerRow): Promise<void> {
      const sources = Object.values(row.definition.credentials).map(readSource);
      const tenant = ownerOf(row);
      await sql.begin(async (tx) => {
        for (const source of sources) {
          if (typeof source === "string" || source.kind === "env") continue;
          const change = {
            tenant,
            action: `${source.kind}.used`,
            target: { type: source.kind, id: source.kind === "secret" ? source.path : source.by.id },
            details: { reference: source.text, tool_server: row.name },
          };
          await audit.once(tx, `${row.id} ${row.generation} ${source.text}`, auditedSystem("tool-servers"), change);
        }
      });
      const ids = sources.flatMap((source) =>
        typeof source !== "string" && source.kind === "credential" ? [source.by.id] : [],
      );
      if (ids.length > 0) await credentials.used(tenant, ids);
    },
  };
}

/** An access token in the header of tokens is sent as one. */
function shaped({ definition: { transport } }: ServerRow, name: string, { value, isToken = false }: Meant): string {
  const isHeader = transport === "streamable_http" && name.toLowerCase() === "authorization";
  return isToken && isHeader ? `Bearer ${value.reveal()}` : value.reveal();
}
