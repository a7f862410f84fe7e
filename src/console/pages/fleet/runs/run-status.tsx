/** How a run stands: one that is complete may have failed on hosts. */
import { Status } from "../../../kit/values/status.tsx";

interface Standing {
  readonly status: string;
  readonly summary: { readonly failed: number };
}

export function RunStatus({
  run: { status, summary },
  bare = false,
}: {
  readonly run: Standing;
  readonly bare?: boolean;
}) {
  if (status === "complete" && summary.failed > 0)
    return <Status status="failed" label={`complete, ${summary.failed} failed`} bare={bare} />;
  return <Status status={status} bare={bare} />;
}
