/** One call of a tool: what was asked, what policy said, what became of it. */

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { TextLink } from "../../../kit/controls/link.tsx";
import { Facts, Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago, durationText } from "../../../kit/values/time.tsx";
import { ToolResult } from "../tool/tool-result.tsx";
import { toolLink } from "../words.ts";
import { entryWords } from "./calls.tsx";

/** No stream tells of the end of a call, ms. */
const readEveryMs = 2_000;
const isOpen = (outcome: string): boolean => outcome === "waiting" || outcome === "running";

export function CallPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const call = useQuery({
    queryKey: ["tool_call", "one", id],
    queryFn: () => answer(svc.GET("/v1/tool-invocations/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) =>
      state.data !== undefined && state.data.decision === "allow" && isOpen(state.data.outcome) ? readEveryMs : false,
  });
  if (call.data === undefined)
    return (
      <Page title="Call of a tool" about={<Copyable value={id} />}>
        {call.error === null ? <Loading lines={8} /> : <Trouble error={call.error} retry={() => void call.refetch()} />}
      </Page>
    );
  return <Shown call={call.data} />;
}

type Call = Schemas["ToolInvocationDetail"];

function Shown({ call: one }: { readonly call: Call }) {
  const { id, approval_id } = one;
  const isDenied = one.decision === "deny";
  return (
    <Page
      title={one.tool_name}
      beside={
        <>
          <Status status={isDenied ? "refused" : one.outcome} />
          {one.count > 1 && <Badge>{one.count} times within a minute</Badge>}
        </>
      }
      about={
        <>
          <TextLink to="/tools?tab=calls">Calls</TextLink>
          <TextLink to={toolLink(one.tool_name)}>The tool</TextLink>
          <Copyable value={id} short />
          <Ago at={one.started_at} />
          {one.duration_ms !== null && <span>took {durationText(one.duration_ms)}</span>}
        </>
      }
    >
      {isDenied && <Refusal call={one} />}
      {one.outcome === "waiting" && !isDenied && approval_id !== null && (
        <p className="m-0 rounded-panel border border-violet/40 bg-violet-soft p-3">
          It waits for a person: <TextLink to={`/approvals/${approval_id}`}>open the approval</TextLink>.
        </p>
      )}
      <div className="grid min-w-0 items-start gap-4 xl:grid-cols-2">
        <Panel title="Arguments">
          <Value value={one.arguments} open={4} />
          {one.edited_arguments !== null && (
            <>
              <h3 className="m-0 mt-4 mb-1 font-medium text-ink-soft text-xs">As a person changed them</h3>
              <Value value={one.edited_arguments} open={4} />
            </>
          )}
        </Panel>
        <Panel title="Result">
          {typeof one.result === "object" && one.result !== null ? (
            <ToolResult result={one.result as Record<string, unknown>} />
          ) : (
            <p className="m-0 text-ink-soft">
              {isDenied
                ? "It was not run."
                : isOpen(one.outcome)
                  ? "There is none yet."
                  : "None is kept: results are shown for 24 hours."}
            </p>
          )}
        </Panel>
      </div>
      <About call={one} />
    </Page>
  );
}

function Refusal({ call }: { readonly call: Call }) {
  const { violation_type, code, security_context: context, context_version, capability_index: index } = call;
  return (
    <div role="status" className="rounded-panel border border-bad/40 bg-bad-soft p-3">
      <p className="m-0 font-medium text-bad">
        Refused: {(violation_type ?? code ?? "").replaceAll("_", " ")}{" "}
        <code className="text-xs">{inert(code ?? "")}</code>
      </p>
      {context !== null && (
        <p className="mt-1 mb-0">
          Decided by <TextLink to={`/security-contexts/${context}`}>{inert(context)}</TextLink>
          {index === null ? "" : `, rule ${index + 1}`}, version {context_version}.
        </p>
      )}
    </div>
  );
}

function About({ call: one }: { readonly call: Call }) {
  const { security_context: context, capability_index: index, execution_id, session_id, approval_id } = one;
  const to = (path: string, id: string | null, more = "") =>
    id === null ? null : (
      <TextLink key={id} to={`${path}/${id}`}>
        …{id.slice(-8)}
        {more}
      </TextLink>
    );
  return (
    <Panel title="About">
      <Facts
        columns={2}
        of={[
          ["Came by", entryWords[one.entry] ?? one.entry],
          ["Code", one.code === null ? null : <code key="code">{inert(one.code)}</code>],
          [
            "Security context",
            context === null ? null : (
              <TextLink key="context" to={`/security-contexts/${context}`}>
                {inert(context)}, version {one.context_version}
                {index === null ? "" : `, rule ${index + 1}`}
              </TextLink>
            ),
          ],
          [
            "Execution",
            to("/executions", execution_id, one.iteration_number === null ? "" : `, iteration ${one.iteration_number}`),
          ],
          ["Session", to("/seal-sessions", session_id)],
          ["Approval", to("/approvals", approval_id)],
          ["Result", one.result_bytes === null ? null : `${one.result_bytes.toLocaleString("en")} bytes`],
          ["Request", one.request_id === null ? null : <Copyable key="request" value={one.request_id} />],
          [
            "Arguments' SHA-256",
            one.arguments_sha256 === null ? null : <Copyable key="sha" value={one.arguments_sha256} short />,
          ],
        ]}
      />
    </Panel>
  );
}
