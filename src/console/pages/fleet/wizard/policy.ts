/** How a run goes over its hosts, as the form writes it and as the service reads it. */
import { partsOf } from "../words.ts";

export interface PolicyDraft {
  readonly mode: "parallel" | "rolling" | "sequential";
  /** A number, or `25%`. */
  readonly batch: string;
  readonly canary: string;
  readonly soak: string;
  readonly pauseAfterCanary: boolean;
  readonly failure: "first" | "never" | "count" | "percent";
  readonly failures: string;
  readonly deadline: string;
  readonly runDeadline: string;
  readonly concurrency: string;
  readonly retries: string;
  readonly offline: string;
  readonly minimum: string;
  readonly approval: boolean;
  readonly context: string;
}

export const firstPolicy: PolicyDraft = {
  mode: "parallel",
  batch: "25%",
  canary: "",
  soak: "",
  pauseAfterCanary: false,
  failure: "first",
  failures: "10",
  deadline: "60",
  runDeadline: "",
  concurrency: "",
  retries: "0",
  offline: "0",
  minimum: "",
  approval: false,
  context: "",
};

const numberOrPercent = (text: string): number | string => (text.trim().endsWith("%") ? text.trim() : Number(text));

export function policyOf(draft: PolicyDraft): Record<string, unknown> {
  const given = (name: string, text: string) => (text.trim() === "" ? {} : { [name]: Number(text) });
  return {
    mode:
      draft.mode === "rolling"
        ? { Rolling: { batch: numberOrPercent(draft.batch) } }
        : draft.mode === "parallel"
          ? "Parallel"
          : "Sequential",
    failure_policy: failureOf(draft),
    ...(draft.canary.trim() === ""
      ? {}
      : {
          canary: numberOrPercent(draft.canary),
          pause_after_canary: draft.pauseAfterCanary,
          ...given("canary_soak_secs", draft.soak),
        }),
    ...given("per_target_deadline_secs", draft.deadline),
    ...given("run_deadline_secs", draft.runDeadline),
    ...given("max_concurrency", draft.concurrency),
    ...given("retries", draft.retries),
    ...given("offline_ttl_secs", draft.offline),
    ...given("require_min_targets", draft.minimum),
    ...(draft.approval ? { approval: true } : {}),
  };
}

function failureOf({ failure, failures }: PolicyDraft): unknown {
  if (failure === "first") return "FailFast";
  if (failure === "never") return "ContinueOnError";
  return failure === "count"
    ? { StopAfter: Number(failures) }
    : { StopAfterPercent: Number(failures.replace("%", "")) };
}

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The same run on a command line. */
export function commandLine(
  target: string,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  draft: PolicyDraft,
): string {
  const flags: string[] = [];
  flags.push("--mode", draft.mode === "rolling" ? `rolling=${draft.batch}` : draft.mode);
  const stop = draft.failures.replace("%", "");
  flags.push(
    "--on-error",
    { first: "fail-fast", never: "continue", count: `stop-after=${stop}`, percent: `stop-after=${stop}%` }[
      draft.failure
    ],
  );
  for (const [name, text, none] of [
    ["canary", draft.canary, ""],
    ["deadline", draft.deadline, "60"],
    ["retries", draft.retries, "0"],
    ["offline-ttl", draft.offline, "0"],
    ["require-min", draft.minimum, ""],
    ["max-concurrency", draft.concurrency, ""],
    ["security-context", draft.context, ""],
  ] as const)
    if (text.trim() !== "" && text.trim() !== none) flags.push(`--${name}`, quoted(text.trim()));
  if (draft.approval) flags.push("--approval");
  const { command, ...others } = args;
  const isPlain = tool === "cmd.run" && typeof command === "string" && Object.keys(others).length === 0;
  const what = isPlain
    ? ["--", /[^\w@%+=:,./ -]/.test(command) ? `sh -c ${quoted(command)}` : partsOf(command).join(" ")]
    : [tool, "--args", quoted(JSON.stringify(args))];
  return ["svc edge fleet run", quoted(target), ...(isPlain ? [] : what), ...flags, ...(isPlain ? what : [])].join(" ");
}
