/** What a server writes to its standard error, of all nodes. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { Select, Switch } from "../../../kit/controls/field.tsx";
import { Empty, Loading, Panel, Trouble } from "../../../kit/page.tsx";
import { inert } from "../../../kit/values/text.tsx";

/** No stream tells of the lines, ms. */
const readEveryMs = 2_000;

export function Logs({ name }: { readonly name: string }) {
  const [follows, follow] = useState(true);
  const [node, setNode] = useState("");
  const box = useRef<HTMLOListElement>(null);
  const logs = useQuery({
    queryKey: ["tool_server", "one", name, "logs"],
    queryFn: () =>
      answer(svc.GET("/v1/tool-servers/{name}/logs", { params: { path: { name }, query: { limit: 1_000 } } })),
    refetchInterval: follows ? readEveryMs : false,
  });
  const all = logs.data?.items ?? [];
  const nodes = [...new Set(all.map(({ node_id }) => node_id))];
  const lines = all.filter(({ node_id }) => node === "" || node_id === node);
  const last = lines.at(-1);
  const mark = `${lines.length} ${last?.at ?? ""}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines move the view to the end
  useEffect(() => {
    if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [mark, follows]);
  if (logs.data === undefined)
    return logs.error === null ? (
      <Loading lines={8} />
    ) : (
      <Trouble error={logs.error} retry={() => void logs.refetch()} />
    );
  return (
    <Panel
      flush
      title="Standard error"
      actions={
        <>
          {nodes.length > 1 && (
            <Select
              quiet
              label="Node"
              value={node}
              onChange={setNode}
              choices={[
                { value: "", label: "All nodes" },
                ...nodes.map((id) => ({ value: id, label: `node …${id.slice(-6)}` })),
              ]}
            />
          )}
          <Switch label="Follow" checked={follows} onChange={follow} />
        </>
      }
    >
      {lines.length === 0 ? (
        <Empty title="It has written nothing">
          The last 1,000 lines of its standard error stand here, and what the service says of it.
        </Empty>
      ) : (
        <ol
          ref={box}
          aria-label="Lines"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
          tabIndex={0}
          className="m-0 max-h-[60dvh] list-none overflow-auto bg-sunken p-0 py-2 font-mono text-xs leading-5"
        >
          {lines.map(({ at, node_id, line }, place) => (
            // Lines stand where they stand.
            <li key={`${at} ${node_id} ${String(place)}`} className="flex gap-3 px-4 hover:bg-hover">
              <time dateTime={at} title={`${at}, node ${node_id}`} className="shrink-0 select-none text-ink-faint">
                {at.slice(11, 23)}
              </time>
              <span
                dir="auto"
                className={`min-w-0 whitespace-pre-wrap break-all ${line.startsWith("[svc] ") ? "text-info" : ""}`}
              >
                {inert(line)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
