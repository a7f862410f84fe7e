/** Several views of one thing, one at a time. */
import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** Beside the label: a count. */
  readonly beside?: ReactNode;
  readonly content: ReactNode;
}

/** @param chosen the id of a tab, kept in the address by the page; one that is not there (for this caller): the first is shown */
export function Tabs({
  tabs,
  chosen,
  onChoose,
}: {
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}) {
  return (
    <Base.Root
      value={tabs.some(({ id }) => id === chosen) ? chosen : (tabs[0]?.id ?? chosen)}
      onValueChange={(value) => onChoose(String(value))}
      className="flex min-w-0 flex-col gap-4"
    >
      <Base.List className="relative flex gap-1 overflow-x-auto border-line border-b" activateOnFocus={false}>
        {tabs.map(({ id, label, beside }) => (
          <Base.Tab
            key={id}
            value={id}
            className="-mb-px flex h-9 shrink-0 items-center gap-1.5 border-transparent border-b-2 px-2.5 font-medium text-ink-soft hover:text-ink data-active:border-accent data-active:text-ink"
          >
            {label}
            {beside}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className="min-w-0 outline-none">
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
