/** Starts an agent: a form made of its input schema, and what else a start takes. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { svc } from "../../app/session/api.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input } from "../../kit/controls/field.tsx";
import { Panel, Trouble } from "../../kit/page.tsx";
import { InputFields } from "../../kit/schema/input-fields.tsx";
import { useSchemaValue } from "../../kit/schema/schema-form.tsx";

/** `team=support, urgent=yes` as labels; what has no `=` is left out. */
const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(/[,\s]+/)
      .filter((part) => part.includes("="))
      .map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]),
  );

export function RunForm({ agent }: { readonly agent: Schemas["AgentDetail"] }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const input = useSchemaValue(agent.input_schema);
  const [labels, setLabels] = useState("");
  const [intent, setIntent] = useState("");
  const [seconds, setSeconds] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const start = async () => {
    if (!(await input.check())) return;
    setBusy(true);
    setError(null);
    try {
      const started = await answer(
        svc.POST("/v1/agents/{id}/execute", {
          params: { path: { id: agent.id } },
          body: {
            input: input.value ?? "",
            ...(intent.trim() === "" ? {} : { intent: intent.trim() }),
            ...(labels.trim() === "" ? {} : { labels: labelsOf(labels) }),
            ...(seconds.trim() === "" ? {} : { timeout_seconds: Number(seconds) }),
          },
        }),
      );
      queries.invalidateQueries({ queryKey: ["execution", "list"] }).catch(() => {});
      await navigate({ to: "/executions/$id", params: { id: started.id } });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Panel title="Run it" className="max-w-3xl">
      <div className="flex flex-col gap-4">
        <InputFields
          schema={agent.input_schema}
          input={input}
          issues={error instanceof ApiError ? error.issues : []}
          onSubmit={() => void start()}
        />
        <details className="group">
          <summary className="cursor-default text-ink-soft text-xs hover:text-ink">More</summary>
          <div className="mt-3 grid grid-cols-1 gap-3 sm:grid-cols-3">
            <Input label="Labels" value={labels} onChange={setLabels} hint="team=support, urgent=yes" />
            <Input label="Intent" value={intent} onChange={setIntent} hint="What it is for" />
            <Input label="Time limit" type="number" value={seconds} onChange={setSeconds} hint="In seconds" />
          </div>
        </details>
        {error !== null && <Trouble title="It was not started" error={error} />}
        <div className="flex items-center gap-3">
          <Button look="primary" busy={busy} onClick={() => void start()}>
            {!busy && <Play aria-hidden />}
            Run
          </Button>
          <span className="text-ink-soft text-xs">The next page shows it live.</span>
        </div>
      </div>
    </Panel>
  );
}
