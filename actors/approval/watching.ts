/** Those who wait with the owner of an approval: they hear of its decision, and of its withdrawal. */
import { tell } from "../kernel/effect.ts";
import { iso } from "../kernel/time.ts";
import type { Context } from "../kernel/turn.ts";
import { type ApprovalDecided, type Open, ownerMessages } from "./messages.ts";
import type { ApprovalState } from "./state.ts";

type Watcher = Open["owner"];

/** Further ones wait in place of the oldest. */
const maxWatchers = 4;

/** With one more; one that waits already is told once. */
export function withWatcher(watchers: readonly Watcher[], { kind, key }: Watcher): Watcher[] {
  const others = watchers.filter((one) => one.kind !== kind || one.key !== key);
  return [...others, { kind, key }].slice(-maxWatchers);
}

/**
 * What tells them how it ended.
 * @param state null: it was erased, and decides nothing any more
 */
export function toldWatchers(
  { key: approval_id, now }: Pick<Context, "key" | "now">,
  state: Pick<ApprovalState, "status" | "decision"> | null,
  watchers: readonly Watcher[],
) {
  const { status, decision } = state ?? { status: "withdrawn" as const, decision: null };
  const body: ApprovalDecided = {
    approval_id,
    status,
    via: decision?.via ?? "cancel",
    decided_at: iso(decision?.at ?? now),
    result: {},
    reason: status === "rejected" ? (decision?.feedback ?? null) : null,
  };
  return watchers.map(({ kind, key }) => tell({ kind, messages: ownerMessages }, key, "approval_decided", body));
}
