/** How a server does: one that runs is well, and not busy as an execution that runs. */
import { Status } from "../../../kit/values/status.tsx";
import type { Server } from "../words.ts";

export function ServerStatus({ status, enabled }: Pick<Server, "status" | "enabled">) {
  if (!enabled) return <Status status="archived" label="disabled" />;
  return status === "running" ? <Status status="ready" label="running" /> : <Status status={status} />;
}
