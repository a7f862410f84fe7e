/** The audit log as actors write it: who had something done, put on record in the commit that does it. */
import { type Static, Type } from "@sinclair/typebox";
import { defineFact } from "./effect.ts";
import { JsonObject } from "./json.ts";
import { Nullable, Text } from "./schema.ts";

/** Who acts, from where: taken from the request that does it. */
export const AuditedBy = Type.Object({
  actor: Type.Object({
    /** An identity's kind; `agent` for a tool call, `link` for a decision link, `system` for the service itself. */
    kind: Text,
    /** Slug of the realm that vouches for the caller. */
    realm: Nullable(Text),
    user_id: Nullable(Text),
    /** Of the platform's own people and machines, or within the tenant. */
    role: Nullable(Text),
    /** Of the API key the caller came with. */
    key_id: Nullable(Text),
    /** As people know the caller: an e-mail address, or the name of an OAuth client. */
    name: Nullable(Text),
  }),
  /** The client's address. */
  ip: Nullable(Text),
  user_agent: Nullable(Text),
  request_id: Nullable(Text),
});
export type AuditedBy = Static<typeof AuditedBy>;

/** One change. `details` never hold secrets. */
export const auditEntry = defineFact(
  "audit",
  Type.Object({
    by: AuditedBy,
    /** Such as `execution.deleted`. */
    action: Text,
    target: Type.Object({ type: Text, id: Text }),
    details: JsonObject,
  }),
);
