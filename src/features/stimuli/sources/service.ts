/** What can be done with sources: listed, made, removed; what is there is changed by `changes.ts`. */
import { starterOf } from "../../../../actors/identity/starter.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import { changing } from "./changes.ts";
import {
  type Changer,
  newSecretText,
  type SourceServiceOptions,
  sourceNotFound,
  sourceParts,
  withMinted,
} from "./parts.ts";
import type { StoredSecrets } from "./records.ts";
import type { ChangedSource, NewSource, SourceRecord } from "./schema.ts";
import { newSettings, secretChangeOf } from "./settings.ts";
import { checkUsable, noSecrets, replacedSecrets } from "./verification/secrets.ts";
import { shownSettings } from "./wire.ts";

/** Sources of a tenant. */
export const maxSources = 200;

export type SourceService = ReturnType<typeof createSourceService>;

export function createSourceService(options: SourceServiceOptions) {
  const parts = sourceParts(options);
  const { patch, replace, rotate } = changing(parts);
  const { sql, encryption, now, newId, records, shown, find } = parts;

  return {
    patch,
    replace,
    rotate,

    /** By source. @param source in any case; null: all of them */
    async list(tenant: string, source: string | null, page: Page): Promise<List<"routes", SourceRecord>> {
      const rows = await records.list(tenant, source?.toLowerCase() ?? null, page);
      return listOf("routes", rows.map(shown), page, ({ source: last }) => [last]);
    },

    /** @throws Problem 404 `route_not_found` */
    detail: async (tenant: string, id: string): Promise<SourceRecord> => shown(await find(tenant, id)),

    /**
     * @returns the record, with the secret if it was minted
     * @throws Problem 422 `validation_failed`, `reserved_source`, `secret_forbidden`, `unknown_workflow`;
     *   409 `route_exists` {id}
     */
    async create(changer: Changer, body: NewSource): Promise<ChangedSource> {
      const { tenant, identity } = changer;
      const settings = newSettings(body);
      const secretChange = secretChangeOf(body);
      const text = newSecretText(secretChange, settings);
      if (text !== null) checkUsable(settings.preset, text, "secret");
      const referred = await parts.checkReference(changer, text);
      await parts.checkWorkflow(tenant, settings, null);
      const id = newId();
      const secrets: StoredSecrets =
        text === null ? noSecrets : replacedSecrets(encryption, { tenant, id, secret_version: 0 }, text);
      const createdBy = { kind: identity.kind, sub: identity.userId };
      const creator = starterOf(identity);
      await sql.begin(async (tx) => {
        const count = await records.hold(tx, tenant);
        const existing = await records.idOf(tx, tenant, settings.source);
        if (existing !== null) throw sourceExists(existing, settings.source);
        if (count >= maxSources) throw tooManySources();
        await records.insert(tx, { id, tenant, settings, secrets, createdBy, creator, at: new Date(now()) });
        await parts.append(tx, changer, "created", id, {
          ...shownSettings(settings),
          has_secret: text !== null,
          ...referred,
        });
      });
      parts.changed({ tenant, source: settings.source, id });
      return withMinted(shown(await find(tenant, id)), secretChange, text);
    },

    /** @throws Problem 404 `route_not_found` */
    async remove(changer: Changer, id: string) {
      const source = await sql.begin(async (tx) => {
        const removed = await records.remove(tx, changer.tenant, id);
        if (removed === null) throw sourceNotFound();
        await parts.append(tx, changer, "deleted", id, { source: removed });
        return removed;
      });
      parts.changed({ tenant: changer.tenant, source, id });
      return { status: "deleted", success: true, id } as const;
    },
  };
}

function sourceExists(id: string, source: string): Problem {
  return new Problem("route_exists", `There is a route for the source ${source} already`, { id });
}

function tooManySources(): Problem {
  return invalidField("source", `a tenant may have at most ${maxSources} source routes`, "too_many_routes");
}
