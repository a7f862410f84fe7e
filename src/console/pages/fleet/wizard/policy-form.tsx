/** How a run goes over its hosts: at once or in waves, when it stops, how long each may take. */
import { useState } from "react";
import { Button } from "../../../kit/controls/button.tsx";
import { Checkbox, Input, Select } from "../../../kit/controls/field.tsx";
import type { PolicyDraft } from "./policy.ts";

const modes = [
  { value: "parallel", label: "all hosts at once" },
  { value: "rolling", label: "in waves" },
  { value: "sequential", label: "one host after the other" },
];
const failures = [
  { value: "first", label: "at the first failure" },
  { value: "never", label: "never: go on over all hosts" },
  { value: "count", label: "after a number of failures" },
  { value: "percent", label: "after a share of the hosts failed" },
];

export function PolicyForm({
  draft,
  onChange,
}: {
  readonly draft: PolicyDraft;
  readonly onChange: (draft: PolicyDraft) => void;
}) {
  const [isMore, more] = useState(false);
  const set = (part: Partial<PolicyDraft>) => onChange({ ...draft, ...part });
  const text = (name: keyof PolicyDraft, label: string, hint?: string, placeholder?: string) => (
    <Input
      label={label}
      value={String(draft[name])}
      onChange={(value) => set({ [name]: value })}
      {...(hint === undefined ? {} : { hint })}
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  );
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Order"
          value={draft.mode}
          choices={modes}
          onChange={(mode) => set({ mode: mode as PolicyDraft["mode"] })}
        />
        {draft.mode === "rolling" && text("batch", "Hosts in a wave", "A number, or a share such as 25%")}
        <Select
          label="Stop"
          value={draft.failure}
          choices={failures}
          onChange={(failure) => set({ failure: failure as PolicyDraft["failure"] })}
        />
        {(draft.failure === "count" || draft.failure === "percent") &&
          text("failures", draft.failure === "count" ? "Failures" : "Per cent of the hosts")}
        {text(
          "canary",
          "Try first on",
          "A number or a share of the hosts; a failure there always stops the run",
          "none",
        )}
        {text("deadline", "Each host may take, seconds")}
      </div>
      {draft.canary.trim() !== "" && (
        <div className="grid gap-3 sm:grid-cols-2">
          <Checkbox
            label="Then wait for a person"
            checked={draft.pauseAfterCanary}
            onChange={(pauseAfterCanary) => set({ pauseAfterCanary })}
          />
          {text("soak", "Watch the first hosts for, seconds", undefined, "0")}
        </div>
      )}
      {isMore ? (
        <div className="grid gap-3 sm:grid-cols-2">
          {text("offline", "Wait for hosts that are away, seconds", "0: they are left out")}
          {text("retries", "Try failed hosts again, times", "0–3")}
          {text("minimum", "Hosts that have to be reached at least", undefined, "none")}
          {text("concurrency", "Commands under way at most", undefined, "1,000")}
          {text("runDeadline", "The whole run may take, seconds", undefined, "no limit")}
          {text("context", "Context in the host's policy", "By its name in the host's config.yaml", "default")}
          <Checkbox
            label="A person has to approve it"
            checked={draft.approval}
            onChange={(approval) => set({ approval })}
          />
        </div>
      ) : (
        <Button small look="ghost" className="self-start" onClick={() => more(true)}>
          More: retries, absent hosts, limits, approval
        </Button>
      )}
    </div>
  );
}
