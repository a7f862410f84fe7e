/** States and the ways between them as a graph; drawn by a library that is loaded when the first graph is shown. */
import { lazy, Suspense } from "react";
import { Loading } from "../page.tsx";
import type { FlowProps } from "./graph.ts";

const Canvas = lazy(() => import("./canvas.tsx").then(({ Canvas }) => ({ default: Canvas })));

export function Flow(props: FlowProps) {
  return (
    <Suspense
      fallback={
        <div style={{ height: props.height }}>
          <Loading lines={6} className="p-4" />
        </div>
      }
    >
      <Canvas {...props} />
    </Suspense>
  );
}
