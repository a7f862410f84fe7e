/** What can be done with sources: listed, made, changed, removed, their secrets rotated. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Audit, AuditedBy } from "../../audit/port.ts";
import type { Encryption } from "../../encryption/port.ts";
import type { Definitions } from "../../workflows/definitions/port.ts";
import { type ShownRow, type SourceRecords, type StoredSecrets, sourceRecords } from "./records.ts";
import type { ChangedSource, NewSource, Rotated, Rotation, SourceChange, SourceRecord } from "./schema.ts";
import {
  changedSettings,
  checkedSecret,
  differences,
  newSettings,
  replacedSettings,
  type SecretChange,
  type SourceSettings,
  secretChangeOf,
} from "./settings.ts";
import type { SecretsOfEnvironment } from "./verification/environment.ts";
import { environmentSecretOf } from "./verification/keys.ts";
import {
  checkUsable,
  decryptedSecret,
  mintedSecret,
  noSecrets,
  replacedSecrets,
  rotatedSecrets,
} from "./verification/secrets.ts";
import { settingsOf, shownSettings, sourceRecord } from "./wire.ts";
import { checkVisible } from "./workflow-references.ts";

/** Sources of a tenant. */
export const maxSources = 200;
/** How often a change is tried anew after another one that came between. */
const rounds = 5;
const defaultPreviousSeconds = 86_400;

export interface SourceServiceOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly audit: Audit;
  readonly definitions: Definitions;
  readonly environment: SecretsOfEnvironment;
  /** Where clients reach the service, without a slash at the end. */
  readonly publicUrl: string;
  /** Told of every change once it is stored, before the caller is answered. */
  readonly changed: (source: { readonly tenant: string; readonly source: string; readonly id: string }) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** The caller who changes the configuration. */
export interface Changer {
  /** The effective tenant. */
  readonly tenant: string;
  readonly identity: { readonly kind: string; readonly userId: string };
  readonly by: AuditedBy;
}

export type SourceService = ReturnType<typeof createSourceService>;

