import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";

/** Tags or labels, one beside the other. */
export function Tags({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <span className="text-ink-faint">–</span>;
  return (
    <span className="flex min-w-0 flex-wrap gap-1">
      {of.map((tag) => (
        <Badge key={tag}>{inert(tag)}</Badge>
      ))}
    </span>
  );
}
