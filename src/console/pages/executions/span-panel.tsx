/** One step of an execution: its input, output and error side by side. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink, IconButton } from "../../kit/controls/button.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Status } from "../../kit/values/status.tsx";
import { Copyable, inert, Lines } from "../../kit/values/text.tsx";
import { durationText, useNow } from "../../kit/values/time.tsx";
import type { Span } from "./span.ts";
import { SpanStatus } from "./span-status.tsx";
import { spanIcons } from "./waterfall.tsx";

export function SpanPanel({
  span,
  first,
  onClose,
}: {
  readonly span: Span;
  readonly first: number;
  readonly onClose: () => void;
}) {
  const present = useNow();
  const can = useCan();
  const box = useRef<HTMLElement>(null);
  // Chosen in a long list, it would come up below the edge of the window.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step that is chosen is brought into view
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, [span.id]);
  const Icon = spanIcons[span.kind];
  const facts: (readonly [string, ReactNode])[] = [
    ["Began", `${durationText(span.start - first)} after the first step`],
    ["Took", durationText((span.end ?? present) - span.start)],
    ...(span.tokens === null
      ? []
      : ([
          ["Tokens in", span.tokens.input.toLocaleString("en")],
          ["Tokens out", span.tokens.output.toLocaleString("en")],
        ] as const)),
    ...span.facts,
  ];
  const hidden = !can("execution:logs") && (span.kind === "model" || span.kind === "tool");
  return (
    <section ref={box} aria-label={`Step: ${inert(span.name)}`} className="scroll-my-4 border-line border-t">
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-1 px-4 pt-3">
        <Icon aria-hidden className="size-4 text-ink-soft" />
        <h3 className="m-0 min-w-0 break-words font-semibold">{inert(span.name)}</h3>
        <SpanStatus span={span} />
        {span.childId !== null && (
          <ButtonLink small to="/executions/$id" params={{ id: span.childId }}>
            Open the execution
            <ArrowRight aria-hidden />
          </ButtonLink>
        )}
        {span.approvalId !== null && can("approval:read") && (
          <ButtonLink small to="/approvals/$id" params={{ id: span.approvalId } as never}>
            Open the approval
            <ArrowRight aria-hidden />
          </ButtonLink>
        )}
        <IconButton label="Close the step" className="ml-auto" onClick={onClose}>
          <X aria-hidden />
        </IconButton>
      </header>
      <dl className="m-0 flex flex-wrap gap-x-6 gap-y-0.5 px-4 pb-2 text-xs">
        {facts.map(([name, value]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="m-0 break-all">{value}</dd>
          </div>
        ))}
      </dl>
      {span.childId !== null && <Child id={span.childId} />}
      {hidden ? (
        <p className="mx-4 mt-0 mb-4 text-ink-soft">
          What was said and done is shown to callers with the scope <code>execution:logs</code>.
        </p>
      ) : (
        <div className="grid grid-cols-1 gap-4 px-4 pb-4 lg:grid-cols-2">
          {span.input !== undefined && <Part title={span.kind === "model" ? "Prompt" : "Input"} value={span.input} />}
          {span.output !== undefined && (
            <Part title={span.kind === "model" ? "Response" : "Output"} value={span.output} />
          )}
          {span.error !== null && (
            <div className="min-w-0">
              <h4 className="m-0 mb-1 font-medium text-bad text-xs">Error</h4>
              <Lines text={span.error} className="[&_pre]:bg-bad-soft" />
            </div>
          )}
        </div>
      )}
    </section>
  );
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div className="min-w-0">
      <h4 className="m-0 mb-1 font-medium text-ink-soft text-xs">{title}</h4>
      {value === "" ? <span className="text-ink-faint">empty</span> : <Value value={value} />}
    </div>
  );
}

/** What a child execution was asked and answered, without leaving the page. */
function Child({ id }: { readonly id: string }) {
  const can = useCan();
  const child = useQuery({
    queryKey: ["execution", "one", id],
    queryFn: () => answer(svc.GET("/v1/executions/{id}", { params: { path: { id } } })),
    enabled: can("execution:read"),
  });
  const record = child.data;
  if (record === undefined) return null;
  return (
    <div className="flex flex-col gap-3 px-4 pb-4">
      <p className="m-0 flex flex-wrap items-center gap-2 text-xs">
        <Status status={record.status} />
        <Link to="/executions/$id" params={{ id }} className="text-accent">
          {inert(record.agent_name)}
        </Link>
        <Copyable value={id} short />
        <span className="text-ink-soft">
          {record.trigger === "validator" ? "asked as a judge" : `started by ${record.trigger}`}
        </span>
      </p>
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <Part title="Input" value={record.input} />
        {record.error === null ? (
          <Part title="Output" value={record.output} />
        ) : (
          <Part title="Error" value={`${record.error_code}: ${record.error}`} />
        )}
      </div>
    </div>
  );
}
