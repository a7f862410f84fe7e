/** What the agent and the model said to each other. */
import { BrainCircuit, UserRound, Wrench } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Empty } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert, Lines } from "../../kit/values/text.tsx";
import type { Turn } from "./span.ts";
import { SpanStatus } from "./span-status.tsx";
import type { Story } from "./story.ts";

/** So many turns are drawn at first. */
const firstShown = 20;

export function Conversation({ story }: { readonly story: Story }) {
  const can = useCan();
  const [shown, show] = useState(firstShown);
  if (!can("execution:logs"))
    return (
      <Empty title="The conversation is not shown to you">
        Prompts and responses need the scope <code>execution:logs</code>.
      </Empty>
    );
  if (story.turns.length === 0)
    return (
      <Empty title={story.isOver ? "No model was asked" : "No model was asked yet"}>
        Each prompt and each response appears here as it comes.
      </Empty>
    );
  return (
    <div className="flex flex-col gap-5 p-4">
      {story.turns.slice(0, shown).map((turn, at) => (
        <TurnView key={turn.id} turn={turn} before={story.turns[at - 1] ?? null} />
      ))}
      {story.turns.length > shown && (
        <Button className="self-center" onClick={() => show(shown + 100)}>
          Show more ({story.turns.length - shown} turns follow)
        </Button>
      )}
    </div>
  );
}

function TurnView({ turn, before }: { readonly turn: Turn; readonly before: Turn | null }) {
  const isFirst = before === null || before.iteration !== turn.iteration;
  // Within an iteration a prompt is the result of the call before, which is shown with the call.
  const isResult = !isFirst && (before?.calls.length ?? 0) > 0;
  return (
    <>
      {isFirst && <h3 className="m-0 font-medium text-ink-faint text-xs">Iteration {turn.iteration}</h3>}
      {turn.prompt !== null && !isResult && (
        <Message icon={<UserRound aria-hidden />} who="Prompt">
          <Lines text={turn.prompt} />
        </Message>
      )}
      <Message
        icon={<BrainCircuit aria-hidden />}
        who={turn.model}
        beside={
          <span className="text-2xs text-ink-faint tabular-nums">
            {turn.tokens.input.toLocaleString("en")} tokens in, {turn.tokens.output.toLocaleString("en")} out
          </span>
        }
      >
        {turn.response !== null && turn.response !== "" && <Lines text={turn.response} />}
        {turn.calls.map((call) => (
          <div key={call.id} className="rounded-control border border-line p-3">
            <div className="mb-2 flex flex-wrap items-center gap-2 text-xs">
              <Wrench aria-hidden className="size-3.5 text-ink-faint" />
              <code className="font-medium">{inert(call.name)}</code>
              <SpanStatus span={call} bare />
              {call.facts.map(([name, value]) => (
                <Badge key={name}>
                  {name} {value}
                </Badge>
              ))}
            </div>
            <div className="grid grid-cols-1 gap-3 lg:grid-cols-2">
              <div className="min-w-0">
                <Value value={call.input} />
              </div>
              <div className="min-w-0">
                {call.error !== null && <p className="m-0 mb-2 break-words text-bad text-xs">{inert(call.error)}</p>}
                {call.output !== undefined && <Value value={call.output} />}
              </div>
            </div>
          </div>
        ))}
      </Message>
    </>
  );
}

function Message({
  icon,
  who,
  beside,
  children,
}: {
  readonly icon: ReactNode;
  readonly who: string;
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex min-w-0 gap-3">
      <span className="mt-0.5 flex size-7 shrink-0 items-center justify-center rounded-full bg-hover text-ink-soft max-sm:hidden [&_svg]:size-4">
        {icon}
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <div className="flex flex-wrap items-baseline gap-2">
          <span className="font-medium">{inert(who)}</span>
          {beside}
        </div>
        {children}
      </div>
    </div>
  );
}
