/** Which hosts a run is for. */
import { Input, Select } from "../../../kit/controls/field.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { useGroups } from "../groups/known-groups.ts";
import { type Draft, selectorOf } from "../groups/selector.ts";
import { SelectorForm } from "../groups/selector-form.tsx";
import { HostPicker } from "./host-picker.tsx";

export interface TargetDraft {
  readonly kind: "selector" | "group" | "hosts" | "all";
  readonly selector: Draft;
  readonly group: string;
  readonly hosts: readonly string[];
}

/** As the service reads it; null: nothing is chosen yet. */
export function targetOf({ kind, selector, group, hosts }: TargetDraft): object | null {
  switch (kind) {
    case "all":
      return { All: null };
    case "group":
      return group === "" ? null : { Group: group };
    case "hosts":
      return hosts.length === 0 ? null : { Nodes: hosts };
    case "selector": {
      const wanted = selectorOf(selector);
      const isOpen =
        wanted.os === null &&
        wanted.arch === null &&
        wanted.tags.length + wanted.labels.length + wanted.tools.length === 0;
      return isOpen ? null : { Selector: wanted };
    }
  }
}

/** As the command line reads it. */
export function targetText({ kind, selector, group, hosts }: TargetDraft, groupName: string): string {
  if (kind === "all") return "all";
  if (kind === "group") return `group:${groupName === "" ? group : groupName}`;
  if (kind === "hosts") return hosts.map((id) => `@${id}`).join(",");
  const { os, arch, tools, labels, tags } = selectorOf(selector);
  return [
    os === null ? "" : `os=${os}`,
    arch === null ? "" : `arch=${arch}`,
    tools.length === 0 ? "" : `tools=${tools.join(",")}`,
    ...labels.map((one) => {
      if ("Exists" in one) return `labels=Exists(${one.Exists})`;
      if ("In" in one)
        return Object.entries(one.In).map(
          ([name, values]) => `labels=In(${name},${(values as string[]).join(",")})`,
        )[0];
      return Object.entries(one.Equals).map(([name, value]) => `labels=${name}=${value}`)[0];
    }),
    ...tags.map((one) => {
      const [name, value] = Object.entries(one)[0] ?? ["Has", ""];
      return `tags=${name}(${Array.isArray(value) ? value.join(",") : value})`;
    }),
  ]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
}

const kinds = [
  { value: "selector", label: "hosts that fit conditions" },
  { value: "group", label: "a group" },
  { value: "hosts", label: "hosts by name" },
  { value: "all", label: "every host" },
];

export function TargetForm({
  draft,
  onChange,
}: {
  readonly draft: TargetDraft;
  readonly onChange: (draft: TargetDraft) => void;
}) {
  const { data: groups } = useGroups();
  const choices = (groups?.items ?? []).map(({ id, name, resolved_member_count: count }) => ({
    value: id,
    label: `${inert(name)} (${count})`,
  }));
  return (
    <div className="flex flex-col gap-3">
      <Select
        label="Hosts"
        value={draft.kind}
        choices={kinds}
        onChange={(kind) => onChange({ ...draft, kind: kind as TargetDraft["kind"] })}
      />
      {draft.kind === "selector" && (
        <SelectorForm draft={draft.selector} onChange={(selector) => onChange({ ...draft, selector })} />
      )}
      {draft.kind === "group" &&
        (choices.length === 0 ? (
          <Input label="Group, by name or id" value={draft.group} onChange={(group) => onChange({ ...draft, group })} />
        ) : (
          <Select
            label="Group"
            value={draft.group}
            choices={[{ value: "", label: "choose a group" }, ...choices]}
            onChange={(group) => onChange({ ...draft, group })}
          />
        ))}
      {draft.kind === "hosts" && (
        <HostPicker label="Host" chosen={draft.hosts} onChange={(hosts) => onChange({ ...draft, hosts })} />
      )}
      {draft.kind === "all" && (
        <p className="m-0 text-warn text-xs">
          Every host of the organization. As the settings of the fleet are at first, another person has to approve this.
        </p>
      )}
    </div>
  );
}
