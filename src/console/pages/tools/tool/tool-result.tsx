/** What a tool answered: texts and pictures of servers as such, everything else as a tree. */
import { CircleAlert } from "lucide-react";
import { Value } from "../../../kit/values/json.tsx";
import { Readable } from "../../../kit/values/readable.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
}

export function ToolResult({ result }: { readonly result: Readonly<Record<string, unknown>> }) {
  const { content, structuredContent, isError, error, code, ...rest } = result;
  const parts = Array.isArray(content) ? (content as readonly Part[]) : null;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {isError === true && (
        <p role="alert" className="m-0 flex items-start gap-2 rounded-control bg-bad-soft p-2.5 text-bad">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 break-words">
            {typeof error === "string" ? inert(error) : "The tool says that it failed."}
            {typeof code === "string" && <code className="ml-2 text-xs">{inert(code)}</code>}
          </span>
        </p>
      )}
      {parts === null ? (
        isError === true ? (
          Object.keys(rest).length > 0 && <Value value={rest} open={2} />
        ) : (
          <Value value={result} open={3} />
        )
      ) : (
        parts.map((part, place) => (
          // The parts of one answer stand where they stand.
          <PartView key={String(place)} part={part} />
        ))
      )}
      {structuredContent !== undefined && (
        <div>
          <h3 className="m-0 mb-1 font-medium text-ink-soft text-xs">Structured</h3>
          <Value value={structuredContent} open={3} />
        </div>
      )}
    </div>
  );
}

/** Pictures that browsers draw without running anything. */
const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function PartView({ part }: { readonly part: Part }) {
  const { type, text, data, mimeType } = part;
  if (type === "text" && typeof text === "string") return <Readable text={text} />;
  if (type === "image" && typeof data === "string" && typeof mimeType === "string" && pictures.has(mimeType))
    return (
      <img
        src={`data:${mimeType};base64,${data}`}
        alt="What the tool answered"
        className="max-h-80 max-w-full self-start rounded-control border border-line"
      />
    );
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {typeof type === "string" && <Badge>{inert(type)}</Badge>}
      <Value value={part} open={2} />
    </div>
  );
}
