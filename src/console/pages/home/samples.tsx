/** Something to begin with: an agent, a workflow and a webhook, each set to work by one click. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Bot, ChevronRight, LoaderCircle, Play, Webhook, Workflow } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { Lines } from "../../kit/values/text.tsx";
import { type Sample, startSample } from "./starting.ts";

const signs = { agent: Bot, workflow: Workflow, webhook: Webhook } as const;
const needed: Readonly<Record<Sample["kind"], readonly string[]>> = {
  agent: ["agent:deploy", "agent:execute"],
  workflow: ["agent:deploy", "workflow:deploy", "workflow:run"],
  webhook: ["workflow:deploy", "stimulus:manage", "stimulus:ingest"],
};

/** @param open false: only a line that opens them */
export function Samples({ open }: { readonly open: boolean }) {
  const can = useCan();
  const [isOpen, setOpen] = useState(open);
  const isAllowed = can("agent:deploy");
  const samples = useQuery({
    queryKey: ["samples"],
    queryFn: () => answer(svc.GET("/v1/samples")),
    enabled: isAllowed && isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!isAllowed) return null;
  if (!isOpen)
    return (
      <Button look="ghost" className="self-start" onClick={() => setOpen(true)}>
        <ChevronRight aria-hidden />
        Show the samples
      </Button>
    );
  return (
    <Panel title="Begin with a sample">
      {samples.error !== null ? (
        <Trouble error={samples.error} retry={() => void samples.refetch()} />
      ) : samples.data === undefined ? (
        <Loading />
      ) : (
        <ul className="m-0 grid list-none grid-cols-1 gap-3 p-0 lg:grid-cols-3">
          {samples.data.items.map((sample) => (
            <Card key={sample.id} sample={sample} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** A sentence whose names stand between backticks. */
function Said({ text }: { readonly text: string }) {
  const [, before = text, name, after = ""] = /^([^`]*)`([^`]*)`(.*)$/s.exec(text) ?? [];
  return (
    <>
      {before}
      {name !== undefined && <code>{name}</code>}
      {after !== "" && <Said text={after} />}
    </>
  );
}

function Card({ sample }: { readonly sample: Sample }) {
  const navigate = useNavigate();
  const can = useCan();
  const [step, setStep] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isShown, setShown] = useState(false);
  const Sign = signs[sample.kind];
  const start = async () => {
    setError(null);
    try {
      const page = await startSample(sample, setStep);
      await navigate({ to: page as never });
    } catch (failure) {
      setError(failure);
    } finally {
      setStep(null);
    }
  };
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-panel border border-line p-4">
      <div className="flex items-center gap-2.5">
        <span className="flex size-8 shrink-0 items-center justify-center rounded-control bg-hover text-accent">
          <Sign aria-hidden className="size-4.5" />
        </span>
        <h3 className="m-0 font-medium">{sample.title}</h3>
      </div>
      <p className="m-0 flex-1 text-ink-soft">
        <Said text={sample.description} />
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {needed[sample.kind].every((scope) => can(scope)) && (
          <Button
            look="primary"
            busy={step !== null}
            onClick={() => void start()}
            aria-label={`Run it: ${sample.title}`}
          >
            {step === null && <Play aria-hidden />}
            Run it
          </Button>
        )}
        <Button look="ghost" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? "Hide" : "Show"} the manifest
        </Button>
      </div>
      {step !== null && (
        <p role="status" className="m-0 flex items-center gap-1.5 text-ink-soft text-xs">
          <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
          {step} …
        </p>
      )}
      {error !== null && <Trouble error={error} />}
      {isShown && sample.manifests.map(({ name, yaml }) => <Lines key={name} text={yaml} wrap={false} />)}
    </li>
  );
}
