/** Tools that tell operators of the installation. */
import { Type } from "@sinclair/typebox";
import type { Json } from "../../../actors/kernel/json.ts";
import { defineTool, type ManagementTool } from "../management-tools/port.ts";

export interface SystemToolOptions {
  readonly info: () => { readonly [member: string]: Json };
  /** Without secrets; see `configuredSettings`. */
  readonly configured: () => readonly { readonly name: string; readonly meaning: string; readonly value: Json }[];
}

export function systemTools({ info, configured }: SystemToolOptions): readonly ManagementTool[] {
  return [
    defineTool({
      name: "svc.system.info",
      effect: "reads",
      description: "The version and what this node offers; for operators",
      scope: null,
      forOperators: true,
      arguments: Type.Object({}),
      call: async () => info(),
    }),
    defineTool({
      name: "svc.system.config",
      effect: "reads",
      description: "The settings of this node without secrets; for operators",
      scope: null,
      forOperators: true,
      arguments: Type.Object({}),
      call: async () => {
        const settings = configured().map((one) => ({ ...one }));
        return { settings, count: settings.length };
      },
    }),
  ];
}