export function createSourceService(options: SourceServiceOptions) {
  const { sql, encryption, audit, definitions, environment, now, newId } = options;
  const records: SourceRecords = sourceRecords(sql);

  const shown = (row: ShownRow): SourceRecord =>
    sourceRecord(row, {
      publicUrl: options.publicUrl,
      environmentOrigin: (_, { tenant, source, preset }) =>
        environmentSecretOf(environment, tenant, source, preset)?.by ?? null,
      now: now(),
    });

  /** @throws Problem 404 `route_not_found` */
  async function find(tenant: string, id: string): Promise<ShownRow> {
    const row = await records.find(tenant, id);
    if (row === null) throw sourceNotFound();
    return row;
  }

  function append(tx: Transaction, { tenant, by }: Changer, verb: string, id: string, details: Record<string, Json>) {
    return audit.append(tx, by, {
      tenant,
      action: `stimulus_route.${verb}`,
      target: { type: "stimulus_route", id },
      details,
    });
  }

  /**
   * Changes a row as it was read; where another change came between it is read again.
   * @throws Problem 404 `route_not_found`, 503 when there is no end to other changes
   */
  async function changing<T>(changer: Changer, id: string, change: (row: ShownRow) => Promise<Planned<T>>): Promise<T> {
    for (let round = 0; round < rounds; round++) {
      const row = await find(changer.tenant, id);
      const { write, answer } = await change(row);
      if (write === null) return answer(row);
      const { settings, secrets, verb, details } = write;
      const { tenant, revision, source } = row;
      const done = await sql.begin(async (tx) => {
        const at = new Date(now());
        if (!(await records.update(tx, { tenant, id, revision, settings, secrets, at }))) return false;
        await append(tx, changer, verb, id, details);
        return true;
      });
      if (!done) continue;
      options.changed({ tenant, source, id });
      return answer(await find(tenant, id));
    }
    throw new Problem("service_unavailable", "This route is being changed; try again", {}, { "Retry-After": "1" });
  }

  /** @throws Problem 422 of the body, `unknown_workflow`; 404 `route_not_found` */
  function update(
    changer: Changer,
    id: string,
    body: SourceChange,
    merge: (settings: SourceSettings, body: SourceChange) => SourceSettings,
  ): Promise<ChangedSource> {
    const secretChange = secretChangeOf(body);
    return changing(changer, id, async (row) => {
      const before = settingsOf(row);
      const settings = merge(before, body);
      const text = newSecretText(secretChange, settings);
      const secrets = changedSecrets(row, secretChange, text, settings);
      await checkWorkflow(changer.tenant, settings, before);
      const changed = [...differences(before, settings), ...(secrets === null ? [] : ["secret"])];
      const answer = (after: ShownRow) => withMinted(shown(after), secretChange, text);
      if (changed.length === 0) return { write: null, answer };
      return {
        write: { settings, secrets, verb: "updated", details: { ...shownSettings(settings), changed } },
        answer,
      };
    });
  }

  /**
   * A row's secrets after a change; null: they stay.
   * @throws Problem 422 `validation_failed` when the secret, new or kept, is none of the source's preset
   */
  function changedSecrets(row: ShownRow, secretChange: SecretChange, text: string | null, { preset }: SourceSettings) {
    if (text !== null) checkUsable(preset, text, "secret");
    if (secretChange === "keep") {
      const kept = preset === row.preset ? null : decryptedSecret(encryption, row);
      if (kept !== null) checkUsable(preset, kept, "signature");
      return null;
    }
    return text === null && row.secret === null ? null : replacedSecrets(encryption, row, text);
  }

  async function checkWorkflow(tenant: string, settings: SourceSettings, before: SourceSettings | null): Promise<void> {
    const { workflow, workflowVersion } = settings;
    const isAsBefore = before?.workflow === workflow && before?.workflowVersion === workflowVersion;
    if (workflow !== null && !isAsBefore) await checkVisible(definitions, tenant, workflow, workflowVersion);
  }

  return {
    /** By source. @param source in any case; null: all of them */
    async list(tenant: string, source: string | null, page: Page): Promise<List<"routes", SourceRecord>> {
      const rows = await records.list(tenant, source?.toLowerCase() ?? null, page);
      return listOf("routes", rows.map(shown), page, ({ source: last }) => [last]);
    },

    /** @throws Problem 404 `route_not_found` */
    detail: async (tenant: string, id: string): Promise<SourceRecord> => shown(await find(tenant, id)),

    /**
     * @returns the record, with the secret if it was minted
     * @throws Problem 422 `validation_failed`, `reserved_source`, `unknown_workflow`; 409 `route_exists` {id}
     */
    async create(changer: Changer, body: NewSource): Promise<ChangedSource> {
      const { tenant, identity } = changer;
      const settings = newSettings(body);
      const secretChange = secretChangeOf(body);
      const text = newSecretText(secretChange, settings);
      if (text !== null) checkUsable(settings.preset, text, "secret");
      await checkWorkflow(tenant, settings, null);
      const id = newId();
      const secrets: StoredSecrets =
        text === null ? noSecrets : replacedSecrets(encryption, { tenant, id, secret_version: 0 }, text);
      const createdBy = { kind: identity.kind, sub: identity.userId };
      await sql.begin(async (tx) => {
        const count = await records.hold(tx, tenant);
        const existing = await records.idOf(tx, tenant, settings.source);
        if (existing !== null) throw sourceExists(existing, settings.source);
        if (count >= maxSources) throw tooManySources();
        await records.insert(tx, { id, tenant, settings, secrets, createdBy, at: new Date(now()) });
        await append(tx, changer, "created", id, { ...shownSettings(settings), has_secret: text !== null });
      });
      options.changed({ tenant, source: settings.source, id });
      return withMinted(shown(await find(tenant, id)), secretChange, text);
    },

    /** Changes what the body names. @throws as `create`, and 404 `route_not_found`, 422 `immutable_field` */
    patch: (changer: Changer, id: string, body: SourceChange) => update(changer, id, body, changedSettings),

    /** Sets everything but the secret, which stays unless the body says otherwise. @throws as `patch` */
    replace: (changer: Changer, id: string, body: SourceChange) => update(changer, id, body, replacedSettings),

    /** @throws Problem 404 `route_not_found` */
    async remove(changer: Changer, id: string) {
      const source = await sql.begin(async (tx) => {
        const removed = await records.remove(tx, changer.tenant, id);
        if (removed === null) throw sourceNotFound();
        await append(tx, changer, "deleted", id, { source: removed });
        return removed;
      });
      options.changed({ tenant: changer.tenant, source, id });
      return { status: "deleted", success: true, id } as const;
    },

    /**
     * Puts a new secret in force; the one before, the environment's too, stays valid for a while.
     * @throws Problem 404 `route_not_found`, 422 `validation_failed`
     */
    rotate(changer: Changer, id: string, body: Rotation): Promise<Rotated> {
      const given = body.secret === undefined ? null : checkedSecret(body.secret);
      const seconds = body.previous_valid_seconds ?? defaultPreviousSeconds;
      return changing(changer, id, async (row) => {
        const { tenant, source, preset } = row;
        const secret = given ?? mintedSecret(preset);
        checkUsable(preset, secret, "secret");
        const before = row.secret === null ? environmentSecretOf(environment, tenant, source, preset) : null;
        const expiresAt = seconds === 0 ? null : new Date(now() + seconds * 1000);
        const secrets = rotatedSecrets(encryption, row, secret, before?.current ?? null, expiresAt);
        const expires = secrets.previous_expires_at?.toISOString() ?? null;
        const minted = given === null ? { secret } : {};
        return {
          write: {
            settings: settingsOf(row),
            secrets,
            verb: "secret_rotated",
            details: { source, minted: given === null, previous_secret_expires_at: expires },
          },
          answer: () => ({ id, ...minted, previous_secret_expires_at: expires }),
        };
      });
    },
  };
}

/** What a change writes, if anything, and how it is answered with the row as it is then. */
interface Planned<T> {
  readonly write: {
    readonly settings: SourceSettings;
    readonly secrets: StoredSecrets | null;
    readonly verb: string;
    readonly details: Record<string, Json>;
  } | null;
  readonly answer: (row: ShownRow) => T;
}

/** The secret that a change sets; null when it sets none. */
function newSecretText(secretChange: SecretChange, { preset }: SourceSettings): string | null {
  if (secretChange === "mint") return mintedSecret(preset);
  return typeof secretChange === "string" ? null : secretChange.text;
}

const withMinted = (record: SourceRecord, secretChange: SecretChange, text: string | null): ChangedSource =>
  secretChange === "mint" && text !== null ? { ...record, secret: text } : record;

function sourceNotFound(): Problem {
  return new Problem("route_not_found", "Source route not found");
}

function sourceExists(id: string, source: string): Problem {
  return new Problem("route_exists", `There is a route for the source ${source} already`, { id });
}

function tooManySources(): Problem {
  return invalidField("source", `a tenant may have at most ${maxSources} source routes`, "too_many_routes");
}
