/** The tools of the tool server: operations of the service, and the tenant's agents and workflows. */
import {
  type CallToolResult,
  type InputRequiredResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from "@modelcontextprotocol/server";
import { invalidField } from "../../../actors/kernel/problem.ts";
import { canonicalName } from "../../../actors/tool/catalog.ts";
import { clientName, runSchema } from "../../../actors/tool/run-tools.ts";
import type { Agents } from "../agents/port.ts";
import type { RegisteredTool } from "../tools/port.ts";
import type { Workflows } from "../workflows/definitions/feature.ts";
import type { Asking } from "./asking.ts";
import type { FaceCall } from "./call.ts";
import type { FaceCaller } from "./caller.ts";
import type { ToolCalls } from "./calls.ts";
import { answerOf } from "./results.ts";
import { createRunCalls, type RunKind, type Runnable } from "./run-calls.ts";

/** Agents and workflows of one page. */
const pageSize = 100;

type Kind = "agent" | "workflow";

/** Something that is run by name, and how it is found. */
export interface Runs extends RunKind {
  /** Begins the names of its tools; what begins with another kind's longer one is that kind's. */
  readonly prefix: string;
  readonly offered: (Agents | Workflows)["offered"];
}

export interface ToolsOptions {
  readonly calls: Pick<ToolCalls, "offered">;
  readonly asking: Pick<Asking, "make">;
  readonly kinds: Readonly<Record<Kind, Runs>>;
  /** Whether the caller's scopes let a management tool be called. */
  readonly mayCall: (caller: FaceCaller, tool: string) => boolean;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface Tools {
  /** @throws Problem for a cursor that is none, or a context that is not the caller's */
  list(caller: FaceCaller, cursor: string | undefined): Promise<ListToolsResult>;
  /** @throws ProtocolError for a tool that is not there */
  call(call: FaceCall): Promise<CallToolResult | InputRequiredResult>;
}

export function createTools({ calls, asking, kinds, mayCall, warn }: ToolsOptions): Tools {
  const { run } = createRunCalls({ asking, warn });

  /** The operations that the caller may use, as far as its context leaves them. */
  async function operations(caller: FaceCaller): Promise<readonly RegisteredTool[]> {
    const offered = await calls.offered(caller);
    return offered.filter(({ name }) => mayCall(caller, canonicalName(name)));
  }

  const starts = (offered: readonly RegisteredTool[], { starts }: Runs): boolean =>
    offered.some(({ name }) => canonicalName(name) === starts);

  /** @returns `last`: the name to go on behind; null when these are all */
  async function runnables(tenant: string, { offered, prefix }: Runs, after: string, room: number) {
    // One more than is shown says whether there is another page.
    const rows = await offered(tenant, { after }, room + 1);
    const shown = rows.slice(0, room);
    const last = rows.length > room ? (shown.at(-1)?.name ?? after) : null;
    return { tools: shown.map((row) => runTool(prefix, row)), last };
  }

  return {
    async list(caller, cursor) {
      const offered = await operations(caller);
      const tools: Tool[] = cursor === undefined ? offered.map(operationTool) : [];
      const from = readCursor(cursor);
      let room = pageSize;
      for (const kind of ["agent", "workflow"] as const) {
        if (from?.kind === "workflow" && kind === "agent") continue;
        if (!starts(offered, kinds[kind])) continue;
        const after = from?.kind === kind ? from.after : "";
        const page = await runnables(caller.tenant, kinds[kind], after, room);
        tools.push(...page.tools);
        if (page.last !== null) return { tools, nextCursor: writeCursor({ kind, after: page.last }) };
        room -= page.tools.length;
      }
      return { tools };
    },

    async call(call) {
      const { caller, tool, given } = call;
      for (const kind of ["workflow", "agent"] as const) {
        const { prefix, offered: runnable } = kinds[kind];
        if (!tool.startsWith(prefix)) continue;
        const [row] = await runnable(caller.tenant, { name: tool.slice(prefix.length) }, 1);
        if (row !== undefined) return run(kinds[kind], row, call);
      }
      const operation = (await calls.offered(caller)).find(({ name }) => clientName(name) === tool);
      if (operation === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${tool}`);
      return answerOf(tool, await asking.make(call, operation.name, given));
    },
  };
}

function operationTool({ name, description, inputSchema, annotations }: RegisteredTool): Tool {
  return { name: clientName(name), description, inputSchema: { ...inputSchema, type: "object" }, annotations };
}

function runTool(prefix: string, { name, description, input_schema }: Runnable & { description: string | null }): Tool {
  return {
    name: prefix + name,
    title: name,
    description: description === null || description === "" ? `Run ${name}` : description,
    inputSchema: { ...runSchema(input_schema), type: "object" },
  };
}

interface Place {
  readonly kind: Kind;
  /** The last name that was shown; empty: none was. */
  readonly after: string;
}

const writeCursor = ({ kind, after }: Place): string =>
  Buffer.from(JSON.stringify([kind, after])).toString("base64url");

/** @throws Problem 422 `validation_failed` */
function readCursor(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null;
  try {
    const [kind, after]: unknown[] = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const isKind = kind === "agent" || kind === "workflow";
    if (isKind && typeof after === "string" && !after.includes("\0")) return { kind, after };
  } catch {
    // Refused below.
  }
  throw invalidField("cursor", "is not a cursor of this list");
}
