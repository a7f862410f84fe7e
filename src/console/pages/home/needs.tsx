/** What waits for the caller: approvals, what failed in the last day, deliveries and messages that could not be handled. */
import { useQuery } from "@tanstack/react-query";
import { CheckCircle2, MailX } from "lucide-react";
import type { ReactNode } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan, useMe } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { Badge, Status, type Tone } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Row } from "./row.tsx";

const shown = 5;
const dayMs = 86_400_000;
/** A day ago, by the minute: the same question is asked once. */
const dayAgo = () => new Date(Math.floor((Date.now() - dayMs) / 60_000) * 60_000).toISOString();

/** A count that says when there are more than were asked for. */
const countText = (count: number, most: number) => (count >= most ? `${most}+` : String(count));

export function Needs() {
  const can = useCan();
  const { operator } = useMe();
  const approvals = useQuery({
    queryKey: ["approval", "list", "waiting-count"],
    queryFn: () => answer(svc.GET("/v1/human-approvals", { params: { query: { limit: 100 } } })),
    enabled: can("approval:list"),
  });
  const failures = useQuery({
    queryKey: ["execution", "list", "home-failures"],
    queryFn: () =>
      answer(
        svc.GET("/v1/executions", {
          params: { query: { status: "failed,timed_out", started_after: dayAgo(), limit: 50 } },
        }),
      ),
    enabled: can("execution:list"),
  });
  const letters = useQuery({
    queryKey: ["dead-letter", "list", "home"],
    queryFn: () =>
      answer(svc.GET("/v1/admin/dead-letters", { params: { query: { limit: 50 } } })).then(({ items }) =>
        items.filter(({ replayed_at }) => replayed_at === null),
      ),
    enabled: operator,
    retry: false,
  });
  const asked = [approvals, failures, letters].filter(({ isEnabled }) => isEnabled);
  if (asked.length === 0) return null;
  const failed = asked.find(({ error }) => error !== null);
  if (failed !== undefined)
    return <Trouble title="What needs you" error={failed.error} retry={() => void failed.refetch()} />;
  if (asked.some(({ isPending }) => isPending))
    return (
      <Panel title="Needs you">
        <Loading lines={3} />
      </Panel>
    );
  const waiting = approvals.data?.items ?? [];
  const broken = failures.data?.items ?? [];
  const dead = letters.data ?? [];
  if (waiting.length + broken.length + dead.length === 0)
    return (
      <Panel title="Needs you">
        <p className="m-0 flex items-center gap-2 text-ink-soft">
          <CheckCircle2 aria-hidden className="size-4 shrink-0 text-good" />
          Nothing waits for you, and nothing failed in the last 24 hours.
        </p>
      </Panel>
    );
  return (
    <div className="grid min-w-0 grid-cols-1 items-start gap-4 lg:grid-cols-[repeat(auto-fit,minmax(24rem,1fr))]">
      {waiting.length > 0 && (
        <Group title="Wait for a decision" tone="violet" count={countText(waiting.length, 100)} to="/approvals">
          {waiting.slice(0, shown).map((one) => (
            <Row
              key={one.id}
              to={`/approvals/${one.id}`}
              sign={<Status status="waiting" label="" bare />}
              title={inert(one.prompt.slice(0, 200)) || "A decision"}
              about={inert(one.workflow_name ?? one.tool_call?.agent_name ?? one.kind.replaceAll("_", " "))}
              beside={<Ago at={one.created_at} />}
            />
          ))}
        </Group>
      )}
      {broken.length > 0 && (
        <Group
          title="Failed in the last 24 hours"
          tone="bad"
          count={countText(broken.length, 50)}
          to="/executions"
          search={{ status: "failed,timed_out", since: "24h" }}
        >
          {broken.slice(0, shown).map((one) => (
            <Row
              key={one.id}
              to={`/executions/${one.id}`}
              sign={<Status status={one.status} label="" bare />}
              title={inert(one.agent_name)}
              about={inert((one.error ?? one.error_code ?? "").slice(0, 200))}
              beside={<Ago at={one.ended_at ?? one.started_at} />}
            />
          ))}
        </Group>
      )}
      {dead.length > 0 && (
        <Group title="Dead letters" tone="warn" count={countText(dead.length, 50)} to="/admin/dead-letters">
          {dead.slice(0, shown).map((one) => (
            <Row
              key={one.id}
              to="/admin/dead-letters"
              sign={<MailX aria-hidden className="size-4 text-warn" />}
              title={inert(`${one.kind}: ${one.key}`)}
              about={inert(one.error.slice(0, 200))}
              beside={<Ago at={one.created_at} />}
            />
          ))}
        </Group>
      )}
    </div>
  );
}

function Group({
  title,
  tone,
  count,
  to,
  search,
  children,
}: {
  readonly title: string;
  readonly tone: Tone;
  readonly count: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}) {
  return (
    <Panel
      flush
      title={title}
      beside={<Badge tone={tone}>{count}</Badge>}
      actions={
        <ButtonLink small look="ghost" to={to as never} {...(search === undefined ? {} : { search: search as never })}>
          See all
        </ButtonLink>
      }
    >
      <ul className="m-0 list-none p-0">{children}</ul>
    </Panel>
  );
}
