/** Tools that changed, or are new, since a person accepted the server's list: compared, and accepted. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, ShieldAlert } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Difference } from "../../../kit/code/code.tsx";
import { Button } from "../../../kit/controls/button.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Loading, Panel, Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { SchemaTable } from "../tool/schema-table.tsx";
import type { Server, ServerTool } from "../words.ts";

/** Differences are open at first where there are no more. */
const openAtFirst = 2;

export function Withheld({ server, mayAccept }: { readonly server: Server; readonly mayAccept: boolean }) {
  const queries = useQueryClient();
  const [asked, ask] = useState<readonly string[] | null>(null);
  const { name, withheld_tools: withheld, version } = server;
  const tools = useQuery({
    queryKey: ["tool_server", "one", name, "tools", server.tools_count, withheld, version],
    queryFn: () => answer(svc.GET("/v1/tool-servers/{name}/tools", { params: { path: { name } } })),
  });
  const waiting = tools.data?.items.filter((tool) => tool.withheld) ?? [];
  // A tool that the definition hides is withheld too, and not shown.
  const names = waiting.map((tool) => tool.name);
  return (
    <Panel
      flush
      title="Waits for acceptance"
      beside={<Badge tone="warn">{withheld.length}</Badge>}
      actions={
        mayAccept && (
          <Button small look="primary" disabled={tools.data === undefined} onClick={() => ask(names)}>
            <Check aria-hidden />
            {withheld.length === 1 ? "Accept it" : `Accept all ${withheld.length}`}
          </Button>
        )
      }
    >
      <p className="m-0 flex items-start gap-2 px-4 pt-3 text-ink-soft text-xs">
        <ShieldAlert aria-hidden className="mt-px size-4 shrink-0 text-warn" />
        The server describes these tools otherwise than when its list was accepted. A description is read by models: a
        changed one can make them do something else. Until they are accepted they are not offered, and calls fail with
        tool_changed.
      </p>
      {tools.data === undefined ? (
        tools.error === null ? (
          <Loading className="p-4" />
        ) : (
          <div className="p-4">
            <Trouble error={tools.error} retry={() => void tools.refetch()} />
          </div>
        )
      ) : (
        <ul className="m-0 list-none divide-y divide-line p-0">
          {waiting.map((tool) => (
            <li key={tool.name} className="px-4 py-3">
              <Changed
                tool={tool}
                open={waiting.length <= openAtFirst}
                onAccept={mayAccept && waiting.length > 1 ? () => ask([tool.name]) : null}
              />
            </li>
          ))}
        </ul>
      )}
      <Confirm
        open={asked !== null}
        onClose={() => ask(null)}
        title={asked?.length === 1 ? `Accept ${asked[0]}?` : `Accept ${asked?.length ?? 0} tools?`}
        about="They are offered as they are described now, in every agent that may call them."
        verb="Accept"
        onConfirm={async () => {
          const body = { tools: [...(asked ?? [])] };
          await answer(svc.POST("/v1/tool-servers/{name}/accept", { params: { path: { name } }, body }));
          tell("Accepted");
          await queries.invalidateQueries({ queryKey: ["tool_server"] });
        }}
      />
    </Panel>
  );
}

function Changed({
  tool,
  open,
  onAccept,
}: {
  readonly tool: ServerTool;
  readonly open: boolean;
  readonly onAccept: (() => void) | null;
}) {
  return (
    <details open={open}>
      <summary className="cursor-pointer">
        <span className="inline-flex flex-wrap items-center gap-2 align-middle">
          <code className="font-medium text-xs">{inert(tool.name)}</code>
          <Badge tone={tool.is_new ? "info" : "warn"}>{tool.is_new ? "new" : "changed"}</Badge>
          {onAccept !== null && (
            <Button
              small
              onClick={(event) => {
                event.preventDefault();
                onAccept();
              }}
            >
              Accept this one
            </Button>
          )}
        </span>
      </summary>
      <div className="mt-3 min-w-0">
        {tool.accepted !== null ? (
          <>
            <p className="m-0 mb-1 grid grid-cols-2 text-ink-soft text-xs">
              <span>As it was accepted</span>
              <span>As it is now</span>
            </p>
            <div className="overflow-hidden rounded-control border border-line">
              <Difference before={textOf(tool.accepted)} after={textOf(nowOf(tool))} language="json" />
            </div>
          </>
        ) : (
          <div className="flex flex-col gap-2">
            {!tool.is_new && (
              <p className="m-0 text-ink-soft text-xs">What it was when it was accepted is not known any more.</p>
            )}
            <p dir="auto" className="m-0 max-w-prose whitespace-pre-wrap break-words">
              {inert(tool.description)}
            </p>
            <SchemaTable schema={tool.input_schema} />
          </div>
        )}
      </div>
    </details>
  );
}

type Definition = NonNullable<ServerTool["accepted"]>;

const nowOf = ({ description, input_schema, outputSchema, annotations }: ServerTool): Definition => ({
  description,
  input_schema,
  output_schema: outputSchema ?? null,
  annotations,
});

/** The same text for the same definition: members stand in one order. */
function textOf({ description, input_schema, output_schema, annotations }: Definition): string {
  const whole = { description, annotations, input_schema, ...(output_schema === null ? {} : { output_schema }) };
  return inert(JSON.stringify(sorted(whole), null, 2));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
