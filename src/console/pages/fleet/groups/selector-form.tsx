/** Writes a selector: a system, and rows of conditions that all have to hold. */
import { Plus, X } from "lucide-react";
import { Button, IconButton } from "../../../kit/controls/button.tsx";
import { Input, Select } from "../../../kit/controls/field.tsx";
import { condition, type Draft, kinds } from "./selector.ts";

const systems = [
  { value: "", label: "any system" },
  { value: "linux", label: "Linux" },
  { value: "macos", label: "macOS" },
];
const processors = [
  { value: "", label: "any processor" },
  { value: "x86_64", label: "x86_64" },
  { value: "aarch64", label: "aarch64" },
];

export function SelectorForm({
  draft,
  onChange,
}: {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}) {
  const { conditions } = draft;
  const replace = (id: number, change: object) =>
    onChange({ ...draft, conditions: conditions.map((one) => (one.id === id ? { ...one, ...change } : one)) });
  return (
    <div className="flex flex-col gap-2">
      <div className="grid grid-cols-2 gap-2">
        <Select label="System" value={draft.os} choices={systems} onChange={(os) => onChange({ ...draft, os })} />
        <Select
          label="Processor"
          value={draft.arch}
          choices={processors}
          onChange={(arch) => onChange({ ...draft, arch })}
        />
      </div>
      {conditions.map(({ id, kind, text }) => (
        <div key={id} className="flex items-start gap-2">
          <Select
            quiet
            label="Condition"
            className="w-52 shrink-0 max-sm:w-36"
            value={kind}
            choices={kinds}
            onChange={(next) => replace(id, { kind: next })}
          />
          <Input
            quiet
            mono
            label="Values"
            className="flex-1"
            value={text}
            placeholder={kinds.find(({ value }) => value === kind)?.example ?? ""}
            onChange={(next) => replace(id, { text: next })}
          />
          <IconButton
            label="Remove this condition"
            onClick={() => onChange({ ...draft, conditions: conditions.filter((one) => one.id !== id) })}
          >
            <X aria-hidden />
          </IconButton>
        </div>
      ))}
      <Button
        small
        className="self-start"
        onClick={() => onChange({ ...draft, conditions: [...conditions, condition()] })}
      >
        <Plus aria-hidden />
        Condition
      </Button>
    </div>
  );
}
