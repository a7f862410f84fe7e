/** What the parts of this folder that show and change sources share. */

import type { Identity } from "../../../../actors/identity/identity.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Audit, AuditedBy } from "../../audit/port.ts";
import type { Encryption } from "../../encryption/port.ts";
import type { References } from "../../references/port.ts";
import type { Definitions } from "../../workflows/definitions/port.ts";
import { type ShownRow, type SourceRecords, sourceRecords } from "./records.ts";
import type { ChangedSource, SourceRecord } from "./schema.ts";
import type { GivenSecret, SecretChange, SourceSettings } from "./settings.ts";
import type { SecretsOfEnvironment } from "./verification/environment.ts";
import { environmentSecretOf } from "./verification/keys.ts";
import { mintedSecret, referenceIn, textOfReference } from "./verification/secrets.ts";
import { sourceRecord } from "./wire.ts";
import { checkVisible } from "./workflow-references.ts";

export interface SourceServiceOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly audit: Audit;
  readonly definitions: Definitions;
  readonly environment: SecretsOfEnvironment;
  readonly references: Pick<References, "requireAllowed">;
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
  readonly identity: Pick<Identity, "kind" | "userId" | "realm" | "scopes" | "role" | "membership" | "keyId">;
  readonly by: AuditedBy;
}

export type SourceParts = ReturnType<typeof sourceParts>;

/** What reading, making and changing sources have in common. */
export function sourceParts(options: SourceServiceOptions) {
  const { audit, definitions, environment, now } = options;
  const records: SourceRecords = sourceRecords(options.sql);

  const shown = (row: ShownRow): SourceRecord =>
    sourceRecord(row, {
      publicUrl: options.publicUrl,
      environmentOrigin: (_, { tenant, source, preset }) =>
        environmentSecretOf(environment, tenant, source, preset)?.by ?? null,
      now: now(),
    });

  return {
    ...options,
    records,
    shown,

    /** @throws Problem 404 `route_not_found` */
    async find(tenant: string, id: string): Promise<ShownRow> {
      const row = await records.find(tenant, id);
      if (row === null) throw sourceNotFound();
      return row;
    },

    /** In the transaction of the change, its entry in the audit log. */
    append(tx: Transaction, { tenant, by }: Changer, verb: string, id: string, details: Record<string, Json>) {
      return audit.append(tx, by, {
        tenant,
        action: `stimulus_route.${verb}`,
        target: { type: "stimulus_route", id },
        details,
      });
    },

    /**
     * Whether the caller may have the secret that a source refers to afterwards, an unchanged one too.
     * @param text as it is stored; null: there is none
     * @returns what the audit log tells of it
     * @throws Problem 422 `secret_forbidden` with `issues`
     */
    async checkReference({ tenant, identity }: Changer, text: string | null): Promise<Record<string, Json>> {
      const reference = text === null ? null : referenceIn(text);
      if (reference === null) return {};
      await options.references.requireAllowed(identity, tenant, [{ path: "secret", reference }]);
      return { secret_reference: reference.text };
    },

    /** @throws Problem 422 `unknown_workflow` where the workflow is another than before */
    async checkWorkflow(tenant: string, settings: SourceSettings, before: SourceSettings | null): Promise<void> {
      const { workflow, workflowVersion } = settings;
      const isAsBefore = before?.workflow === workflow && before?.workflowVersion === workflowVersion;
      if (workflow !== null && !isAsBefore) await checkVisible(definitions, tenant, workflow, workflowVersion);
    },
  };
}

/** The secret that a change sets, as it is stored; null when it sets none. */
export function newSecretText(secretChange: SecretChange, { preset }: SourceSettings): string | null {
  if (secretChange === "mint") return mintedSecret(preset);
  return typeof secretChange === "string" ? null : textOf(secretChange);
}

/** A secret that was given, as it is stored. */
export const textOf = (given: GivenSecret): string => ("text" in given ? given.text : textOfReference(given.reference));

/** A record as its change is answered: with the secret if it was minted. */
export const withMinted = (record: SourceRecord, secretChange: SecretChange, text: string | null): ChangedSource =>
  secretChange === "mint" && text !== null ? { ...record, secret: text } : record;

export function sourceNotFound(): Problem {
  return new Problem("route_not_found", "Source route not found");
}
