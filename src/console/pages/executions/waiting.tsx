/** What an execution waits for and why, or how it ended: the first thing to know of it. */
import { CircleAlert, Clock, Hourglass, LoaderCircle, WifiOff } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { Schemas } from "../../../programs/client/client.ts";
import { useCan } from "../../app/session/session.ts";
import type { Connection } from "../../app/streams/streams.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { classes } from "../../kit/controls/classes.ts";
import { inert } from "../../kit/values/text.tsx";
import { Ago, durationText, useNow } from "../../kit/values/time.tsx";
import type { Span } from "./span.ts";

type Look = "violet" | "info" | "bad" | "warn";

const looks: Readonly<Record<Look, string>> = {
  violet: "border-violet/40 bg-violet-soft",
  info: "border-info/30 bg-info-soft",
  bad: "border-bad/40 bg-bad-soft",
  warn: "border-warn/40 bg-warn-soft",
};

function Banner({
  look,
  icon,
  children,
  action,
}: {
  readonly look: Look;
  readonly icon: ReactNode;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div role="status" className={classes("flex items-start gap-x-3 rounded-panel border px-4 py-2.5", looks[look])}>
      <span className="mt-0.5 shrink-0 [&_svg]:size-4">{icon}</span>
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-48 break-words">{children}</div>
        {action}
      </div>
    </div>
  );
}

/** @param now what it does at this moment, as its events tell */
export function Standing({ record, now }: { readonly record: Schemas["ExecutionRecord"]; readonly now: Span | null }) {
  const can = useCan();
  const present = useNow();
  const { waiting_for: waiting, status } = record;
  if (waiting !== null)
    return (
      <Banner
        look="violet"
        icon={<Clock aria-hidden className="text-violet" />}
        action={
          can("approval:read") && (
            <ButtonLink look="primary" small to="/approvals/$id" params={{ id: waiting.approval_id } as never}>
              See what is asked
            </ButtonLink>
          )
        }
      >
        <strong>Waits for a person</strong> to approve the call of <code>{inert(waiting.tool)}</code>. Without an answer
        it ends <Ago at={waiting.expires_at} />; the execution's own deadline stands still meanwhile.
      </Banner>
    );
  if (status === "pending")
    return (
      <Banner look="warn" icon={<Hourglass aria-hidden className="text-warn" />}>
        <strong>Waits for a free slot</strong> on a node since <Ago at={record.created_at} />. After 10 minutes without
        one it fails with <code>start_timeout</code>.
      </Banner>
    );
  if (record.error !== null)
    return (
      <Banner look="bad" icon={<CircleAlert aria-hidden className="text-bad" />}>
        <div
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
          tabIndex={0}
          className="flex max-h-60 flex-col gap-0.5 overflow-auto"
        >
          <span className="flex flex-wrap items-baseline gap-x-2">
            <strong className="text-bad">{endText[status] ?? "It failed"}</strong>
            {record.error_code !== null && <code className="text-bad">{record.error_code}</code>}
          </span>
          <span className="whitespace-pre-wrap">{inert(record.error)}</span>
        </div>
      </Banner>
    );
  if (status === "running")
    return (
      <Banner
        look="info"
        icon={<LoaderCircle aria-hidden className="animate-spin text-info [animation-duration:2s]" />}
      >
        <strong>{doing(record, now)}</strong>
        {now !== null && <span className="text-ink-soft"> since {durationText(present - now.start)}</span>}
        {record.deadline_at !== null && (
          <span className="text-ink-soft">
            {" "}
            · ends at the latest <Ago at={record.deadline_at} />
          </span>
        )}
      </Banner>
    );
  return null;
}

const endText: Readonly<Record<string, string>> = {
  cancelled: "It was cancelled",
  timed_out: "Its time was over before it was done",
};

function doing({ current_iteration, max_iterations }: Schemas["ExecutionRecord"], now: Span | null): string {
  const iteration = max_iterations > 1 ? `Iteration ${current_iteration} of ${max_iterations}: ` : "";
  if (now === null || now.kind === "iteration") return `${iteration}${iteration === "" ? "T" : "t"}he model is at work`;
  if (now.kind === "tool") return `${iteration}runs ${inert(now.name)}`;
  if (now.kind === "child") return `${iteration}waits for a child execution`;
  return `${iteration}${inert(now.name)}`;
}

/** Says that events do not arrive, once that is no blink. */
export function CutOff({ connection }: { readonly connection: Connection }) {
  const [isLong, setLong] = useState(false);
  const isLost = connection === "lost";
  useEffect(() => {
    if (!isLost) return setLong(false);
    const waiting = setTimeout(() => setLong(true), 1_000);
    return () => clearTimeout(waiting);
  }, [isLost]);
  if (!isLong) return null;
  return (
    <Banner look="warn" icon={<WifiOff aria-hidden className="text-warn" />}>
      <strong>Cut off from the execution's events.</strong> The execution itself goes on; what you see may be old.
      Trying again …
    </Banner>
  );
}
