/** Values of the service: text as text, JSON as a tree that opens. */
import { lazy, Suspense } from "react";
import { Lines } from "./text.tsx";

const Tree = lazy(() => import("./json-tree.tsx").then(({ JsonTree }) => ({ default: JsonTree })));

/** Larger values are shown as text: a tree of them is slow, characters of JSON. */
const largestTree = 300_000;

/** @param open levels that are open at first */
export function Value({ value, open = 2 }: { readonly value: unknown; readonly open?: number }) {
  if (value === null || value === undefined) return <span className="text-ink-faint">none</span>;
  if (typeof value === "string") return <Lines text={value} />;
  if (typeof value !== "object") return <code>{String(value)}</code>;
  const text = JSON.stringify(value, null, 2);
  if (text.length > largestTree) return <Lines text={text} />;
  return (
    <Suspense fallback={<Lines text={text} />}>
      <Tree value={value} open={open} />
    </Suspense>
  );
}
