/** Two versions of a workflow beside each other: what of states, rules and fields differs, as a graph and as text. */
import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight } from "lucide-react";
import { useMemo, useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Difference } from "../../kit/code/code.tsx";
import { IconButton } from "../../kit/controls/button.tsx";
import { Select } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Flow } from "../../kit/flow/flow.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { manifestText } from "../runs/model/queries.ts";
import { ChangeList, countsOf } from "./change-list.tsx";
import { changesGraph, changesOf } from "./model/changes.ts";
import { readDefinition } from "./model/definition.ts";

type Version = Schemas["WorkflowVersion"];

export function Versions({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["workflow", "versions", name],
    queryFn: () => answer(svc.GET("/v1/workflows/{ref}/versions", { params: { path: { ref: name } } })),
  });
  if (error !== null) return <Trouble error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return <Compared name={name} versions={data.items} />;
}

function Compared({ name, versions }: { readonly name: string; readonly versions: readonly Version[] }) {
  const [filters, change] = useFilters();
  const newest = versions[0]?.version ?? "";
  const to = filters.to ?? newest;
  const from = filters.from ?? versions[versions.findIndex(({ version }) => version === to) + 1]?.version ?? to;
  const both = useQuery({
    queryKey: ["workflow", "compared", name, from, to],
    queryFn: async () => {
      const params = { path: { ref: name, a: from, b: to } };
      const [told, before, after] = await Promise.all([
        answer(svc.GET("/v1/workflows/{ref}/versions/{a}/diff/{b}", { params })),
        manifestText(name, from),
        manifestText(name, to),
      ]);
      if (typeof told === "string") throw new TypeError("the answer is no comparison");
      return { told, before, after };
    },
    enabled: from !== "" && to !== "",
    // Versions do not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const choices = versions.map(({ version, is_latest }) => ({
    value: version,
    label: is_latest ? `${version} (latest)` : version,
  }));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end gap-2">
        <Select
          label="From"
          className="w-40"
          value={from}
          choices={choices}
          onChange={(one) => change({ from: one })}
        />
        <IconButton label="The other way round" onClick={() => change({ from: to, to: from })}>
          <ArrowLeftRight aria-hidden />
        </IconButton>
        <Select label="To" className="w-40" value={to} choices={choices} onChange={(one) => change({ to: one })} />
      </div>
      {both.error !== null ? (
        <Trouble error={both.error} retry={() => void both.refetch()} />
      ) : both.data === undefined ? (
        <Loading lines={8} />
      ) : (
        <Shown {...both.data} single={versions.length === 1} />
      )}
    </div>
  );
}

interface ShownProps {
  readonly told: Schemas["WorkflowVersionsDiff"];
  readonly before: string;
  readonly after: string;
  /** There is no other version yet. */
  readonly single: boolean;
}

function Shown({ told, before, after, single }: ShownProps) {
  const [selected, select] = useState<string | null>(null);
  const compared = useMemo(() => {
    const [old, next] = [readDefinition(before), readDefinition(after)];
    if (old === null || next === null) return null;
    const changes = changesOf(old, next, told);
    return { changes, graph: changesGraph(old, next, changes) };
  }, [told, before, after]);
  if (before === after)
    return (
      <p className="m-0 text-ink-soft">
        {single
          ? "There is one version. Register the manifest under another one, and it is compared here."
          : "This is one and the same version: choose another."}
      </p>
    );
  return (
    <>
      {compared !== null && (
        <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)]">
          <Panel title="What differs" beside={countsOf(compared.changes)} flush>
            <ChangeList changes={compared.changes} selected={selected} onSelect={select} />
          </Panel>
          <Panel title="Both in one graph" flush>
            <Flow
              graph={compared.graph}
              label="Graph of both versions"
              height="30rem"
              selected={selected}
              onSelect={select}
            />
          </Panel>
        </div>
      )}
      <Panel title="As text" flush>
        <Difference language="yaml" before={before} after={after} />
      </Panel>
    </>
  );
}
