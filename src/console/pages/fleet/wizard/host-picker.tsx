/** Hosts chosen one by one, found by name. */
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useId, useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Input } from "../../../kit/controls/field.tsx";
import { Status } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";

/** The names of all hosts, for a search in the page. The service has at most 10,000 hosts of a tenant. */
function useHosts() {
  return useQuery({
    queryKey: ["host", "list", "names"],
    queryFn: async () => {
      const hosts: { readonly id: string; readonly name: string; readonly status: string }[] = [];
      let cursor: string | undefined;
      do {
        const page = await answer(
          svc.GET("/v1/edge/hosts", { params: { query: { limit: 500, ...(cursor === undefined ? {} : { cursor }) } } }),
        );
        hosts.push(...page.items.map(({ id, name, status }) => ({ id, name, status })));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      return hosts;
    },
    staleTime: 60_000,
  });
}

const shownAtOnce = 8;

export function HostPicker({
  label,
  chosen,
  onChange,
}: {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const [text, setText] = useState("");
  const { data: hosts = [] } = useHosts();
  const list = useId();
  const wanted = text.trim().toLowerCase();
  const found =
    wanted === ""
      ? []
      : hosts.filter(({ id, name }) => !chosen.includes(id) && (name.toLowerCase().includes(wanted) || id === wanted));
  const add = (id: string) => {
    onChange([...chosen, id]);
    setText("");
  };
  const nameOf = (id: string) => inert(hosts.find((host) => host.id === id)?.name ?? id);
  return (
    <div className="flex flex-col gap-2">
      <Input
        label={label}
        value={text}
        onChange={setText}
        placeholder="Part of a name"
        type="search"
        onEnter={() => found[0] !== undefined && add(found[0].id)}
      />
      {found.length > 0 && (
        <ul
          id={list}
          aria-label="Hosts found"
          className="m-0 flex list-none flex-col rounded-control border border-line p-1"
        >
          {found.slice(0, shownAtOnce).map(({ id, name, status }) => (
            <li key={id}>
              <button
                type="button"
                className="flex w-full items-center gap-2 rounded-control px-2 py-1 text-left hover:bg-hover"
                onClick={() => add(id)}
              >
                <span className="min-w-0 flex-1 truncate">{inert(name)}</span>
                <Status status={status} bare />
              </button>
            </li>
          ))}
          {found.length > shownAtOnce && (
            <li className="px-2 py-1 text-ink-faint text-xs">and {found.length - shownAtOnce} more</li>
          )}
        </ul>
      )}
      {chosen.length > 0 && (
        <ul aria-label="Chosen hosts" className="m-0 flex list-none flex-wrap gap-1 p-0">
          {chosen.map((id) => (
            <li key={id} className="flex items-center gap-1 rounded bg-hover py-0.5 pr-0.5 pl-2 text-xs">
              {nameOf(id)}
              <button
                type="button"
                aria-label={`Remove ${nameOf(id)}`}
                className="rounded p-0.5 text-ink-faint hover:bg-selected hover:text-ink"
                onClick={() => onChange(chosen.filter((one) => one !== id))}
              >
                <X aria-hidden className="size-3" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
