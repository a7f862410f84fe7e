/** Writing a workflow: the manifest with the node's findings at their lines, beside it the graph of what is written. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Code } from "../../kit/code/code.tsx";
import { Button } from "../../kit/controls/button.tsx";
import { Checkbox, Select } from "../../kit/controls/field.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Flow } from "../../kit/flow/flow.tsx";
import { Page, Panel, Trouble } from "../../kit/page.tsx";
import { useSettled } from "../../kit/values/time.tsx";
import { readDefinition } from "./model/definition.ts";
import { definitionGraph } from "./model/graph.ts";
import { findingsAt } from "./model/lines.ts";
import { templates } from "./templates.ts";

const headers = { "Content-Type": "application/yaml" };

export function NewWorkflow() {
  const [template, choose] = useState(templates[0]?.name ?? "");
  const text = templates.find(({ name }) => name === template)?.text ?? "";
  return (
    <Page title="New workflow">
      <Select
        label="Begin with"
        className="w-72"
        value={template}
        choices={templates.map(({ name }) => ({ value: name, label: name }))}
        onChange={choose}
      />
      <ManifestEditor key={template} first={text} />
    </Page>
  );
}

/** @param first the text that is edited */
export function ManifestEditor({ first }: { readonly first: string }) {
  const [text, setText] = useState(first);
  const [force, setForce] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const settled = useSettled(text, 400);
  const judgement = useQuery({
    queryKey: ["workflow-judgement", settled],
    queryFn: async () => {
      const response = await svc.send("/v1/workflows/validate", { method: "POST", body: settled, headers });
      return (await response.json()) as Schemas["WorkflowJudgement"];
    },
    placeholderData: (known) => known,
    retry: false,
  });
  const findings = useMemo(
    () => findingsAt(settled, judgement.data?.issues ?? [], judgement.data?.warnings ?? []),
    [settled, judgement.data],
  );
  const graph = useMemo(() => {
    const definition = readDefinition(settled);
    return definition === null ? null : definitionGraph(definition);
  }, [settled]);
  const register = async () => {
    setBusy(true);
    setError(null);
    try {
      const path = `/v1/workflows${force ? "?force=true" : ""}`;
      const response = await svc.send(path, { method: "POST", body: text, headers });
      const { name, version } = (await response.json()) as Schemas["WorkflowRegistered"];
      tell("Registered", `${name} ${version}`);
      await queries.invalidateQueries({ queryKey: ["workflow"] });
      await navigate({ to: `/workflows/${name}` });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {error !== null && <Trouble error={error} />}
      <div className="grid min-w-0 grid-cols-1 gap-4 xl:grid-cols-2">
        <Panel
          title="Manifest"
          flush
          actions={
            <>
              <Checkbox label="Replace this version" checked={force} onChange={setForce} />
              <Button look="primary" busy={busy} onClick={() => void register()}>
                Register
              </Button>
            </>
          }
        >
          <Code label="Manifest" language="yaml" height="34rem" value={text} onChange={setText} findings={findings} />
        </Panel>
        <Panel title="Graph" flush>
          {graph === null ? (
            <p className="m-0 p-4 text-ink-soft">There is no graph of this text yet.</p>
          ) : (
            <Flow graph={graph} label="Graph of the manifest" height="34rem" />
          )}
        </Panel>
      </div>
      <Panel title="Findings">
        {judgement.error !== null ? (
          <Trouble error={judgement.error} />
        ) : findings.length === 0 ? (
          <p className="m-0 text-good">The node finds nothing wrong with it.</p>
        ) : (
          <ul className="m-0 list-none p-0 text-xs">
            {findings.map(({ line, message, severity }) => (
              <li key={`${line} ${message}`} className={severity === "error" ? "text-bad" : "text-warn"}>
                line {line}: {message}
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}
