/** A whole node whose hosts are told by a test what daemons would tell them. */
import { Type } from "@sinclair/typebox";
import { edgeHost } from "../../../../actors/edge-host/host.ts";
import { type HostFact, hostFact } from "../../../../actors/edge-host/row.ts";
import { AnyJson } from "../../../../actors/kernel/json.ts";
import { auditedBy } from "../../../../src/features/audit/port.ts";
import { edgeFleet } from "../../../../src/features/edge/fleet/feature.ts";
import type { FleetCaller, HostCall, HostCallOutcome } from "../../../../src/features/edge/fleet/port.ts";
import { edgeRunStream } from "../../../../src/features/edge/run-stream/feature.ts";
import { defineFeature } from "../../../../src/features/feature.ts";
import { definePublicRoute, defineRoute, jsonBody } from "../../../../src/http/route.ts";
import { loadConfig } from "../../../../src/node/config.ts";
import { startNode } from "../../../../src/node/node.ts";

const scripted = defineFeature({
  name: "scripted-hosts",
  needs: { edgeFleet, edgeRunStream },
  open: ({ runtime }, { edgeFleet, edgeRunStream }) => ({
    service: null,
    actors: [edgeHost],
    facts: [
      {
        name: hostFact.name,
        write: (facts) =>
          facts.map(({ fact }) => {
            const { host_id, status, not_accepting } = fact as unknown as HostFact;
            return {
              text: "update edge_hosts set status = $1::text, not_accepting = coalesce(string_to_array(nullif($2::text, ''), ','), '{}') where id = $3::uuid",
              parameters: [status, not_accepting.join(","), host_id],
            };
          }),
      },
    ],
    routes: [
      defineRoute({
        method: "POST",
        path: "/scripted/calls/:id",
        summary: "Makes a tool call on a host, as an agent would",
        hidden: true,
        params: Type.Object({ id: Type.String() }),
        body: jsonBody(AnyJson),
        refusals: ["multiple_targets", "host_not_found", "agent_runs_denied"],
        responses: { 200: Type.Any() },
        handler: async (call) => {
          const { identity, tenant, params } = call;
          const agent = {
            tenant,
            identity,
            by: auditedBy(call),
            entry: "mcp",
            isAgent: true,
            executionId: "e1",
            trace: null,
          };
          await edgeFleet.hostCalls.begin(agent as FleetCaller, params.id, call.body as unknown as HostCall);
          const outcome: HostCallOutcome = await edgeFleet.hostCalls.settled(
            tenant,
            params.id,
            AbortSignal.timeout(5000),
          );
          return outcome;
        },
      }),
      definePublicRoute({
        method: "POST",
        path: "/scripted",
        summary: "Tells a host",
        hidden: true,
        body: jsonBody(Type.Object({ tenant: Type.String(), host: Type.String(), type: Type.String(), body: AnyJson })),
        responses: { 200: Type.Any() },
        handler: async ({ body: { tenant, host, type, body } }) => {
          const of = body as { run: string; command_id: string; offset: number; text: string };
          if (type === "progress") {
            const bytes = new TextEncoder().encode(of.text);
            const output = {
              node_id: host,
              command_id: of.command_id,
              stream: "stdout" as const,
              offset: of.offset,
              bytes,
            };
            edgeRunStream.output(tenant, of.run, output);
            return {};
          }
          if (type === "ended") {
            await edgeRunStream.ended(tenant, of.run, host, of.command_id);
            return {};
          }
          const actor = runtime.of(edgeHost).at(tenant, host) as unknown as {
            ask(type: string, body: unknown): Promise<unknown>;
            tellCommitted(type: string, body: unknown): Promise<void>;
          };
          if (type !== "link_closed") return await actor.ask(type, body);
          await actor.tellCommitted(type, body);
          return {};
        },
      }),
    ],
  }),
});

const node = await startNode(loadConfig(process.env), (line) => console.log(line), { features: [scripted] });
process.on("SIGTERM", () => void node.stop().then(() => process.exit(0)));
