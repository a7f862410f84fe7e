/** What `secret:` references mean, for those who deploy and run definitions. */
import type { Reference, SecretReference } from "../../../actors/manifest/references.ts";
import { Secret } from "../../lib/secret.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Audit, AuditedBy } from "../audit/port.ts";
import type { ReferenceFault, ReferenceSource, ReferenceUse, ResolvedReference } from "../references/port.ts";
import { partsOf, pick } from "./content.ts";
import type { SecretValues } from "./port.ts";
import type { SecretStore, StoredSecret } from "./store.ts";

/** Linux refuses to start a program with a longer variable. */
const maxValueBytes = 64 * 1024;

const forbidden = (message: string): ReferenceFault => ({ code: "secret_forbidden", message });
const notFound: ReferenceFault = { code: "secret_not_found", message: "there is no such secret" };

export function secretSource(sql: Sql, store: SecretStore, audit: Pick<Audit, "once">): ReferenceSource {
  return {
    kind: "secret",

    async refused({ scopes }, _tenant, references) {
      if (scopes.has("secret:read")) return new Map();
      const fault = forbidden("the caller lacks the scope secret:read");
      return new Map(references.map(({ text }) => [text, fault]));
    },

    async resolve({ tenant, definition }, references) {
      const own = references.filter(isSecret);
      if (definition.tenant !== tenant) {
        const fault = forbidden("a definition of all tenants uses secrets in svc-system only");
        return new Map(own.map(({ text }) => [text, fault]));
      }
      const paths = [...new Set(own.map(({ path }) => path))];
      const stored = new Map(
        await Promise.all(paths.map(async (path) => [path, await store.read(tenant, path)] as const)),
      );
      return new Map(own.map((reference) => [reference.text, meaning(reference, stored.get(reference.path) ?? null)]));
    },

    async used(use, references) {
      await sql.begin(async (tx) => {
        for (const { text, path } of references.filter(isSecret)) {
          const change = {
            tenant: use.tenant,
            action: "secret.used",
            target: { type: "secret", id: path },
            details: { reference: text, execution_id: use.executionId, workflow: use.workflow },
          };
          await audit.once(tx, `${use.executionId} ${text}`, userOf(use), change);
        }
      });
    },
  };
}

/** What settings of a tenant refer to. */
export const secretValues = (store: SecretStore): SecretValues => ({
  meaning: async (tenant, reference) => meaning(reference, await store.read(tenant, reference.path)),
});

const isSecret = (reference: Reference): reference is SecretReference => reference.kind === "secret";

function meaning({ field }: SecretReference, stored: StoredSecret | null): ResolvedReference | ReferenceFault {
  if (stored === null) return notFound;
  const value = pick(stored.content, field);
  if (value === null) return { ...notFound, message: "the secret has no such field" };
  if (value.includes("\0") || Buffer.byteLength(value) > maxValueBytes) {
    return forbidden(`a value with a NUL, or of more than ${maxValueBytes} bytes, cannot be handed over`);
  }
  const hidden = partsOf(stored.content, field, value).map((part) => new Secret(part));
  return { value: new Secret(value), hidden, changedAt: stored.updatedAt.getTime() };
}

/** The definition acts, with the permission of who began it. */
function userOf({ definition, initiator }: ReferenceUse): AuditedBy {
  const { realm = null, userId = null } = initiator ?? {};
  const actor = { kind: definition.kind, realm, user_id: userId, role: null, key_id: null, name: definition.id };
  return { actor, ip: null, user_agent: null, request_id: null };
}
