/** One execution: what it waits for, what went in and came out, and everything that happened in between. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { classes } from "../../kit/controls/classes.ts";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Empty, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable } from "../../kit/values/text.tsx";
import { ExecutionActions, isLive } from "./actions.tsx";
import { Children } from "./children.tsx";
import { ConsoleOutput } from "./console.tsx";
import { Conversation } from "./conversation.tsx";
import { Details, Figures, Origin } from "./facts.tsx";
import { Files } from "./files.tsx";
import type { SpanKind } from "./span.ts";
import { SpanPanel } from "./span-panel.tsx";
import { type Told, useStory } from "./use-story.ts";
import { CutOff, Standing } from "./waiting.tsx";
import { Waterfall } from "./waterfall.tsx";

export function Execution() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  return <One key={id} id={id} />;
}

function One({ id }: { readonly id: string }) {
  const told = useStory(id);
  const record = useQuery({
    queryKey: ["execution", "one", id],
    queryFn: () => answer(svc.GET("/v1/executions/{id}", { params: { path: { id } } })),
  });
  if (record.data === undefined)
    return (
      <Page title="Execution" about={<Copyable value={id} />}>
        {record.error === null ? (
          <Loading lines={8} />
        ) : (
          <Trouble error={record.error} retry={() => void record.refetch()} />
        )}
      </Page>
    );
  return <Shown record={record.data} told={told} />;
}

function Shown({ record, told }: { readonly record: Schemas["ExecutionRecord"]; readonly told: Told }) {
  const { story, version, connection, hasGap } = told;
  const [{ tab = "timeline" }, change] = useFilters();
  const live = isLive(record.status);
  const hasChildren = story.spans.some(({ kind }) => kind === "child");
  return (
    <Page
      title={record.agent_name}
      beside={<Status status={record.waiting_for === null ? record.status : "waiting"} />}
      about={<Origin record={record} />}
      actions={<ExecutionActions record={record} />}
    >
      {live && <CutOff connection={connection} />}
      <Standing record={record} now={story.now()} />
      <Figures record={record} />
      <InAndOut record={record} />
      {hasGap && (
        <Trouble error={new Error("Some events of this execution are no longer kept: the timeline has a hole.")} />
      )}
      <Tabs
        chosen={tab}
        onChoose={(next) => change({ tab: next === "timeline" ? "" : next })}
        tabs={[
          {
            id: "timeline",
            label: "Timeline",
            beside: <Badge>{story.spans.length.toLocaleString("en")}</Badge>,
            content: <Timeline told={told} />,
          },
          {
            id: "console",
            label: "Console",
            content: (
              <Panel flush>
                <ConsoleOutput story={story} version={version} />
              </Panel>
            ),
          },
          {
            id: "conversation",
            label: "Conversation",
            beside: story.turns.length > 0 && <Badge>{story.turns.length}</Badge>,
            content: (
              <Panel flush>
                <Conversation story={story} />
              </Panel>
            ),
          },
          {
            id: "files",
            label: "Files",
            content: (
              <Panel flush>
                <Files id={record.id} isOver={!live} />
              </Panel>
            ),
          },
          ...(hasChildren ? [{ id: "children", label: "Children", content: <Children id={record.id} /> }] : []),
          {
            id: "details",
            label: "Details",
            content: (
              <Panel>
                <Details record={record} />
              </Panel>
            ),
          },
          { id: "json", label: "JSON", content: <Value value={record} /> },
        ]}
      />
    </Page>
  );
}

function InAndOut({ record }: { readonly record: Schemas["ExecutionRecord"] }) {
  return (
    <div className="grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-2">
      <Panel title="Input">
        <div className="max-h-72 overflow-auto">
          <Value value={record.input} />
        </div>
      </Panel>
      <Panel title="Output">
        <div className="max-h-72 overflow-auto">
          {record.output !== null ? (
            <Value value={parsed(record.output)} />
          ) : (
            <span className="text-ink-faint">
              {isLive(record.status) ? "It comes when the execution has ended." : "It ended without an output."}
            </span>
          )}
        </div>
      </Panel>
    </div>
  );
}

/** An output that is an object or a list in JSON is shown as one. */
function parsed(output: string): unknown {
  if (!/^\s*[[{]/.test(output)) return output;
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}

const kindNames: readonly (readonly [SpanKind, string])[] = [
  ["model", "Model"],
  ["tool", "Tools"],
  ["judge", "Judges"],
  ["child", "Children"],
  ["sandbox", "Sandbox"],
  ["note", "Notes"],
];

function Timeline({ told: { story, version, connection } }: { readonly told: Told }) {
  const can = useCan();
  const [{ step = null }, change] = useFilters();
  const [hidden, hide] = useState<ReadonlySet<SpanKind>>(new Set());
  const kinds = useMemo(
    () =>
      new Set<SpanKind>([
        "iteration",
        "handler",
        ...kindNames.map(([kind]) => kind).filter((kind) => !hidden.has(kind)),
      ]),
    [hidden],
  );
  if (!can("execution:stream"))
    return (
      <Panel>
        <Empty title="The events are not shown to you">
          They need the scope <code>execution:stream</code>. The iterations stand in the JSON of the record.
        </Empty>
      </Panel>
    );
  if (story.spans.length === 0)
    return <Panel>{connection === "ended" || story.isOver ? <Empty title="Nothing happened" /> : <Loading />}</Panel>;
  const chosen = story.spans.find(({ id }) => id === step) ?? null;
  const present = new Set(story.spans.map(({ kind }) => kind));
  const toggle = (kind: SpanKind) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    hide(next);
  };
  return (
    <Panel flush>
      <div className="flex flex-wrap items-center gap-1.5 border-line border-b px-4 py-2 text-xs">
        {kindNames
          .filter(([kind]) => present.has(kind))
          .map(([kind, name]) => (
            <button
              type="button"
              key={kind}
              aria-pressed={!hidden.has(kind)}
              onClick={() => toggle(kind)}
              className={classes(
                "rounded-full border px-2.5 py-0.5",
                hidden.has(kind) ? "border-line text-ink-faint line-through" : "border-line-strong text-ink-soft",
              )}
            >
              {name}
            </button>
          ))}
        <span className="ml-auto text-ink-faint">{story.count.toLocaleString("en")} events</span>
      </div>
      <Waterfall
        story={story}
        version={version}
        kinds={kinds}
        chosen={step}
        onChoose={(id) => change({ step: id === step ? "" : id })}
      />
      {chosen === null ? (
        <p className="m-0 border-line border-t px-4 py-2 text-ink-faint text-xs">
          Choose a step to see its input, output and error. Arrow keys move.
        </p>
      ) : (
        <SpanPanel span={chosen} first={story.spans[0]?.start ?? chosen.start} onClose={() => change({ step: "" })} />
      )}
    </Panel>
  );
}
