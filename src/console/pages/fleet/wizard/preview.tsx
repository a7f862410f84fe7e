/** Which hosts a target reaches now, in which waves, and which it leaves out and why. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Loading, Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { counted, skips } from "../words.ts";

type Preview = Schemas["FleetPreview"];

/** @param target null: there is none yet */
export function usePreview(target: object | null, policy: object | null) {
  return useQuery({
    queryKey: ["host", "list", "preview", target, policy],
    queryFn: () =>
      answer(svc.POST("/v1/edge/fleet/preview", { body: { target, ...(policy === null ? {} : { policy }) } })),
    enabled: target !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** Names that are shown of each part. */
const shownNames = 60;

export function TargetPreview({
  preview: { data, error, isPending, isEnabled },
  also = [],
  waves = false,
}: {
  readonly preview: ReturnType<typeof usePreview>;
  /** Ids of hosts that are reached as well. */
  readonly also?: readonly string[];
  readonly waves?: boolean;
}) {
  if (!isEnabled) return <p className="m-0 text-ink-soft">No host is chosen yet.</p>;
  if (error !== null) return <Trouble error={error} />;
  if (isPending || data === undefined) return <Loading lines={3} />;
  const known = new Set([...data.resolved, ...data.queued, ...data.skipped].map(({ node_id }) => node_id));
  const pinned = also.filter((id) => !known.has(id)).length;
  return (
    <div className="flex flex-col gap-4" aria-live="polite">
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        <Figure count={data.count} name="reached now" tone={data.count === 0 ? "text-warn" : "text-good"} />
        {data.queued.length > 0 && (
          <Figure count={data.queued.length} name="wait until they connect" tone="text-info" />
        )}
        <Figure count={data.skipped.length} name="left out" tone="text-ink-soft" />
        {pinned > 0 && <Figure count={pinned} name="pinned as well" tone="text-ink-soft" />}
      </div>
      {data.requires_approval && (
        <p className="m-0 flex items-center gap-2 rounded-control bg-violet-soft px-3 py-2 text-violet">
          <ShieldCheck aria-hidden className="size-4 shrink-0" />
          Another person has to approve this run before it starts.
        </p>
      )}
      {waves && data.waves.length > 1 ? <Waves preview={data} /> : <Names hosts={data.resolved} />}
      {data.queued.length > 0 && (
        <div>
          <h3 className="m-0 mb-1 font-medium text-ink-soft text-xs">Queued until they connect</h3>
          <Names hosts={data.queued} />
        </div>
      )}
      {data.skipped.length > 0 && (
        <details>
          <summary className="cursor-default text-ink-soft text-xs">
            {counted(data.skipped.length, "host")} left out
          </summary>
          <ul className="m-0 mt-2 flex max-h-64 list-none flex-col gap-1 overflow-auto p-0">
            {data.skipped.slice(0, 500).map(({ node_id: id, name, reason }) => (
              <li key={id} className="flex gap-2">
                <span className="min-w-0 flex-1 truncate">{inert(name)}</span>
                <span className="text-ink-soft text-xs">{skips[reason] ?? reason}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Figure({ count, name, tone }: { readonly count: number; readonly name: string; readonly tone: string }) {
  return (
    <div>
      <div className={`font-semibold text-2xl tabular-nums leading-7 ${tone}`}>{count.toLocaleString("en")}</div>
      <div className="text-ink-soft text-xs">{name}</div>
    </div>
  );
}

function Names({ hosts }: { readonly hosts: readonly { readonly node_id: string; readonly name: string }[] }) {
  return (
    <div className="flex flex-wrap gap-1">
      {hosts.slice(0, shownNames).map(({ node_id: id, name }) => (
        <Badge key={id}>{inert(name)}</Badge>
      ))}
      {hosts.length > shownNames && (
        <span className="text-ink-faint text-xs">and {(hosts.length - shownNames).toLocaleString("en")} more</span>
      )}
    </div>
  );
}

/** Waves that are shown one by one. */
const shownWaves = 40;

function Waves({ preview: { waves, resolved } }: { readonly preview: Preview }) {
  const nameOf = new Map(resolved.map(({ node_id: id, name }) => [id, name]));
  const most = Math.max(...waves.map((wave) => wave.length));
  return (
    <div>
      <h3 className="m-0 mb-2 font-medium text-ink-soft text-xs">
        {counted(waves.length, "wave")}, one after the other
      </h3>
      <ol className="m-0 flex max-h-96 list-none flex-col gap-1 overflow-auto p-0">
        {waves.slice(0, shownWaves).map((wave, index) => (
          <li key={wave[0] ?? index} className="flex items-center gap-2 text-xs">
            <span className="w-5 text-right text-ink-faint tabular-nums">{index + 1}</span>
            <span
              className="h-4 min-w-1 rounded bg-accent/50"
              style={{ width: `${Math.max(2, (wave.length / most) * 40)}%` }}
            />
            <span className="shrink-0 tabular-nums">{counted(wave.length, "host")}</span>
            <span className="min-w-0 flex-1 truncate text-ink-faint">
              {inert(
                wave
                  .slice(0, 4)
                  .map((id) => nameOf.get(id) ?? id)
                  .join(", "),
              )}
              {wave.length > 4 && " …"}
            </span>
          </li>
        ))}
        {waves.length > shownWaves && (
          <li className="text-ink-faint text-xs">and {waves.length - shownWaves} more waves</li>
        )}
      </ol>
    </div>
  );
}
