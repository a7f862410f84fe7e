/** What work that waits for people tells who waits for the work: that people are asked, and what they said. */
import { type Static, Type } from "@sinclair/typebox";
import type { Json } from "../kernel/json.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { type ApprovalDecided, ApprovalStatus, Via } from "./messages.ts";

/** People are asked. */
export const Asked = Type.Object({ approval_id: Text, prompt: Text, expires_at: Milliseconds });
export type Asked = Static<typeof Asked>;

/** They have decided, or their time was up. */
export const Decided = Type.Object({
  approval_id: Text,
  status: ApprovalStatus,
  decision: Nullable(Text),
  via: Via,
  /** ISO 8601. */
  decided_at: Text,
});
export type Decided = Static<typeof Decided>;

/** What happened about people; both null: the work goes on without them. */
export const aboutPeople = { asked: Nullable(Asked), decided: Nullable(Decided) };

export function decidedOf({ approval_id, status, via, decided_at, result }: ApprovalDecided): Decided {
  const { decision = null } = result as { readonly [member: string]: Json };
  return { approval_id, status, decision: typeof decision === "string" ? decision : null, via, decided_at };
}
