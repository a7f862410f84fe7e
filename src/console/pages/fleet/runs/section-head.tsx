/** How a wave of a run stands, and what stands between it and the next one. */
import { ShieldCheck } from "lucide-react";
import { Badge, type Tone } from "../../../kit/values/status.tsx";
import { counted } from "../words.ts";
import { type Cell, failedStatuses, isEnded } from "./cells.ts";
import type { Run } from "./target.ts";
import type { Section } from "./waves.ts";

/** What of a run says how its waves follow each other. */
export interface WavesRun {
  readonly status: string;
  readonly pauseReasons: readonly string[];
  readonly policy: Pick<Run["policy"], "canary_soak_secs" | "pause_after_canary">;
}

const failed: ReadonlySet<string> = new Set(failedStatuses);

export function SectionHead({
  section,
  cells,
  run,
}: {
  readonly section: Section;
  readonly cells: readonly Cell[];
  readonly run: WavesRun;
}) {
  const done = cells.filter(({ status }) => isEnded(status)).length;
  const bad = cells.filter(({ status }) => failed.has(status)).length;
  const [words, tone] = standing(cells, done, bad);
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      <h3 className="m-0 font-medium text-[0.8125rem]">{section.title}</h3>
      <Badge tone={tone}>{words}</Badge>
      <span className="text-ink-soft text-xs tabular-nums">
        {done} of {counted(cells.length, "host")} done
        {bad > 0 && `, ${bad} failed`}
      </span>
      {section.isCanary && <Gate run={run} isDone={done === cells.length} isGood={bad === 0} />}
    </div>
  );
}

function standing(cells: readonly Cell[], done: number, bad: number): readonly [words: string, tone: Tone] {
  if (cells.every(({ status }) => status === "not_started")) return ["not started", "neutral"];
  if (done === cells.length) return bad > 0 ? ["failed", "bad"] : ["done", "good"];
  const isBegun = cells.some(({ status }) => status !== "pending" && status !== "queued");
  return isBegun ? ["runs", "info"] : ["waits", "neutral"];
}

/** What is between the canary and the others. */
function Gate({
  run: { status, pauseReasons, policy },
  isDone,
  isGood,
}: {
  readonly run: WavesRun;
  readonly isDone: boolean;
  readonly isGood: boolean;
}) {
  const { canary_soak_secs: soak, pause_after_canary: pauses } = policy;
  const isHeld = pauseReasons.includes("canary_done");
  const words = isHeld
    ? "the others wait until a person lets the run go on"
    : !isDone
      ? [
          "the others begin when all of these are good",
          ...(soak > 0 ? [`and ${soak} s have passed`] : []),
          ...(pauses ? ["and a person lets the run go on"] : []),
        ].join(" ")
      : isGood
        ? status === "running" && soak > 0
          ? `the others begin ${soak} s after these`
          : null
        : "a failure here stops the run";
  if (words === null) return null;
  return (
    <span className={`flex items-center gap-1 text-xs ${isHeld ? "font-medium text-warn" : "text-ink-faint"}`}>
      <ShieldCheck aria-hidden className="size-3.5 shrink-0" />
      {words}
    </span>
  );
}
