/** A tool call that waits: what is to be called, with which arguments, and why. */
import { useQuery } from "@tanstack/react-query";
import { Wrench } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Code } from "../../kit/code/code.tsx";
import { Button } from "../../kit/controls/button.tsx";
import { Select } from "../../kit/controls/field.tsx";
import { Facts, Trouble } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import type { Pending, ToolCall } from "./queries.ts";

export function CallShown({ approval, call }: { readonly approval: Pending; readonly call: ToolCall }) {
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p className="m-0 flex flex-wrap items-center gap-2">
        <Wrench aria-hidden className="size-4 text-ink-soft" />
        <code className="font-semibold text-sm">{inert(call.tool)}</code>
        {call.edited && <Badge tone="warn">arguments were edited</Badge>}
        {call.executed === true && <Badge tone="good">was called</Badge>}
        {call.executed === false && <Badge>was not called</Badge>}
      </p>
      {call.model_reason !== null && call.model_reason !== "" && (
        <blockquote className="m-0 border-line-strong border-l-2 pl-3 text-ink-soft">
          <span className="block text-2xs text-ink-faint">In the model's own words, which nothing vouches for</span>
          <span dir="auto" className="whitespace-pre-wrap break-words">
            {inert(call.model_reason)}
          </span>
        </blockquote>
      )}
      <div>
        <h3 className="m-0 mb-1 font-medium text-ink-soft text-xs">Arguments</h3>
        <Arguments approval={approval} call={call} />
      </div>
      <Facts
        columns={2}
        of={[
          ["Agent", call.agent_name === null ? null : inert(call.agent_name)],
          ["Iteration", call.iteration_number],
          ["Asked for by", call.security_context === null ? "the agent's manifest" : inert(call.security_context)],
          ["Invocation", <Copyable key="id" value={call.invocation_id} short />],
        ]}
      />
    </div>
  );
}

/** The arguments; long ones are read whole when they are asked for. */
function Arguments({ approval, call }: { readonly approval: Pending; readonly call: ToolCall }) {
  const [isWhole, showWhole] = useState(false);
  const { data, error, isFetching } = useQuery({
    queryKey: ["approval", "one", approval.id, "arguments", call.arguments_sha256],
    queryFn: () => answer(svc.GET("/v1/human-approvals/{id}/arguments", { params: { path: { id: approval.id } } })),
    enabled: isWhole,
  });
  return (
    <>
      <Value value={isWhole && data !== undefined ? data.arguments : call.arguments} open={4} />
      {call.truncated && data === undefined && (
        <Button small look="ghost" busy={isFetching} onClick={() => showWhole(true)}>
          Only the beginning is shown: show all
        </Button>
      )}
      {error !== null && <Trouble error={error} />}
    </>
  );
}

/** What an approver may change beside the yes. */
export interface CallChoice {
  /** The text of the changed arguments; null: they stay. */
  readonly text: string | null;
  readonly remember: ToolCall["remember"];
}

export const unchanged: CallChoice = { text: null, remember: "none" };

/** @returns the changed arguments; undefined: they stay. @throws SyntaxError for what is no JSON object */
export function argumentsOf({ text }: CallChoice): Record<string, unknown> | undefined {
  if (text === null) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new SyntaxError("Arguments are a JSON object");
  return value as Record<string, unknown>;
}

const rememberWords: Readonly<Record<ToolCall["remember"], string>> = {
  none: "Ask again for the next call",
  execution: "Do not ask again for the same arguments",
  tool: "Do not ask again for this tool",
};

export function CallChoices({
  call,
  choice,
  onChange,
}: {
  readonly call: ToolCall;
  readonly choice: CallChoice;
  readonly onChange: (choice: CallChoice) => void;
}) {
  const grants = (["none", "execution", "tool"] as const).slice(
    0,
    ["none", "execution", "tool"].indexOf(call.remember) + 1,
  );
  return (
    <>
      {call.editable && choice.text === null && (
        <Button
          small
          className="self-start"
          onClick={() => onChange({ ...choice, text: JSON.stringify(call.arguments, null, 2) })}
        >
          Edit the arguments
        </Button>
      )}
      {choice.text !== null && (
        <div className="flex flex-col gap-1">
          <div className="overflow-hidden rounded-control border border-line-strong">
            <Code
              label="Arguments"
              language="json"
              height="12rem"
              value={choice.text}
              onChange={(text) => onChange({ ...choice, text })}
            />
          </div>
          <p className="m-0 flex items-center gap-2 text-ink-faint text-xs">
            What you leave as it is shown stays the original, [redacted] too.
            {call.edited ? "" : " An edit counts the approvals anew."}
            <Button small look="ghost" onClick={() => onChange({ ...choice, text: null })}>
              Leave them as they were
            </Button>
          </p>
        </div>
      )}
      {grants.length > 1 && (
        <Select
          label="After an approval"
          value={choice.remember}
          choices={grants.map((value) => ({ value, label: rememberWords[value] }))}
          onChange={(value) => onChange({ ...choice, remember: value as CallChoice["remember"] })}
        />
      )}
    </>
  );
}
