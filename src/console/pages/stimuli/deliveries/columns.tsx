/** Deliveries as rows. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../../../programs/client/client.ts";
import type { Column } from "../../../kit/table.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { sizeText } from "../words.ts";

/** Characters of the content in a row. */
const glimpse = 160;

export const deliveryColumns: readonly Column<Schemas["StimulusElement"]>[] = [
  {
    id: "source",
    title: "Source",
    width: "minmax(7rem, 1fr)",
    cell: ({ source, channel }) => (
      <span className="flex min-w-0 items-center gap-1.5">
        <span className="truncate font-medium">{inert(source)}</span>
        {channel !== "webhook" && <Badge>{channel}</Badge>}
      </span>
    ),
  },
  {
    id: "status",
    title: "Status",
    width: "minmax(9rem, 12rem)",
    cell: ({ status, dead_letter: isDead, replayed_by: replay }) => (
      <span className="flex items-center gap-1.5">
        <Status status={status} bare />
        {isDead && <Badge tone="bad">dead letter</Badge>}
        {replay !== null && <Badge tone="good">replayed</Badge>}
      </span>
    ),
  },
  {
    id: "classification",
    title: "Workflow",
    width: "minmax(8rem, 1.2fr)",
    wide: true,
    cell: (row) => <Chosen of={row} />,
  },
  {
    id: "content",
    title: "Content",
    width: "minmax(10rem, 2fr)",
    wide: true,
    cell: ({ content, content_encoding: encoding, content_size: size }) => (
      <bdi className="font-mono text-ink-soft text-xs">
        {encoding === "utf-8" ? inert(content.slice(0, glimpse).replace(/\s+/g, " ")) : `binary, ${sizeText(size)}`}
      </bdi>
    ),
  },
  {
    id: "run",
    title: "Run",
    width: "7.5rem",
    wide: true,
    cell: ({ workflow_execution_id: run, taken_by: taken }) => {
      const first = run ?? taken[0];
      if (first === undefined) return <span className="text-ink-faint">–</span>;
      return (
        <Link to={`/runs/${first}`} className="font-mono text-accent text-xs hover:underline">
          {first.slice(-8)}
          {run === null && taken.length > 1 && ` +${taken.length - 1}`}
        </Link>
      );
    },
  },
  { id: "time", title: "Received", width: "6rem", cell: ({ received_at: at }) => <Ago at={at} /> },
  {
    id: "size",
    title: "Size",
    width: "6rem",
    right: true,
    extra: true,
    cell: ({ content_size: size }) => sizeText(size),
  },
  {
    id: "duplicates",
    title: "Repeats",
    width: "5rem",
    right: true,
    extra: true,
    cell: ({ duplicate_count: count }) => count,
  },
  { id: "attempts", title: "Attempts", width: "5rem", right: true, extra: true, cell: ({ attempts }) => attempts },
  {
    id: "key",
    title: "Idempotency key",
    width: "minmax(8rem, 1fr)",
    extra: true,
    cell: ({ idempotency_key: key }) => (key === null ? "–" : inert(key)),
  },
  { id: "id", title: "Id", width: "10rem", extra: true, cell: ({ id }) => <Copyable value={id} short /> },
];

function Chosen({ of }: { readonly of: Schemas["StimulusElement"] }) {
  if (of.classification !== null)
    return (
      <span className="flex min-w-0 items-center gap-1.5">
        <span className="truncate">{inert(of.classification)}</span>
        {of.routing_mode === "llm_classified" && of.confidence !== null && (
          <Badge title="How sure the router was">{Math.round(of.confidence * 100)} %</Badge>
        )}
      </span>
    );
  if (of.taken_by.length > 0) return <span className="text-ink-soft">taken by a run that waited</span>;
  if (of.error_code !== null) return <code className="text-bad">{of.error_code}</code>;
  return <span className="text-ink-faint">–</span>;
}
