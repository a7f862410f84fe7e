/** What a tool is, as the registry has it, and a request to run one. */
import { ToolFailure, type ToolOutcome } from "../../lib/tool-files/outcome.ts";
import type { CallBounds, CallEntry, CallPolicy, CallWho } from "./call.ts";

/** What a caller may expect of a tool; hints of a tool server are its own word. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool as a tenant has it. */
export interface RegisteredTool {
  /** Dotted, as manifests and policies spell it: `fs.read`. Management tools under `svc.`, except `aegis.workflow.wait`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** For the model. */
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
  readonly source: "builtin" | "management" | "mcp" | "edge";
  /** Of `source` `mcp`: the server's name, which `mcp:<server>` in a manifest means. */
  readonly server?: string;
  readonly executor: "sandbox" | "server" | "edge";
  /** In a loop: `instance` is dispatched to the agent's bootstrap, `service` is run by the node. */
  readonly runs: "instance" | "service";
  /** Looks without changing anything: may run beside others, and again after a crash. */
  readonly readOnly: boolean;
  /** May run again after a crash although it changes something. */
  readonly idempotent: boolean;
  /** No tool judge is asked about its calls. */
  readonly skipJudge?: boolean;
  /** It changed since it was accepted: not listed; calls fail with `tool_changed`. */
  readonly withheld?: boolean;
  /** Open to every caller, in spite of manifest and context; never shown to models. */
  readonly always?: boolean;
  /** Results larger than the bound are cut by the tool itself, which says `truncated`; those of others are withheld. */
  readonly truncates?: boolean;
}

export interface ToolRequest {
  /** As the tool is registered. */
  readonly name: string;
  /** Fit `inputSchema`. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly tenant: string;
  readonly entry: CallEntry;
  /** Null outside of an execution. */
  readonly executionId: string | null;
  readonly invocationId: string;
  /** A UUID; the same on every attempt. */
  readonly idempotencyKey: string;
  readonly who: CallWho;
  readonly policy: CallPolicy;
  readonly bounds: CallBounds;
  readonly signal: AbortSignal;
  /**
   * To be called before a tool acts that was held up: behind others, by a lock, by another node. Does nothing right after
   * the call was cleared.
   * @throws what the provider has to pass on, where today's policy says something else of the call than then
   */
  readonly still?: () => Promise<void>;
}

export interface ToolProvider {
  /**
   * What a tenant has of it. Called for every request that looks at tools: answer from memory, and with the same array
   * until something changed.
   */
  tools(tenant: string): readonly RegisteredTool[] | Promise<readonly RegisteredTool[]>;
  /** Never rejects for what the caller or the model did wrong; rejects when aborted. */
  call(request: ToolRequest): Promise<ToolOutcome>;
}

/** For tools that act on an execution's sandbox, called by a caller that has none. */
export const executionRequired = (tool: string): ToolFailure =>
  new ToolFailure("execution_required", `${tool} works on the sandbox of an execution, and this caller has none`);
