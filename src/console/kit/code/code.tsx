/** YAML and JSON to read and write; the editor is loaded when it is first needed. */
import { lazy, Suspense } from "react";
import { Loading } from "../page.tsx";
import type { EditorProps } from "./editor.tsx";

const Editor = lazy(() => import("./editor.tsx").then(({ Editor }) => ({ default: Editor })));
const Merge = lazy(() => import("./merge.tsx").then(({ Merge }) => ({ default: Merge })));

export function Code(props: EditorProps) {
  return (
    <Suspense fallback={<Loading lines={8} className="p-4" />}>
      <Editor {...props} />
    </Suspense>
  );
}

/** Two texts side by side with what differs marked. */
export function Difference(props: {
  readonly before: string;
  readonly after: string;
  readonly language: EditorProps["language"];
}) {
  return (
    <Suspense fallback={<Loading lines={8} className="p-4" />}>
      <Merge {...props} />
    </Suspense>
  );
}
