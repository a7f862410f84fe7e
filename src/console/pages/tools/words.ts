/** How tools and their servers are told of. */
import type { Schemas } from "../../../programs/client/client.ts";

export type Server = Schemas["ToolServer"];
export type ServerTool = Schemas["ServerTool"];
export type Tool = Schemas["Tool"];
export type Invocation = Omit<Schemas["ToolInvocation"], "result">;

/** The page of a tool; its name may hold a slash. */
export const toolLink = (name: string): string => `/tools/${encodeURIComponent(name)}`;
export const serverLink = (name: string): string => `/tools/servers/${name}`;

/** No stream tells of servers and calls: their pages read again after so long, ms. */
export const renewMs = 5_000;

export const transportWords = { stdio: "program", streamable_http: "HTTP" } as const;

/** When any node last heard that the server is well; null: none has. */
export function lastCheck({ instances }: Server): string | null {
  return instances.map(({ last_health_at: at }) => at).reduce<string | null>(later, null);
}

const later = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && other > one) ? other : one;

/** Of a server that does not run as it should. */
export function faultOf({ instances, status }: Server): string | null {
  if (status === "running" || status === "stopped") return null;
  return instances.find(({ last_error: error }) => error !== null)?.last_error ?? null;
}

/** Whether a tool's schema has no members at all. */
export function takesNothing(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, properties } = schema as { readonly type?: unknown; readonly properties?: object };
  return type === "object" && properties !== undefined && Object.keys(properties).length === 0;
}
