/**
 * Clients behind a balancer that try a 503 again; all else that goes wrong is an error they see. The balancer takes
 * another node where a connection is refused, or is reset before a byte of an answer: the system resets connections
 * that it has taken for a listener which closes before it accepts them. The call carries its key, or reads.
 */
import type { LooseJson } from "../harness/loose-json.ts";
import type { Answer, NodeProcess } from "../harness/node/node-process.ts";
import { until } from "../harness/until.ts";

/** How long a client goes on with one call, ms. */
const patienceMs = 30_000;

export class RetryingClients {
  private next = 0;
  /** Connections that were reset. */
  resets = 0;

  constructor(private readonly nodes: readonly NodeProcess[]) {}

  async ok(method: string, path: string, body?: unknown): Promise<LooseJson> {
    const until = performance.now() + patienceMs;
    // A call that is sent again is the same call.
    const headers = method === "POST" ? { "Idempotency-Key": crypto.randomUUID() } : {};
    for (;;) {
      const answer = await this.send(method, path, body, headers);
      if (answer !== null && answer.status < 300) return answer.body;
      const again = answer === null || answer.status === 503;
      if (!again || performance.now() > until) {
        throw new Error(`${method} ${path}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      }
      await Bun.sleep(answer === null ? 5 : 100);
    }
  }

  /** Null where the node does not listen, or has just ceased to. */
  private async send(method: string, path: string, body: unknown, headers: Record<string, string>) {
    const node = this.nodes[this.next++ % this.nodes.length] as NodeProcess;
    return await node.call(method, path, body, headers).catch((error: Error & { code?: string }): Answer | null => {
      if (error.code === "ConnectionRefused" || error.code === "ECONNREFUSED") return null;
      if (error.code === "ECONNRESET") return this.countReset();
      throw new Error(`${method} ${path}: ${error.code ?? error.message}`);
    });
  }

  private countReset(): null {
    this.resets++;
    return null;
  }

  /** Does the same over and over, so many times at once, until `end`. */
  keepOn(atOnce: number, act: (client: this) => Promise<void>) {
    const errors: string[] = [];
    let done = 0;
    let stopping = false;
    const running = Array.from({ length: atOnce }, async () => {
      while (!stopping) {
        await act(this).then(
          () => {
            done++;
          },
          (error: Error) => errors.push(error.message),
        );
      }
    });
    return {
      /** Waits until it was done as many times more. */
      async more(count: number): Promise<void> {
        const goal = done + count;
        await until(() => done >= goal, { what: `${count} more`, timeoutMs: 40_000 });
      },
      /** @returns what went wrong */
      async end(): Promise<readonly string[]> {
        stopping = true;
        await Promise.all(running);
        return errors;
      },
    };
  }
}
