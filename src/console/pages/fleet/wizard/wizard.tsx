/** Starts a run: which hosts, what they do, how it goes over them, and before it starts what that will be. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play, Terminal } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Checkbox, Input, Select, TextArea } from "../../../kit/controls/field.tsx";
import { useFilters } from "../../../kit/controls/filters.tsx";
import { Page, Panel, Trouble } from "../../../kit/page.tsx";
import { Command } from "../../../kit/values/text.tsx";
import { useSettled } from "../../../kit/values/time.tsx";
import { useGroups } from "../groups/known-groups.ts";
import { condition, emptyDraft } from "../groups/selector.ts";
import { counted } from "../words.ts";
import { commandLine, firstPolicy, policyOf } from "./policy.ts";
import { PolicyForm } from "./policy-form.tsx";
import { TargetPreview, usePreview } from "./preview.tsx";
import { useRequestKey } from "./request-key.ts";
import { type TargetDraft, TargetForm, targetOf, targetText } from "./target.tsx";
import { argumentsOf, type HostTool, hostTools, type Values } from "./tools.ts";

/** What the address asks for: `?hosts=ID,ID`, `?group=ID`, `?tag=web`. */
function firstTarget(asked: Readonly<Record<string, string | undefined>>): TargetDraft {
  const { hosts = "", group = "", tag = "" } = asked;
  return {
    kind: hosts !== "" ? "hosts" : group !== "" ? "group" : "selector",
    selector: { ...emptyDraft, conditions: [condition("all", tag)] },
    group,
    hosts: hosts === "" ? [] : hosts.split(","),
  };
}

const choices = hostTools.map(({ name, label }) => ({ value: name, label: `${label} (${name})` }));

export function Wizard() {
  const [asked] = useFilters();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: groups } = useGroups();
  const [target, setTarget] = useState(() => firstTarget(asked));
  const [tool, setTool] = useState<HostTool>(hostTools[0] as HostTool);
  const [values, setValues] = useState<Values>({});
  const [policy, setPolicy] = useState(firstPolicy);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const keyOf = useRequestKey();
  const wanted = targetOf(target);
  const settled = useSettled(JSON.stringify([wanted, policyOf(policy)]), 300);
  const [shownTarget, shownPolicy] = JSON.parse(settled) as [object | null, object];
  const preview = usePreview(shownTarget, shownPolicy);
  const args = argumentsOf(tool, values);
  const count = preview.data?.count ?? 0;
  const waiting = preview.data?.queued.length ?? 0;
  const choose = (name: string) => {
    const next = hostTools.find((one) => one.name === name);
    if (next === undefined) return;
    setTool(next);
    setValues({});
    setPolicy({ ...policy, failure: next.changes ? "first" : "never" });
  };
  const start = async () => {
    if (wanted === null || args === null) return;
    setBusy(true);
    setError(null);
    try {
      const body = {
        target: wanted,
        tool: tool.name,
        args,
        policy: policyOf(policy),
        ...(policy.context.trim() === "" ? {} : { security_context_name: policy.context.trim() }),
      };
      const started = (await answer(
        svc.POST("/v1/edge/fleet/invoke", {
          body,
          headers: { Accept: "application/json", "Idempotency-Key": keyOf(body) },
        }),
      )) as { readonly fleet_command_id: string };
      queries.invalidateQueries({ queryKey: ["fleet_run"] }).catch(() => {});
      await navigate({ to: `/fleet/runs/${started.fleet_command_id}` });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const groupName = groups?.items.find(({ id }) => id === target.group)?.name ?? "";
  const isReady = wanted !== null && args !== null && count + waiting > 0;
  return (
    <Page
      title="Run a command on hosts"
      actions={
        <Button look="primary" busy={isBusy} disabled={!isReady} onClick={() => void start()}>
          <Play aria-hidden />
          {preview.data?.requires_approval === true ? "Ask for approval" : "Start"}
          {isReady && ` on ${counted(count + waiting, "host")}`}
        </Button>
      }
    >
      {error !== null && <Trouble error={error} title="The run was not started" />}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="1 · What">
            <div className="flex flex-col gap-3">
              <Select label="Do" value={tool.name} choices={choices} onChange={choose} />
              <Fields tool={tool} values={values} onChange={setValues} />
            </div>
          </Panel>
          <Panel title="2 · Where">
            <TargetForm draft={target} onChange={setTarget} />
          </Panel>
          <Panel title="3 · How">
            <PolicyForm draft={policy} onChange={setPolicy} />
          </Panel>
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-6">
          <Panel title="What this will reach">
            <TargetPreview preview={preview} waves />
          </Panel>
          {wanted !== null && args !== null && (
            <Panel
              title="The same on a command line"
              beside={<Terminal aria-hidden className="size-4 text-ink-faint" />}
            >
              <Command text={commandLine(targetText(target, groupName), tool.name, args, policy)} />
            </Panel>
          )}
        </div>
      </div>
    </Page>
  );
}

function Fields({
  tool,
  values,
  onChange,
}: {
  readonly tool: HostTool;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}) {
  return tool.fields.map(({ name, label, kind, hint, example, needed = false }) => {
    const set = (value: string | boolean) => onChange({ ...values, [name]: value });
    if (kind === "check") return <Checkbox key={name} label={label} checked={values[name] === true} onChange={set} />;
    const shared = {
      label: needed ? label : `${label} (optional)`,
      value: String(values[name] ?? ""),
      onChange: set,
      mono: true,
      ...(hint === undefined ? {} : { hint }),
      ...(example === undefined ? {} : { placeholder: example }),
    };
    return kind === "text" || kind === "json" ? (
      <TextArea key={name} rows={3} {...shared} />
    ) : (
      <Input key={name} {...shared} />
    );
  });
}
