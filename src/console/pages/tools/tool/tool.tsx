/** One tool: what it does, what it takes, a form that calls it, and how its calls went. */

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useCan } from "../../../app/session/session.ts";
import { useFilters } from "../../../kit/controls/filters.tsx";
import { TextLink } from "../../../kit/controls/link.tsx";
import { Tabs } from "../../../kit/controls/tabs.tsx";
import { Empty, Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { CallTable } from "../calls/calls.tsx";
import type { Tool } from "../words.ts";
import { Source } from "./all-tools.tsx";
import { Annotations } from "./annotations.tsx";
import { toolQuery } from "./query.ts";
import { SchemaTable } from "./schema-table.tsx";
import { TryOut } from "./try-out.tsx";

export function ToolPage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const tool = useQuery(toolQuery(name));
  const back = <TextLink to="/tools">Tools</TextLink>;
  if (tool.data === undefined)
    return (
      <Page title={name} about={back}>
        {tool.error === null ? <Loading lines={8} /> : <Trouble error={tool.error} retry={() => void tool.refetch()} />}
      </Page>
    );
  if (tool.data === null)
    return (
      <Page title={name} about={back}>
        <Empty title="There is no such tool now">
          Its server may be disabled or not yet connected, or withhold it until a person accepts a change.
        </Empty>
      </Page>
    );
  return <Shown key={tool.data.name} tool={tool.data} />;
}

function Shown({ tool }: { readonly tool: Tool }) {
  const can = useCan();
  const [{ tab = "try" }, change] = useFilters();
  const { name, aliases, description } = tool;
  const isCalls = tab === "calls" && can("execution:read");
  const about = (
    <div className="grid min-w-0 items-start gap-4 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title="What it does">
          <p dir="auto" className="m-0 max-w-prose whitespace-pre-wrap break-words leading-6">
            {description === "" ? <span className="text-ink-faint">It does not say.</span> : inert(description)}
          </p>
          {tool.source === "mcp" && (
            <p className="mt-2 mb-0 text-ink-faint text-xs">
              These are the words of its server, as are the signs beside its name.
            </p>
          )}
        </Panel>
        <Panel title="What it takes">
          <SchemaTable schema={tool.input_schema} />
        </Panel>
        {tool.outputSchema !== undefined && (
          <Panel title="What it answers">
            <SchemaTable schema={tool.outputSchema} />
          </Panel>
        )}
      </div>
      {can("agent:execute") ? (
        <TryOut tool={tool} />
      ) : (
        <Panel title="From a terminal">
          <p className="m-0 mb-2 text-ink-soft">Calling tools needs the right agent:execute.</p>
          <Cli args={`tools call ${name}`} />
        </Panel>
      )}
    </div>
  );
  return (
    <Page
      title={name}
      beside={
        <>
          <Annotations of={tool.annotations} />
          {tool.fleetCapable === true && <Badge title="Edge hosts have it, too">edge</Badge>}
        </>
      }
      about={
        <>
          <TextLink to="/tools?tab=all">Tools</TextLink>
          <Source tool={tool} />
          {aliases.length > 0 && (
            <span className="flex flex-wrap items-center gap-1">
              also{" "}
              {aliases.map((alias) => (
                <Copyable key={alias} value={alias} />
              ))}
            </span>
          )}
        </>
      }
    >
      {can("execution:read") ? (
        <Tabs
          chosen={isCalls ? "calls" : "try"}
          onChoose={(id) => change({ tab: id === "try" ? "" : id, outcome: "", decision: "" })}
          tabs={[
            { id: "try", label: can("agent:execute") ? "Try it" : "About", content: about },
            { id: "calls", label: "Calls", content: <CallTable tool={name} /> },
          ]}
        />
      ) : (
        about
      )}
    </Page>
  );
}
