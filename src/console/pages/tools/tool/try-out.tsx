/** A form made from a tool's schema; what it is filled with is sent as a signed call. */

import { useQuery } from "@tanstack/react-query";
import { Play, ShieldQuestion } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { ApiError } from "../../../../programs/client/errors.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button, ButtonLink } from "../../../kit/controls/button.tsx";
import { Select } from "../../../kit/controls/field.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { Panel } from "../../../kit/page.tsx";
import { isForm, SchemaForm, useSchemaValue } from "../../../kit/schema/schema-form.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { type Tool, takesNothing } from "../words.ts";
import { useSignedCall } from "./signed-call.ts";
import { TrialResult } from "./trial-result.tsx";

const usual = "";

export function TryOut({ tool }: { readonly tool: Tool }) {
  const can = useCan();
  const input = useSchemaValue(tool.input_schema);
  const signed = useSignedCall();
  const isSandboxed = tool.executor === "sandbox";
  const [context, setContext] = useState(usual);
  const [execution, setExecution] = useState(usual);
  const [isAsked, ask] = useState(false);
  const contexts = useQuery({
    queryKey: ["security_context", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/security-contexts", { params: { query: { limit: 500 } } })),
    enabled: can("security_context:read"),
  });
  const executions = useQuery({
    queryKey: ["execution", "list", "running-for-tools"],
    queryFn: () => answer(svc.GET("/v1/executions", { params: { query: { status: "running", limit: 50 } as never } })),
    enabled: can("execution:list"),
  });
  const running = executions.data?.items ?? [];
  const chosen = running.find(({ id }) => id === execution);
  const { check: _, ...form } = input;
  const { error } = signed.trial ?? { error: null };
  const issues = error instanceof ApiError ? error.issues : [];
  const call = async () => {
    if (!(await input.check())) return;
    if (tool.annotations.destructiveHint && !tool.annotations.readOnlyHint) ask(true);
    else void send();
  };
  const send = () =>
    signed.call({
      name: tool.name,
      arguments: (input.value ?? {}) as Record<string, unknown>,
      context: context === usual || chosen !== undefined ? null : context,
      execution: chosen === undefined ? null : { execution_id: chosen.id, agent_id: chosen.agent_id },
    });
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Panel title="Try it">
        <div className="flex min-w-0 flex-col gap-4">
          <p className="m-0 text-ink-soft text-xs">
            This really calls it, as you. The browser makes a key that never leaves it, opens a session with it, signs
            the call and ends the session.
          </p>
          <div className="grid gap-3 sm:grid-cols-2">
            {(isSandboxed || running.length > 0) && can("execution:list") && (
              <Select
                label="In the sandbox of"
                value={chosen === undefined ? usual : execution}
                onChange={setExecution}
                hint={
                  isSandboxed && chosen === undefined
                    ? running.length === 0
                      ? "This tool needs a running execution, and none is running."
                      : "This tool needs a running execution."
                    : undefined
                }
                choices={[
                  { value: usual, label: "no execution" },
                  ...running.map(({ id, agent_name }) => ({
                    value: id,
                    label: `${agent_name ?? "agent"} …${id.slice(-6)}`,
                  })),
                ]}
              />
            )}
            {contexts.data !== undefined && chosen === undefined && (
              <Select
                label="Security context"
                value={context}
                onChange={setContext}
                choices={[
                  { value: usual, label: "the usual one for me" },
                  ...contexts.data.items.map(({ name }) => ({ value: name, label: name })),
                ]}
              />
            )}
          </div>
          {isForm(tool.input_schema) ? (
            <SchemaForm
              label="Arguments"
              schema={tool.input_schema}
              {...form}
              issues={issues}
              root="arguments"
              onSubmit={() => void call()}
            />
          ) : takesNothing(tool.input_schema) ? (
            <p className="m-0 text-ink-soft">It takes no arguments.</p>
          ) : (
            <SchemaForm label="Arguments" schema={tool.input_schema} {...form} issues={issues} root="arguments" json />
          )}
          <div className="flex flex-wrap items-center gap-2">
            <Button
              look="primary"
              busy={signed.isBusy}
              disabled={!signed.canSign || (isSandboxed && chosen === undefined)}
              onClick={() => void call()}
            >
              <Play aria-hidden />
              Call it
            </Button>
            {context !== usual && chosen === undefined && (
              <ButtonLink
                look="ghost"
                to={`/security-contexts/${context}` as never}
                search={{ tab: "try", tool: tool.name } as never}
              >
                <ShieldQuestion aria-hidden />
                Would it be allowed?
              </ButtonLink>
            )}
          </div>
          {!signed.canSign && (
            <p className="m-0 text-warn text-xs">
              Browsers make keys only for pages that come by https or from this machine. From a terminal:
            </p>
          )}
          {!signed.canSign && <Cli args={`tools call ${tool.name}`} />}
        </div>
      </Panel>
      {signed.trial !== null && <TrialResult trial={signed.trial} onOver={signed.end} />}
      <Confirm
        open={isAsked}
        onClose={() => ask(false)}
        danger
        title={`Call ${tool.name}?`}
        about="It says of itself that it may delete or overwrite something. It runs at once, as you."
        verb="Call it"
        onConfirm={async () => void send()}
      />
    </div>
  );
}
