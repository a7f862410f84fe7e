/** One session: whose key it vouches for, what it may call, what it called; and its end. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Ban } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { endSession } from "../../../programs/client/seal.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input } from "../../kit/controls/field.tsx";
import { TextLink } from "../../kit/controls/link.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { contextLink } from "../contexts/words.ts";
import { CallTable } from "../tools/calls/calls.tsx";
import { Holder, renewMs, type Session } from "./sessions.tsx";

export function SessionPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const session = useQuery({
    queryKey: ["seal_session", "one", id],
    queryFn: () => answer(svc.GET("/v1/seal/sessions/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.status === "active" ? renewMs : false),
  });
  if (session.data === undefined)
    return (
      <Page title="SEAL session" about={<Copyable value={id} />}>
        {session.error === null ? (
          <Loading lines={8} />
        ) : (
          <Trouble error={session.error} retry={() => void session.refetch()} />
        )}
      </Page>
    );
  // An id of an execution names all its sessions.
  const { sessions, ...newest } = session.data;
  const shown = sessions.find(({ session_id }) => session_id === id) ?? newest;
  return <Shown key={shown.session_id} session={shown} />;
}

const reasons: Readonly<Record<string, string>> = {
  execution_ended: "its execution ended",
  instance_ended: "its sandbox ended",
  revoked: "a person or program revoked it",
  superseded: "a sixth session of the same holder took its place",
  deleted: "its agent or tenant was deleted",
};

function Shown({ session }: { readonly session: Session }) {
  const can = useCan();
  const queries = useQueryClient();
  const [isAsked, ask] = useState(false);
  const [reason, setReason] = useState("");
  const { session_id: id, status, revoked_reason: why, opened_by: by, allowed_tool_patterns: patterns } = session;
  return (
    <Page
      title={`Session …${id.slice(-12)}`}
      beside={
        <>
          <Status status={status} />
          {session.detached && <Badge>detached</Badge>}
        </>
      }
      about={
        <>
          <TextLink to="/seal-sessions">SEAL sessions</TextLink>
          <Copyable value={id} />
          <span>
            opened <Ago at={session.created_at} />
          </span>
          {session.revoked_at === null ? (
            <span>
              {status === "expired" ? "ended" : "ends"} <Ago at={session.expires_at} />
            </span>
          ) : (
            <span>
              revoked <Ago at={session.revoked_at} />: {reasons[why ?? ""] ?? why}
            </span>
          )}
        </>
      }
      actions={
        can("seal:manage") &&
        status === "active" && (
          <Button look="danger" onClick={() => ask(true)}>
            <Ban aria-hidden />
            Revoke
          </Button>
        )
      }
    >
      <Panel title="About">
        <Facts
          columns={2}
          of={[
            ["Of", <Holder key="of" session={session} />],
            [
              "Opened by",
              by === null ? (
                "the sandbox of the execution"
              ) : (
                <span key="by" className="flex flex-wrap items-center gap-1.5">
                  {by.kind.replaceAll("_", " ")} <Copyable value={by.user_id} />
                  {by.key_id !== null && <Badge>by API key</Badge>}
                </span>
              ),
            ],
            [
              "Security context",
              <TextLink key="context" to={contextLink(session.security_context)}>
                {inert(session.security_context)}
              </TextLink>,
            ],
            [
              "Narrowed to",
              patterns === null ? (
                "all that the context opens"
              ) : (
                <span key="patterns" className="flex flex-wrap gap-1">
                  {patterns.map((pattern) => (
                    <Badge key={pattern}>{inert(pattern)}</Badge>
                  ))}
                </span>
              ),
            ],
            ["Calls", session.calls.toLocaleString("en")],
            ["Last call", <Ago key="used" at={session.last_used_at} />],
            [
              "Agent",
              session.detached ? null : (
                <TextLink key="agent" to={`/agents/${session.agent_id}`}>
                  …{session.agent_id.slice(-8)}
                </TextLink>
              ),
            ],
            [
              "Container",
              session.container_id === null ? null : <Copyable key="c" value={session.container_id} short />,
            ],
            ["Workload", session.workload_id === null ? null : <Copyable key="w" value={session.workload_id} />],
            ["Key", <Copyable key="key" value={session.public_key_fingerprint} short />],
          ]}
        />
      </Panel>
      {can("execution:read") && (
        <section className="flex min-w-0 flex-col gap-2">
          <h2 className="m-0 font-semibold text-[0.95rem]">Its calls</h2>
          <CallTable session={id} />
        </section>
      )}
      <Confirm
        open={isAsked}
        onClose={() => ask(false)}
        danger
        title="Revoke this session?"
        about="Its next call is refused, and calls of it that wait for a person are taken back. It is reported as an incident."
        verb="Revoke"
        onConfirm={async () => {
          await endSession(svc, id, reason.trim() || undefined);
          tell("Revoked");
          await queries.invalidateQueries({ queryKey: ["seal_session"] });
        }}
      >
        <Input label="Reason" value={reason} onChange={setReason} hint="Stands in the audit log." />
      </Confirm>
    </Page>
  );
}
