/** One delivery: who sent it, what it said, how it was routed and why, and what it started. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Pencil, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Input } from "../../../kit/controls/field.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell } from "../../../kit/dialogs/toast.tsx";
import { Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { sizeText } from "../words.ts";
import { Content } from "./content.tsx";
import { ReplayDialog } from "./replay.tsx";
import { Arrival, Became, Routing } from "./story.tsx";

type Stimulus = Schemas["Stimulus"];

export function StimulusPage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["stimulus", "one", id],
    queryFn: () => answer(svc.GET("/v1/stimuli/{id}", { params: { path: { id } } })),
  });
  if (data === undefined)
    return (
      <Page title="Stimulus">
        {error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}
      </Page>
    );
  return <Shown key={id} of={data} />;
}

function Shown({ of }: { readonly of: Stimulus }) {
  const can = useCan();
  const queries = useQueryClient();
  const [replay, setReplay] = useState<"as it came" | "edited" | null>(null);
  const [isDiscarding, setDiscarding] = useState(false);
  const [reason, setReason] = useState("");
  const isSettled = of.status !== "received";
  const isText = of.content_encoding === "utf-8";
  return (
    <Page
      title={`Stimulus of ${of.source}`}
      beside={
        <>
          <Status status={of.status} />
          {of.dead_letter && <Badge tone="bad">dead letter</Badge>}
        </>
      }
      about={
        <>
          <Copyable value={of.id} />
          <span>
            received <Ago at={of.received_at} />
          </span>
          <span>
            {of.channel}, {sizeText(of.content_size)}
          </span>
          {of.replay_of !== null && (
            <Link to={`/stimuli/${of.replay_of}`} className="text-accent hover:underline">
              replay of …{of.replay_of.slice(-8)}
            </Link>
          )}
          {of.replayed_by !== null && (
            <Link to={`/stimuli/${of.replayed_by}`} className="text-accent hover:underline">
              replayed as …{of.replayed_by.slice(-8)}
            </Link>
          )}
        </>
      }
      actions={
        can("stimulus:manage") && (
          <>
            {of.dead_letter && (
              <Button look="danger" onClick={() => setDiscarding(true)}>
                <Trash2 aria-hidden />
                Discard
              </Button>
            )}
            {isSettled && isText && (
              <Button onClick={() => setReplay("edited")}>
                <Pencil aria-hidden />
                Edit and replay
              </Button>
            )}
            {isSettled && (
              <Button look={of.dead_letter ? "primary" : "plain"} onClick={() => setReplay("as it came")}>
                <RotateCcw aria-hidden />
                Replay
              </Button>
            )}
          </>
        )
      }
    >
      <Became of={of} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Arrival of={of} />
        <Routing of={of} />
      </div>
      <Content of={of} />
      <Headers of={of} />
      {replay !== null && <ReplayDialog of={of} isEdited={replay === "edited"} onClose={() => setReplay(null)} />}
      <Confirm
        open={isDiscarding}
        onClose={() => setDiscarding(false)}
        title="Discard this dead letter?"
        about="It leaves the dead letters and keeps its record. It can be replayed by force later."
        verb="Discard"
        danger
        onConfirm={async () => {
          const body = reason.trim() === "" ? {} : { reason: reason.trim() };
          await svc.POST("/v1/stimuli/{id}/discard", { params: { path: { id: of.id } }, body });
          await queries.invalidateQueries({ queryKey: ["stimulus"] });
          tell("Discarded");
        }}
      >
        <Input label="Why (optional)" value={reason} onChange={setReason} />
      </Confirm>
    </Page>
  );
}

function Headers({ of }: { readonly of: Stimulus }) {
  const headers = Object.entries(of.headers);
  return (
    <Panel
      title="Headers"
      beside={
        <>
          <Badge>{headers.length}</Badge>
          {of.headers_truncated && <Badge tone="warn">there were more: these are the kept ones</Badge>}
        </>
      }
    >
      {headers.length === 0 ? (
        <p className="m-0 text-ink-soft">
          {of.channel === "api" ? "A call of the API hands none on." : "None was handed on."}
        </p>
      ) : (
        <dl className="m-0 flex flex-col gap-1">
          {headers.map(([name, value]) => (
            <div key={name} className="flex min-w-0 flex-wrap gap-x-4 sm:flex-nowrap">
              <dt className="w-56 shrink-0 break-all font-mono text-ink-soft text-xs">{inert(name)}</dt>
              <dd dir="auto" className="m-0 min-w-0 break-all font-mono text-xs">
                {inert(value)}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <p className="mt-3 mb-0 text-ink-faint text-xs">
        Signatures, tokens and cookies are never kept; a source may hand on fewer headers.
      </p>
    </Panel>
  );
}
