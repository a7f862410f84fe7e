/** `svc nodes`. */
import type { Command } from "commander";
import { answer, type Schemas } from "../../../client/client.ts";
import { addList } from "../../frame/list.ts";
import { addVerb } from "../../frame/verb.ts";
import type { Field } from "../../output/output.ts";
import { Failure } from "../../process/exit.ts";

const columns: readonly Field<Omit<Schemas["ClusterNode"], "grpc_address">>[] = [
  { name: "id", value: ({ node_id }) => node_id },
  { name: "status", value: ({ status }) => status, kind: "status" },
  { name: "role", value: ({ role }) => role },
  { name: "running", value: ({ capacity }) => `${capacity.running_executions}/${capacity.max_executions}` },
  { name: "version", value: ({ version }) => version },
  { name: "seen", value: ({ last_heartbeat_at }) => last_heartbeat_at, kind: "time" },
  { name: "host", value: ({ hostname }) => hostname },
  { name: "cores", value: ({ cpu_cores }) => cpu_cores },
  { name: "memory", value: ({ available_memory_gb }) => `${available_memory_gb} GB` },
  { name: "runtimes", value: ({ supported_runtimes }) => supported_runtimes },
  { name: "tags", value: ({ tags }) => tags },
  { name: "since", value: ({ registered_at }) => registered_at, kind: "time" },
];

export function nodes(group: Command): void {
  addList(group, {
    words: "list",
    alias: "ls",
    summary: "List the nodes of the service",
    page: async ({ client }) => answer((await client()).GET("/v1/cluster/nodes")),
    columns,
    usual: 7,
    empty: "No node is known.",
    live: "node",
    examples: [["svc nodes list --watch", "See one come and go"]],
  });
  addVerb(group, {
    words: "show <node>",
    summary: "Show one with all that is known of it",
    about: { node: "its id, or the name of its host" },
    examples: [["svc nodes show worker-1", "What it has"]],
    async run({ out, client }, [word]) {
      const { items } = await answer((await client()).GET("/v1/cluster/nodes"));
      const node = items.find(({ id, node_id, hostname }) => [id, node_id, hostname].includes(word));
      if (node === undefined)
        throw new Failure(
          "conflict",
          `There is no node ${word}`,
          "`svc nodes list` tells which there are.",
          "not_found",
        );
      await out.data(node);
      out.record(columns, node);
    },
  });
}
