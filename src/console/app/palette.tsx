/** The command palette (`Ctrl-K`): goes to any page, to agents, workflows and sources by name, and to any record by its id. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { Hash, type LucideIcon, Search, Wrench } from "lucide-react";
import { useMemo, useState } from "react";
import { inert } from "../kit/values/text.tsx";
import { useSettled } from "../kit/values/time.tsx";
import { useAreas } from "./areas.ts";
import { useFound } from "./found.ts";

interface Target {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly icon: LucideIcon;
  readonly path: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Names of tools have a dot within, and nothing else does. */
const toolName = /^[\w-]+\.[\w./-]+$/;

/** What a bare id may be the id of. */
const recordsById: readonly (readonly [title: string, path: string])[] = [
  ["Execution", "/executions"],
  ["Run", "/runs"],
  ["Approval", "/approvals"],
  ["Stimulus", "/stimuli"],
  ["Agent", "/agents"],
  ["SEAL session", "/seal-sessions"],
  ["Tool call", "/tools/calls"],
];

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const shown = useAreas();
  const navigate = useNavigate();
  const places = useMemo(
    () =>
      shown.flatMap(({ title: area, places }) =>
        places.map(
          ({ path, title, words = "", icon }): Target => ({
            id: path,
            title,
            words: `${title} ${area ?? ""} ${words}`,
            icon,
            path,
          }),
        ),
      ),
    [shown],
  );
  const id = text.trim();
  const settled = useSettled(uuid.test(id) ? "" : id, 200);
  const found = useFound(settled).map(
    ({ kind, name, path, icon }): Target => ({
      id: path,
      title: `${kind} ${inert(name)}`,
      // Found by its description, it has the words that were asked for, too.
      words: `${kind} ${name} ${settled}`,
      icon,
      path,
    }),
  );
  const named = toolName.test(id)
    ? [{ id: "tool", title: `Tool ${id}`, words: id, icon: Wrench, path: `/tools/${encodeURIComponent(id)}` }]
    : [];
  const records: readonly Target[] = uuid.test(id)
    ? recordsById.map(([title, path]) => ({
        id: `${path}/${id}`,
        title: `${title} ${id}`,
        words: id,
        icon: Hash,
        path: `${path}/${id}`,
      }))
    : named;
  const close = onClose;
  const go = (target: Target) => {
    close();
    navigate({ to: target.path }).catch(() => {});
  };
  return (
    <Dialog.Root open onOpenChange={(next) => !next && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label="Go to"
          className="pop fixed top-[min(12vh,6rem)] left-1/2 z-40 w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-hidden outline-none"
        >
          <Autocomplete.Root
            items={[...records, ...places, ...found]}
            value={text}
            onValueChange={setText}
            itemToStringValue={(target: Target) => target.words}
            open
            inline
            autoHighlight="always"
            keepHighlight
          >
            <div className="flex items-center gap-2 border-line border-b px-3">
              <Search aria-hidden className="size-4 text-ink-faint" />
              <Autocomplete.Input
                aria-label="A page, a name, or the id of a record"
                placeholder="A page, a name, or the id of a record"
                className="h-11 w-full bg-transparent outline-none"
              />
            </div>
            <Autocomplete.Empty className="px-4 py-6 text-center text-ink-soft empty:hidden">
              Nothing has this name
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-80 overflow-auto p-1.5 empty:hidden">
              {(target: Target) => (
                <Autocomplete.Item
                  key={target.id}
                  value={target}
                  onClick={() => go(target)}
                  className="flex cursor-default items-center gap-2.5 rounded-control px-2.5 py-2 outline-none data-highlighted:bg-hover"
                >
                  <target.icon aria-hidden className="size-4 text-ink-soft" />
                  <span className="truncate">{target.title}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
