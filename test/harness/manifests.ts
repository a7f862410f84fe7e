/** Agents for tests: their model is the scripted provider, told what to say in the instruction. */

export interface AgentOptions {
  readonly name?: string;
  readonly version?: string;
  /** Replies by round, or by iteration and round. */
  readonly script?: unknown;
  readonly instruction?: string;
  readonly tools?: readonly string[];
  readonly execution?: Record<string, unknown>;
  readonly resources?: Record<string, unknown>;
  readonly runtime?: Record<string, unknown>;
  readonly spec?: Record<string, unknown>;
}

let count = 0;

export function manifest(options: AgentOptions = {}): Record<string, unknown> {
  count += 1;
  const script = options.script === undefined ? "" : `\n\`\`\`svc-script\n${JSON.stringify(options.script)}\n\`\`\``;
  return {
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: options.name ?? `agent-${process.pid}-${count}`, version: options.version ?? "1.0.0" },
    spec: {
      runtime: { language: "python", version: "3.12", ...options.runtime },
      task: { instruction: `${options.instruction ?? "Do as told."}${script}` },
      ...(options.execution ? { execution: options.execution } : {}),
      ...(options.resources ? { security: { resources: options.resources } } : {}),
      tools: options.tools ?? ["cmd.run", "fs.*"],
      ...options.spec,
    },
  };
}

/** One model reply that calls tools. */
export const calls = (...tools: readonly (readonly [name: string, given: Record<string, unknown>])[]) => ({
  content: "",
  tool_calls: tools.map(([name, given]) => ({ name, arguments: given })),
});

/** A shell command as a model reply. */
export const shell = (line: string, more: Record<string, unknown> = {}) =>
  calls(["cmd.run", { command: "sh", args: ["-c", line], ...more }]);

/** A last model reply. */
export const say = (content: string) => ({ content });
