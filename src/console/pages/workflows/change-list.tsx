/** What differs between two versions of a workflow, state by state and field by field. */
import { type ReactNode, useEffect, useRef } from "react";
import { classes } from "../../kit/controls/classes.ts";
import { Badge, type Tone } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import type { Change, Changes, FieldChange, RuleChange, StateChange } from "./model/changes.ts";

const tones: Readonly<Record<Change, Tone>> = { added: "good", removed: "bad", changed: "warn" };

/** How many states were added, removed, changed. */
export function countsOf({ states }: Changes): ReactNode {
  return (["added", "changed", "removed"] as const).flatMap((change) => {
    const count = states.filter((one) => one.change === change).length;
    return count === 0
      ? []
      : [
          <Badge key={change} tone={tones[change]}>
            {count} {count === 1 ? "state" : "states"} {change}
          </Badge>,
        ];
  });
}

interface ChangeListProps {
  readonly changes: Changes;
  readonly selected: string | null;
  readonly onSelect: (state: string | null) => void;
}

export function ChangeList({ changes: { states, others }, selected, onSelect }: ChangeListProps) {
  if (states.length + others.length === 0)
    return <p className="m-0 p-4 text-ink-soft">Nothing but how the text is written.</p>;
  return (
    <ul className="m-0 flex max-h-[30rem] list-none flex-col overflow-auto p-0">
      {states.map((state) => (
        <State key={state.name} state={state} isSelected={state.name === selected} onSelect={onSelect} />
      ))}
      {others.length > 0 && (
        <li className="flex flex-col gap-1.5 border-line border-b px-4 py-2.5 last:border-b-0">
          <span className="font-medium">The manifest itself</span>
          {others.map((field) => (
            <Field key={`${field.change} ${field.path}`} field={field} />
          ))}
        </li>
      )}
    </ul>
  );
}

function State({
  state: { name, kind, change, fields, rules, isReordered },
  isSelected,
  onSelect,
}: {
  readonly state: StateChange;
  readonly isSelected: boolean;
  readonly onSelect: ChangeListProps["onSelect"];
}) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <li
      ref={item}
      className={classes(
        "flex flex-col gap-1.5 border-line border-b px-4 py-2.5 last:border-b-0",
        isSelected && "bg-selected",
      )}
    >
      <button
        type="button"
        aria-pressed={isSelected}
        onClick={() => onSelect(isSelected ? null : name)}
        className="flex min-w-0 items-center gap-2 rounded-control text-left"
      >
        <Badge tone={tones[change]}>{change}</Badge>
        <span className="truncate font-medium">{inert(name)}</span>
        <span className="text-ink-faint text-xs">{inert(kind)}</span>
      </button>
      {rules.map((one) => (
        <RuleLine key={`${one.change} ${one.rule.whole}`} of={one} />
      ))}
      {isReordered && <span className="text-ink-soft text-xs">Its rules are asked in another order.</span>}
      {fields.map((field) => (
        <Field key={`${field.change} ${field.path}`} field={field} />
      ))}
    </li>
  );
}

const signs: Readonly<Record<Change, string>> = { added: "+", removed: "−", changed: "~" };
const colours: Readonly<Record<Change, string>> = { added: "text-good", removed: "text-bad", changed: "text-warn" };

function Sign({ change }: { readonly change: Change }) {
  return (
    <span className={classes("w-3 shrink-0 text-center font-bold", colours[change])}>
      <span aria-hidden>{signs[change]}</span>
      <span className="sr-only">{change}</span>
    </span>
  );
}

/** A rule: what it asks for, and where it leads. */
function RuleLine({ of: { change, rule } }: { readonly of: RuleChange }) {
  const [condition = "", ...details] = rule.whole.split("\n");
  const [target = "", ...values] = details.reverse();
  return (
    <span className="flex items-baseline gap-1.5 text-xs">
      <Sign change={change} />
      <span className={classes("min-w-0 break-words", change === "removed" && "line-through decoration-bad/60")}>
        rule <code>{inert(condition)}</code>
        {values.length > 0 && <span className="text-ink-soft"> ({inert(values.reverse().join(", "))})</span>}{" "}
        <span className="font-medium">{inert(target)}</span>
      </span>
    </span>
  );
}

/** Letters of a value that are shown; the text below shows all of it. */
const mostLetters = 300;

function Field({ field: { path, change, from, to } }: { readonly field: FieldChange }) {
  return (
    <div className="flex items-baseline gap-1.5 text-xs">
      <Sign change={change} />
      <div className="flex min-w-0 flex-1 flex-col gap-0.5">
        <code className="break-words text-ink-soft">{inert(path)}</code>
        {from !== undefined && <Said value={from} className="bg-bad-soft text-bad" />}
        {to !== undefined && <Said value={to} className="bg-good-soft text-good" />}
      </div>
    </div>
  );
}

function Said({ value, className }: { readonly value: unknown; readonly className: string }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const shown = text.length > mostLetters ? `${text.slice(0, mostLetters)} …` : text;
  return (
    <code className={classes("w-fit max-w-full whitespace-pre-wrap break-words rounded px-1.5 py-0.5", className)}>
      {inert(shown)}
    </code>
  );
}
