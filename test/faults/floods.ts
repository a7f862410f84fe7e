/** The tenants of the test of fairness over HTTP, and the process that floods for three of them. */
import { join } from "node:path";

export const secret = "a-secret-of-the-floods";

/** What floods: small deliveries that queue up, the largest deliveries, the largest messages, exponential patterns. */
export const kinds = ["queue", "deliveries", "messages", "patterns"] as const;
export type Kind = (typeof kinds)[number];

export interface FloodSettings {
  readonly kinds: readonly Kind[];
  readonly url: string;
  readonly internalUrl: string;
  /** Of the system's service account. */
  readonly token: string;
  /** Deliveries that are sent until they are accepted. */
  readonly deliveries: number;
  /** Executions that send large messages, each with its credential. */
  readonly agents: readonly (readonly [executionId: string, credential: string])[];
  /** The id of an agent of tenant `patterns` whose inputs are checked by an exponential pattern. */
  readonly patternAgent: string;
}

export interface FloodSummary {
  accepted: number;
  refused: number;
  /** Messages of 16 MiB that were taken. */
  large: number;
  /** Inputs that were checked, or refused. */
  checked: number;
  /** Answers that none of these may get, and how many of each. */
  failed: Record<string, number>;
}

export interface Floods {
  /** Ends them all. */
  stop(): Promise<FloodSummary>;
}

export async function startFloods(settings: FloodSettings): Promise<Floods> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "flood-program.ts"), JSON.stringify(settings)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let said = "";
  while (!said.includes("begun\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the floods ended: ${said}`);
    said += decoder.decode(value);
  }
  return {
    async stop() {
      child.kill("SIGTERM");
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        said += decoder.decode(value);
      }
      return JSON.parse(said.trim().split("\n").at(-1) ?? "") as FloodSummary;
    },
  };
}
