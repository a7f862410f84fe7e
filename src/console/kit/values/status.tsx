/** How things stand: a word with a colour and a sign, the same for every kind of record. */
import {
  Ban,
  CheckCircle2,
  Circle,
  CircleAlert,
  CircleDashed,
  CirclePause,
  Clock,
  LoaderCircle,
  type LucideIcon,
  TimerOff,
} from "lucide-react";
import { classes } from "../controls/classes.ts";

export type Tone = "neutral" | "good" | "warn" | "bad" | "info" | "violet";

const tones: Readonly<Record<Tone, string>> = {
  neutral: "bg-hover text-ink-soft",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  violet: "bg-violet-soft text-violet",
};

export const toneText: Readonly<Record<Tone, string>> = {
  neutral: "text-ink-soft",
  good: "text-good",
  warn: "text-warn",
  bad: "text-bad",
  info: "text-info",
  violet: "text-violet",
};

/** Statuses of all kinds of records. */
const known: Readonly<Record<string, readonly [Tone, LucideIcon]>> = {
  pending: ["neutral", CircleDashed],
  queued: ["neutral", CircleDashed],
  received: ["neutral", CircleDashed],
  running: ["info", LoaderCircle],
  active: ["good", CheckCircle2],
  processing: ["info", LoaderCircle],
  compensating: ["violet", LoaderCircle],
  waiting: ["violet", Clock],
  waiting_approval: ["violet", Clock],
  paused: ["warn", CirclePause],
  completed: ["good", CheckCircle2],
  succeeded: ["good", CheckCircle2],
  approved: ["good", CheckCircle2],
  classified: ["good", CheckCircle2],
  ready: ["good", CheckCircle2],
  available: ["good", CheckCircle2],
  connected: ["good", CheckCircle2],
  online: ["good", CheckCircle2],
  failed: ["bad", CircleAlert],
  rejected: ["bad", CircleAlert],
  dead: ["bad", CircleAlert],
  error: ["bad", CircleAlert],
  timed_out: ["bad", TimerOff],
  expired: ["warn", TimerOff],
  cancelled: ["neutral", Ban],
  discarded: ["neutral", Ban],
  revoked: ["neutral", Ban],
  archived: ["neutral", Ban],
  // Hosts, and the commands and runs of a fleet.
  unhealthy: ["warn", CircleAlert],
  disconnected: ["neutral", CircleDashed],
  outstanding: ["info", Clock],
  redeemed: ["good", CheckCircle2],
  awaiting_approval: ["violet", Clock],
  dispatched: ["info", LoaderCircle],
  halting: ["warn", LoaderCircle],
  cancelling: ["warn", LoaderCircle],
  complete: ["good", CheckCircle2],
  halted: ["bad", CircleAlert],
  ok: ["good", CheckCircle2],
  err: ["bad", CircleAlert],
  refused: ["bad", CircleAlert],
  lost: ["bad", CircleAlert],
  not_started: ["neutral", CircleDashed],
  // Stimuli.
  classification_failed: ["bad", CircleAlert],
  start_failed: ["bad", CircleAlert],
  // Tool servers and calls.
  stopped: ["neutral", CircleDashed],
  starting: ["info", LoaderCircle],
  success: ["good", CheckCircle2],
  interrupted: ["warn", CircleAlert],
  withdrawn: ["neutral", Ban],
};

/** `timed_out` → `timed out` */
export const wordsOf = (status: string): string => status.replaceAll("_", " ");

export const toneOf = (status: string): Tone => known[status]?.[0] ?? "neutral";

/** @param label what is read instead of the status itself */
export function Status({
  status,
  label,
  bare = false,
}: {
  readonly status: string;
  readonly label?: string;
  readonly bare?: boolean;
}) {
  const [tone, Sign] = known[status] ?? (["neutral", Circle] as const);
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1 whitespace-nowrap font-medium text-xs",
        bare ? toneText[tone] : classes("rounded-full px-2 py-0.5", tones[tone]),
      )}
    >
      <Sign
        aria-hidden
        className={classes("size-3.5 shrink-0", Sign === LoaderCircle && "animate-spin [animation-duration:2s]")}
      />
      {label ?? wordsOf(status)}
    </span>
  );
}

/** A short word of its own kind: a version, a tag, a count. */
export function Badge({
  tone = "neutral",
  children,
  title,
}: {
  readonly tone?: Tone;
  readonly children: React.ReactNode;
  readonly title?: string;
}) {
  return (
    <span
      title={title}
      className={classes(
        "inline-flex max-w-full items-center gap-1 truncate rounded px-1.5 py-px font-medium text-2xs",
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
