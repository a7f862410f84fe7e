/** What callers can do with secrets: written, read on record, listed without values, erased. */
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import { readContent, textOf } from "./content.ts";
import type { SecretBody, WriteBody } from "./schema.ts";
import type { Recorder, SecretEntry, SecretPage, SecretStore, StoredSecret, WriteCondition } from "./store.ts";

/** Who does it, as the audit log tells. */
export interface Caller extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

export type SecretService = ReturnType<typeof createSecretService>;

export function createSecretService(sql: Sql, store: SecretStore, audit: Audit) {
  function changeOf({ tenant }: Caller, verb: string, path: string, details: { readonly [key: string]: Json }) {
    return { tenant, action: `secret.${verb}`, target: { type: "secret", id: path }, details };
  }

  function recorder(caller: Caller, verb: "written" | "deleted", path: string): Recorder {
    const by = auditedBy(caller);
    return {
      within: (tx, details) => audit.append(tx, by, changeOf(caller, verb, path, details)),
      outside: (details, outcome) => audit.record(sql, by, changeOf(caller, verb, path, details), outcome),
    };
  }

  return {
    list: ({ tenant }: Caller, page: SecretPage): Promise<readonly SecretEntry[]> => store.list(tenant, page),

    /** On record before the value leaves. @throws Problem 404 `secret_not_found` */
    async read(caller: Caller, path: string): Promise<SecretBody> {
      const found = await store.read(caller.tenant, path);
      if (found === null) throw secretNotFound(path);
      await audit.record(sql, auditedBy(caller), changeOf(caller, "read", path, { version: found.version }));
      return bodyOf(found);
    },

    /** @throws Problem 402 `quota_exceeded`, 412 `version_conflict`, 422 */
    async write(caller: Caller, path: string, body: WriteBody, condition: WriteCondition, workId: string) {
      const content = readContent(body);
      const write = { content, condition, workId };
      const written = await store.write(caller.tenant, path, write, recorder(caller, "written", path));
      return {
        status: "written",
        path,
        version: written.version,
        created_at: written.createdAt.toISOString(),
        updated_at: written.updatedAt.toISOString(),
      } as const;
    },

    /** @throws Problem 404 `secret_not_found` */
    async remove(caller: Caller, path: string) {
      if (!(await store.remove(caller.tenant, path, recorder(caller, "deleted", path)))) throw secretNotFound(path);
      return { status: "deleted", path } as const;
    },
  };
}

function bodyOf({ path, content, version, createdAt, updatedAt }: StoredSecret): SecretBody {
  const data = content.form === "data" ? content.data : null;
  return {
    path,
    name: path,
    value: textOf(content),
    encoding: content.form === "base64" ? "base64" : "plaintext",
    data,
    fields: data === null ? [] : Object.keys(data),
    version,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function secretNotFound(path: string): Problem {
  return new Problem("secret_not_found", "Secret not found", { path }, {}, 404);
}
