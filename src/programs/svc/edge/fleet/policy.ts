/** The policy of a run, from flags. */
import { folded } from "../../../../../actors/edge/words.ts";
import { usageFailure } from "../command/exit.ts";
import type { FlagTable, FlagValues } from "../command/flags.ts";
import { portion, seconds, whole } from "../command/values.ts";

export const policyFlags = {
  mode: { kind: "text", value: "MODE", meaning: "sequential, parallel (the default), rolling=N or rolling=N%" },
  "on-error": { kind: "text", value: "RULE", meaning: "fail-fast, continue, stop-after=N or stop-after=N%" },
  "require-min": { kind: "text", value: "N", meaning: "starts only with so many hosts" },
  deadline: { kind: "text", value: "TIME", meaning: "of each command (default 60)" },
  "run-deadline": { kind: "text", value: "TIME", meaning: "of the whole run, pauses included" },
  canary: { kind: "text", value: "N", meaning: "so many hosts, or N%, come first and must succeed" },
  "canary-soak": { kind: "text", value: "TIME", meaning: "waits after the canary" },
  "pause-after-canary": { kind: "switch", meaning: "goes on after the canary only by fleet resume" },
  retries: { kind: "text", value: "N", meaning: "rounds over hosts that failed, to 3" },
  "retry-on": { kind: "list", value: "STATUS", meaning: "what is repeated (default err and timed_out)" },
  "retry-delay": { kind: "text", value: "TIME", meaning: "waits before each round" },
  "offline-ttl": { kind: "text", value: "TIME", meaning: "waits so long for hosts that are away" },
  "disconnect-grace": { kind: "text", value: "TIME", meaning: "how long a host may be gone (default 120)" },
  approval: { kind: "switch", meaning: "another person must approve" },
  "approval-timeout": { kind: "text", value: "TIME", meaning: "how long that may take (default 1h)" },
  "max-concurrency": { kind: "text", value: "N", meaning: "commands at once, to 1000" },
  "max-output": { kind: "text", value: "BYTES", meaning: "of each command (default 1048576)" },
} as const satisfies FlagTable;

type PolicyFlags = FlagValues<typeof policyFlags>;

/** Tools that change a host: one failure stops a run that was not told otherwise. */
const changing = ["cmd.run", "fs.write", "fs.create_dir", "fs.delete", "fs.edit", "fs.multi_edit"];

/**
 * As it is sent: parallel, and fail-fast for tools that change a host.
 * @param tool null leaves what is not asked for to the run that is repeated
 * @throws Failure `usage`
 */
export function policyOf(flags: PolicyFlags, tool: string | null): Readonly<Record<string, unknown>> {
  const mode = modeOf(flags.mode) ?? (tool === null ? null : "Parallel");
  const byTool = tool === null ? null : changing.includes(tool) ? "FailFast" : "ContinueOnError";
  const written = {
    mode,
    failure_policy: onError(flags["on-error"]) ?? byTool,
    require_min_targets: whole("require-min", flags["require-min"], 1, 10_000),
    per_target_deadline_secs: seconds("deadline", flags.deadline, 1, 86_400),
    run_deadline_secs: seconds("run-deadline", flags["run-deadline"], 1, 604_800),
    canary: portion("canary", flags.canary),
    canary_soak_secs: seconds("canary-soak", flags["canary-soak"], 0, 3600),
    pause_after_canary: flags["pause-after-canary"] || null,
    retries: whole("retries", flags.retries, 0, 3),
    retry_on: flags["retry-on"].length === 0 ? null : flags["retry-on"].flatMap((words) => words.split(",")),
    retry_delay_secs: seconds("retry-delay", flags["retry-delay"], 0, 3600),
    offline_ttl_secs: seconds("offline-ttl", flags["offline-ttl"], 0, 604_800),
    disconnect_grace_secs: seconds("disconnect-grace", flags["disconnect-grace"], 0, 3600),
    approval: flags.approval || null,
    approval_timeout_secs: seconds("approval-timeout", flags["approval-timeout"], 60, 604_800),
    max_concurrency: whole("max-concurrency", flags["max-concurrency"], 1, 1000),
    max_output_bytes: whole("max-output", flags["max-output"], 1024, 16_777_216),
  };
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null));
}

function modeOf(text: string | null): unknown {
  if (text === null) return null;
  const [word = "", batch, ...more] = text.split("=");
  const name = folded(word);
  if (batch === undefined && name === "sequential") return "Sequential";
  if (batch === undefined && name === "parallel") return "Parallel";
  if (batch !== undefined && more.length === 0 && name === "rolling")
    return { Rolling: { batch: portion("mode", batch) } };
  throw usageFailure(`--mode is sequential, parallel, rolling=N or rolling=N%, not ${text}`);
}

function onError(text: string | null): unknown {
  if (text === null) return null;
  const [word = "", limit, ...more] = text.split("=");
  const name = folded(word);
  if (limit === undefined && name === "failfast") return "FailFast";
  if (limit === undefined && (name === "continue" || name === "continueonerror")) return "ContinueOnError";
  if (limit !== undefined && more.length === 0 && name === "stopafter") {
    const after = portion("on-error", limit);
    return typeof after === "string" ? { StopAfterPercent: Number.parseInt(after, 10) } : { StopAfter: after };
  }
  throw usageFailure(`--on-error is fail-fast, continue, stop-after=N or stop-after=N%, not ${text}`);
}
