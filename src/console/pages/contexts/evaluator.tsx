/** “May this call?”: a tool, arguments and a subject, and which rule lets the call pass or refuses it. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { ShieldQuestion } from "lucide-react";
import { useEffect } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Empty, Panel, Trouble } from "../../kit/page.tsx";
import { isForm, SchemaForm, useSchemaValue } from "../../kit/schema/schema-form.tsx";
import { inert } from "../../kit/values/text.tsx";
import { toolQuery } from "../tools/tool/query.ts";
import { type Tool, takesNothing } from "../tools/words.ts";
import { VerdictShown } from "./verdict.tsx";
import type { Context } from "./words.ts";

const names = "tools-to-try";
const me = "";
const other = "other";

export function Evaluator({ context }: { readonly context: Context }) {
  const can = useCan();
  const [{ tool: named = "" }, change] = useFilters();
  const tools = useQuery({
    queryKey: ["tool", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/seal/tools", { params: { query: { limit: 500 } } })),
    enabled: can("agent:read"),
  });
  const name = named.trim();
  const tool = useQuery({ ...toolQuery(name), enabled: can("agent:read") && name !== "" });
  const listed = tools.data?.items.find((one) => one.name === name) ?? tool.data ?? null;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Panel title="The call">
        <div className="flex flex-col gap-1">
          <Input
            label="Tool"
            value={named}
            onChange={(next) => change({ tool: next })}
            list={names}
            mono
            placeholder="fs.read"
            className="max-w-md"
            hint="Any name: a tool that is not there yet is judged by its name alone."
          />
          <datalist id={names}>
            {tools.data?.items.map((one) => (
              <option key={one.name} value={one.name} />
            ))}
          </datalist>
        </div>
      </Panel>
      {name === "" ? (
        <Empty icon={ShieldQuestion} title="Would a call be allowed?">
          Name a tool and say what it is to be called with. The answer names the rule that decides. Nothing is called,
          and nothing is counted.
        </Empty>
      ) : (
        <Trial key={`${name} ${listed?.name ?? ""}`} context={context} name={name} tool={listed} />
      )}
    </div>
  );
}

function Trial({
  context,
  name,
  tool,
}: {
  readonly context: Context;
  readonly name: string;
  readonly tool: Tool | null;
}) {
  const can = useCan();
  const { user_id: user } = useMe();
  const [{ as: subject = me, execution = "" }, change] = useFilters();
  const schema = tool?.input_schema;
  const input = useSchemaValue(schema, schema === undefined ? {} : undefined);
  const executions = useQuery({
    queryKey: ["execution", "list", "for-contexts"],
    queryFn: () => answer(svc.GET("/v1/executions", { params: { query: { limit: 50 } } })),
    enabled: can("execution:list"),
  });
  const recent = executions.data?.items ?? [];
  const executionId = subject === other ? execution.trim() : subject;
  const verdict = useMutation({
    mutationFn: () =>
      answer(
        svc.POST("/v1/security-contexts/{name}/evaluate", {
          params: { path: { name: context.name } },
          body: {
            tool_name: name,
            arguments: (input.value ?? {}) as Record<string, never>,
            ...(executionId === "" ? {} : { execution_id: executionId }),
          },
        }),
      ),
  });
  // What was answered is of what was asked.
  const asked = JSON.stringify([name, input.value, executionId, context.metadata.version]);
  const { reset, mutate } = verdict;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question has no answer yet
  useEffect(() => reset(), [asked, reset]);
  const { check: _, ...form } = input;
  return (
    <div className="grid min-w-0 items-start gap-4 xl:grid-cols-2">
      <Panel title="Arguments and subject">
        <div className="flex min-w-0 flex-col gap-4">
          <div className="grid gap-3 sm:grid-cols-2">
            <Select
              label="Who calls"
              value={subject}
              onChange={(as) => change({ as, execution: "" })}
              hint={
                subject === me ? "With what the rates leave for you." : "With its ceilings, and what its rates leave."
              }
              choices={[
                { value: me, label: `me, ${user.length > 20 ? `…${user.slice(-8)}` : user}` },
                ...recent.map(({ id, agent_name: agent, status }) => ({
                  value: id,
                  label: `${agent ?? "execution"} …${id.slice(-6)} (${status})`,
                })),
                { value: other, label: "another execution …" },
              ]}
            />
            {subject === other && (
              <Input
                label="Its id"
                value={execution}
                mono
                onChange={(next) => change({ execution: next })}
                placeholder="0190f3c4-…"
              />
            )}
          </div>
          <Formless tool={tool}>
            {takesNothing(schema) ? (
              <p className="m-0 text-ink-soft">It takes none.</p>
            ) : (
              <SchemaForm
                label="Arguments"
                schema={schema ?? {}}
                {...form}
                json={schema === undefined || !isForm(schema)}
                onSubmit={() => mutate()}
              />
            )}
          </Formless>
          <Button
            look="primary"
            className="self-start"
            busy={verdict.isPending}
            disabled={input.broken !== null || (subject === other && executionId === "")}
            onClick={() => mutate()}
          >
            <ShieldQuestion aria-hidden />
            May it?
          </Button>
        </div>
      </Panel>
      <div aria-live="polite" className="flex min-w-0 flex-col gap-4">
        {verdict.error !== null && <Trouble error={verdict.error} />}
        {verdict.data !== undefined && <VerdictShown verdict={verdict.data} context={context} tool={name} />}
      </div>
    </div>
  );
}

/** Says what is known of the tool above the arguments. */
function Formless({ tool, children }: { readonly tool: Tool | null; readonly children: React.ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="font-medium text-ink-soft text-xs">
        {tool === null ? "Arguments; the tenant has no such tool now" : `Arguments of ${inert(tool.name)}`}
      </span>
      {children}
    </div>
  );
}
