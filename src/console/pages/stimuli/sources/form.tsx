/** The settings of a source, to make one or to change it. */
import type { ReactNode } from "react";
import { Input, Select, Switch, TextArea } from "../../../kit/controls/field.tsx";
import { Panel } from "../../../kit/page.tsx";
import { type Preset, presetChoices } from "../words.ts";
import { WorkflowInput } from "../workflow-input.tsx";
import { type Draft, usualOf } from "./draft.ts";

interface SettingsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly isNew: boolean;
  /** Below the signature: the secret of a new source. */
  readonly secret?: ReactNode;
}

const eventExamples: Readonly<Record<Preset, string>> = {
  svc: "the type member of the body: order.paid",
  github: "push, pull_request.opened",
  stripe: "invoice.paid, customer.created",
  slack: "app_mention, message",
  standard_webhooks: "the type of the message: order.paid",
};

export function SourceSettings({ draft, onChange, isNew, secret }: SettingsProps) {
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  const isTimed = draft.preset !== "github" && (draft.preset !== "svc" || draft.requireTimestamp);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title="What it is">
        <div className="flex flex-col gap-3">
          {isNew && (
            <Input
              label="Name"
              value={draft.source}
              onChange={(source) => set({ source })}
              required
              placeholder="ci"
              hint="In lower case, part of its URL; it cannot be changed later."
            />
          )}
          <WorkflowInput
            label="Workflow it starts"
            value={draft.workflow}
            onChange={(workflow) => set({ workflow })}
            hint="Empty: the router chooses one for each message."
          />
          {draft.workflow.trim() !== "" && (
            <Input
              label="Version"
              value={draft.version}
              onChange={(version) => set({ version })}
              placeholder="the latest"
            />
          )}
          <TextArea
            label="Description"
            rows={2}
            value={draft.description}
            onChange={(description) => set({ description })}
          />
          <Switch label="Takes messages" checked={draft.enabled} onChange={(enabled) => set({ enabled })} />
        </div>
      </Panel>
      <Panel title="Signature">
        <div className="flex flex-col gap-3">
          <Select
            label="Sender"
            value={draft.preset}
            choices={presetChoices}
            onChange={(preset) => set(usualOf(preset as Preset))}
          />
          {secret}
          {draft.preset === "svc" && (
            <Switch
              label="A signed time is required"
              checked={draft.requireTimestamp}
              onChange={(requireTimestamp) => set({ requireTimestamp })}
            />
          )}
          {isTimed && (
            <Input
              label="Its time may be off by, seconds"
              type="number"
              value={draft.tolerance}
              onChange={(tolerance) => set({ tolerance })}
              hint="30 to 900"
            />
          )}
          <Switch
            label="An equal signed body is a repeat for a day"
            checked={draft.replayGuard}
            onChange={(replayGuard) => set({ replayGuard })}
          />
        </div>
      </Panel>
      <Panel title="What passes">
        <div className="flex flex-col gap-3">
          <TextArea
            label="Events"
            mono
            rows={2}
            value={draft.events}
            onChange={(events) => set({ events })}
            hint={`Empty: all. ${eventExamples[draft.preset]}`}
          />
          <TextArea
            label="Match"
            mono
            rows={2}
            value={draft.match}
            onChange={(match) => set({ match })}
            placeholder={'payload.ref == "refs/heads/main"'}
            hint="An expression over payload and headers; what it does not hold for is answered and starts nothing."
          />
          <Input
            label="At most, messages a minute"
            type="number"
            value={draft.rate}
            onChange={(rate) => set({ rate })}
            placeholder="no limit of its own"
          />
        </div>
      </Panel>
      <Panel title="How it is taken">
        <div className="flex flex-col gap-3">
          <Select
            label="It is answered"
            value={draft.acknowledge}
            choices={[
              { value: "routed", label: "when its run was started" },
              { value: "received", label: "at once; it is routed afterwards, with retries" },
            ]}
            onChange={(value) => set({ acknowledge: value === "received" ? "received" : "routed" })}
          />
          <Select
            label="Without an idempotency key"
            value={draft.fallback}
            choices={[
              { value: "none", label: "every message counts" },
              { value: "body_sha256", label: "an equal body is a repeat" },
            ]}
            onChange={(value) => set({ fallback: value === "body_sha256" ? "body_sha256" : "none" })}
          />
          <TextArea
            label="Headers handed on to the workflow"
            mono
            rows={2}
            value={draft.headers}
            onChange={(headers) => set({ headers })}
            hint="* is all but those that could hold a secret; empty: none."
          />
        </div>
      </Panel>
    </div>
  );
}
