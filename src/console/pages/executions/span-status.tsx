/** How a step ended: its status, or what its command said of itself. */
import { Badge, Status } from "../../kit/values/status.tsx";
import type { Span } from "./span.ts";

/** The exit code of a command that says it failed, though the call of it succeeded; null: it is none of these. */
export function exitOf({ status, facts }: Pick<Span, "status" | "facts">): string | null {
  const code = facts.find(([name]) => name === "Exit code")?.[1] ?? "0";
  return status === "succeeded" && code !== "0" ? code : null;
}

export function SpanStatus({ span, bare = false }: { readonly span: Span; readonly bare?: boolean }) {
  const code = exitOf(span);
  return code === null ? <Status status={span.status} bare={bare} /> : <Badge tone="warn">exit {code}</Badge>;
}
