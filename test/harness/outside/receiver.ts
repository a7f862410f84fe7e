/** An HTTP server outside of svc: notes what it is sent and answers as the test says. */

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** When it arrived, ms of the monotonic clock. */
  readonly at: number;
}

export type Reply = (received: Received, earlier: number) => Response | Promise<Response>;

export class Receiver {
  readonly received: Received[] = [];
  /** Answers by path; 204 where there is none. `earlier`: how often that path was asked before. */
  readonly replies = new Map<string, Reply>();
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 60,
      fetch: async (request) => {
        const path = new URL(request.url).pathname;
        const earlier = this.at(path).length;
        const { method, headers } = request;
        const one = { method, path, headers, body: await request.text(), at: performance.now() };
        this.received.push(one);
        return (await this.replies.get(path)?.(one, earlier)) ?? new Response(null, { status: 204 });
      },
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }
  url(path: string, host = "127.0.0.1"): string {
    return `http://${host}:${this.port}${path}`;
  }
  /** What arrived at a path, oldest first. */
  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path);
  }
  stop(): Promise<void> {
    return this.#server.stop(true);
  }
}
