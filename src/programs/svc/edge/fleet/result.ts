/** What the end of a run means for the exit code. */
import type { Exit } from "../../process/exits.ts";

export interface Summary {
  readonly ok: number;
  readonly failed: number;
  readonly [status: string]: number;
}

export interface RunEnd {
  readonly status: string;
  readonly reason: string | null;
  readonly summary: Summary;
}

const halts: Readonly<Record<string, Exit>> = {
  run_deadline: "deadline",
  min_targets_unmet: "minimum",
  no_targets: "unavailable",
};

/** Of a run that has ended. */
export function exitOfRun({ status, reason, summary }: RunEnd): Exit {
  if (status === "cancelled") return "cancelled";
  if (status === "halted") return halts[reason ?? ""] ?? "halted";
  return summary.failed > 0 ? "failed" : "ok";
}

/** The numbers that are not zero, in the order of the service. */
export const summaryLine = (summary: Summary): string =>
  Object.entries(summary)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name.replaceAll("_", " ")}`)
    .join(", ") || "no hosts";
