/** The tool that reads on what became of a call that waits. */
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { outcomeOf, type RegisteredTool, ToolFailure, type ToolProvider } from "../tools/port.ts";
import type { WaitingCalls } from "./service.ts";

export const invocationGet = "svc.invocation.get";

const Arguments = Type.Object(
  {
    invocation_id: Type.String({ format: "uuid", description: "Of the pending call" }),
    wait_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 25, default: 0 })),
  },
  { additionalProperties: false },
);

const registered: readonly RegisteredTool[] = [
  {
    name: invocationGet,
    aliases: [],
    description: "How a call that waits for a person stands, and its result once there is one",
    inputSchema: JSON.parse(JSON.stringify(Arguments)),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    source: "management",
    executor: "server",
    runs: "service",
    readOnly: true,
    idempotent: true,
    always: true,
  },
];

export function invocationTool({ get }: Pick<WaitingCalls, "get">): ToolProvider {
  return {
    tools: () => registered,
    async call({ tenant, who, arguments: given, signal }) {
      try {
        if (!Value.Check(Arguments, given)) throw new ToolFailure("invalid_arguments", "invocation_id is no UUID");
        const { invocation_id, wait_seconds = 0 } = given;
        const { principal } = who;
        return {
          status: "succeeded",
          result: await get({ tenant, principal }, invocation_id.toLowerCase(), wait_seconds, signal),
        };
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}
