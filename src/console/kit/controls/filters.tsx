/** Filters of a list. They live in the address: a filtered list can be sent to another person. */
import { Popover } from "@base-ui/react/popover";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronDown, Search, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useSettled } from "../values/time.tsx";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { Checkbox, type Choice, control } from "./field.tsx";

/** What the address says behind `?`, as texts. */
export type Filters = Readonly<Record<string, string | undefined>>;

/** The filters of the page that is shown, and how to change some of them; an empty text removes one. */
export function useFilters(): readonly [filters: Filters, change: (changed: Filters) => void] {
  const search = useSearch({ strict: false }) as Filters;
  const navigate = useNavigate();
  const change = (changed: Filters) => {
    const next = Object.fromEntries(
      Object.entries({ ...search, ...changed }).filter(([, value]) => value !== undefined && value !== ""),
    );
    navigate({ to: ".", search: next as never, replace: true }).catch(() => {});
  };
  return [search, change];
}

/** @param names of the filters that the button removes */
export function FilterBar({
  children,
  names = [],
}: {
  readonly children: ReactNode;
  readonly names?: readonly string[];
}) {
  const [filters, change] = useFilters();
  const isFiltered = names.some((name) => filters[name] !== undefined);
  return (
    <search className="flex flex-wrap items-center gap-2">
      {children}
      {isFiltered && (
        <Button look="ghost" onClick={() => change(Object.fromEntries(names.map((name) => [name, ""])))}>
          <X aria-hidden />
          Clear
        </Button>
      )}
    </search>
  );
}

/** Text to search for, put into the address when typing pauses. `/` leads here. */
export function SearchFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const [filters, change] = useFilters();
  const [text, setText] = useState(filters[name] ?? "");
  const settled = useSettled(text);
  const told = useRef(text);
  useEffect(() => {
    if (settled === told.current) return;
    told.current = settled;
    change({ [name]: settled.trim() });
  });
  const given = filters[name] ?? "";
  useEffect(() => {
    if (given === told.current) return;
    told.current = given;
    setText(given);
  }, [given]);
  return (
    <div className="relative w-full min-w-64 max-w-80 flex-1">
      <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-ink-faint" />
      <input
        type="search"
        data-search
        value={text}
        aria-label={label}
        placeholder={label}
        title={label}
        className={classes(control, "pl-8 text-ellipsis placeholder:text-ellipsis")}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}

/** One or several of a few: `?status=failed,timed_out`. */
export function ChoiceFilter({
  name,
  label,
  choices,
  single = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly single?: boolean;
}) {
  const [filters, change] = useFilters();
  const chosen = (filters[name] ?? "").split(",").filter((value) => value !== "");
  const toggle = (value: string) => {
    const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : single ? [value] : [...chosen, value];
    change({ [name]: next.join(",") });
  };
  const told = chosen.map((value) => choices.find((choice) => choice.value === value)?.label ?? value);
  return (
    <Popover.Root>
      <Popover.Trigger render={<Button className={chosen.length > 0 ? "border-accent text-accent" : ""} />}>
        {label}
        {told.length > 0 && <span className="max-w-40 truncate font-normal">: {told.join(", ")}</span>}
        <ChevronDown aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner align="start" sideOffset={4} className="z-40">
          <Popover.Popup className="pop flex max-h-80 min-w-44 flex-col gap-0.5 overflow-auto p-2 outline-none">
            <Popover.Title className="sr-only">{label}</Popover.Title>
            {choices.map(({ value, label: text }) => (
              <div key={value} className="rounded-control px-1.5 py-1 hover:bg-hover">
                <Checkbox checked={chosen.includes(value)} onChange={() => toggle(value)} label={text} />
              </div>
            ))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
