/** One connection of this node to a server: a program in a sandbox, or requests to a URL. */

import { graceMs, startWithinMs } from "../../../../actors/tool-server/life.ts";
import type { Bounded, ListedTool } from "../../../../actors/tool-server/listing.ts";
import type { EgressEnvironment } from "../../../adapters/egress/port.ts";
import {
  type CallEnd,
  type CallOptions,
  connectServer,
  httpTransport,
  launchChild,
  type McpConnection,
} from "../../../adapters/mcp/port.ts";
import type { Sandbox, Sandboxes } from "../../../adapters/sandbox/port.ts";
import type { Masker } from "../../../lib/masking/masker.ts";
import { type ExecutionTokens, egressUser } from "../../execution-tokens/port.ts";
import { type Incidents, reportRefusedCall } from "../../incidents/port.ts";
import { ownerOf } from "../permission.ts";
import type { ServerRow } from "../records.ts";
import type { ResolveValues } from "./values.ts";

export interface OpeningOptions {
  readonly sandboxes: Pick<Sandboxes, "of">;
  /** Absolute. */
  readonly dataDir: string;
  /** SVC_TOOL_SERVER_PATHS */
  readonly shown: readonly string[];
  readonly outside: EgressEnvironment;
  readonly values: ResolveValues;
  readonly tokens: Pick<ExecutionTokens, "mint">;
  readonly incidents: Pick<Incidents, "report">;
}

/** Nothing on this node can hold a program. */
export class NoSandbox extends Error {
  override readonly name = "NoSandbox";
}

/** What went wrong with a server, with nothing in its words that must not be shown. */
class ServerFault extends Error {
  override readonly name = "ServerFault";
}

export interface Opening {
  readonly row: ServerRow;
  /** Of the sandbox, where it is a program. */
  readonly instanceId: string;
  /** What a program says of itself while it does not stand the question for its revision. */
  readonly era: "auto" | "legacy";
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly changed: () => void;
}

export interface Opened {
  readonly pid: number | null;
  readonly unenforced: readonly string[];
  readonly protocolVersion: string | null;
  /** See `ServerValues`. */
  readonly stamp: string;
  readonly masker: Masker;
  /** Nothing can be called by it any more; `ended` follows. */
  isClosed(): boolean;
  list(timeoutMs: number): Promise<Bounded>;
  call(tool: ListedTool, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<CallEnd>;
  /** Once nothing of it is left, with why. */
  readonly ended: Promise<string>;
  /** Ends it with everything that it began. Repeatable. */
  close(): Promise<void>;
}

/** A token for the egress proxy counts as long as the server's instance does; this is only its own bound. */
const tokenSeconds = 366 * 24 * 3_600;
const MiB = 2 ** 20;

/** @throws NoSandbox, ValueFault, ServerFault, Problem 503 where a store is away; nothing is left of it then */
export async function openServer(options: OpeningOptions, opening: Opening): Promise<Opened> {
  const { row } = opening;
  const within = performance.now() + startWithinMs;
  const left = () => Math.max(1, within - performance.now());
  const stdio = row.definition.transport === "stdio" ? sandboxOf(options.sandboxes) : null;
  const values = await options.values.look(row);
  await options.values.used(row);
  const log = (line: string) => opening.log(values.masker.redact(line));
  const opened =
    stdio === null
      ? openRemote(options, opening, values, left())
      : openProgram(options, { ...opening, log }, stdio, values, left);
  return opened.catch(hiding(values.masker));
}

/** What a server says when it refuses may be what it was sent. */
const hiding = (masker: Masker) => (error: unknown) => {
  throw new ServerFault(masker.redact(messageOf(error)));
};

type Values = Awaited<ReturnType<ResolveValues["look"]>>;

async function openRemote(
  { outside, incidents }: OpeningOptions,
  opening: Opening,
  values: Values,
  timeoutMs: number,
): Promise<Opened> {
  const { row, signal, changed } = opening;
  const caller = { tenant: ownerOf(row), agentId: null, executionId: null };
  const refused = (refusal: Error) => reportRefusedCall(incidents, caller, refusal);
  const transport = httpTransport({ url: row.definition.url ?? "", headers: values.values, outside, refused });
  const connection = await connectServer(transport, { era: "auto", timeoutMs, signal, changed });
  return {
    ...shared(connection, values),
    pid: null,
    unenforced: [],
    ended: connection.closed.then(() => "the connection ended"),
    async close() {
      await transport.terminateSession().catch(() => {});
      await connection.close().catch(() => {});
    },
  };
}

async function openProgram(
  options: OpeningOptions,
  opening: Opening,
  sandbox: Sandbox,
  values: Values,
  left: () => number,
): Promise<Opened> {
  const { row, instanceId, signal, changed, era, log } = opening;
  const { executable, args, environment, egress, resource_limits } = row.definition;
  const tenant = ownerOf(row);
  const claims = { executionId: row.id, agentId: row.name, tenant, instanceId, livesSeconds: tokenSeconds };
  const child = await launchChild(
    { sandbox, dataDir: options.dataDir, shown: options.shown },
    {
      instanceId,
      serverId: row.id,
      tenant,
      executable: executable ?? "",
      args,
      environment: { ...environment, ...values.values },
      egress: egress.length === 0 ? null : { username: egressUser, password: await options.tokens.mint(claims) },
      cpuMillicores: resource_limits.cpu_millicores,
      memoryBytes: resource_limits.memory_mb * MiB,
      log,
    },
    left(),
  );
  try {
    const connection = await connectServer(child.transport, { era, timeoutMs: left(), signal, changed });
    return {
      ...shared(connection, values),
      pid: await child.pid(),
      unenforced: sandbox.describe().unenforcedLimits,
      ended: child.ended.then((words) => child.transport.fault ?? words),
      async close() {
        await child.stop(graceMs);
        await child.ended;
      },
    };
  } catch (error) {
    await child.stop(0).catch(() => {});
    const words = await child.ended;
    throw new Error(child.transport.fault ?? `${messageOf(error)}; ${words}`);
  }
}

function shared(connection: McpConnection, { masker, stamp }: Values) {
  const { protocolVersion } = connection;
  return {
    protocolVersion,
    masker,
    stamp,
    call: connection.call,
    isClosed: connection.isClosed,
    list: async (timeoutMs: number) => masker.redactJson(await connection.list(timeoutMs).catch(hiding(masker))),
  };
}

function sandboxOf(sandboxes: Pick<Sandboxes, "of">): Sandbox {
  const sandbox = sandboxes.of("process");
  if (sandbox === null || sandbox.describe().sandbox === "none") {
    throw new NoSandbox("sandbox_unavailable: nothing on this node can hold a program of a tool server");
  }
  return sandbox;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
