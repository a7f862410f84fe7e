/** Tool servers that are reached by HTTP: one of the 2025 revisions, which can misbehave, and one of 2026-07-28. */
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { oddTools } from "./odd-tools.ts";

export interface RemoteTools {
  readonly url: string;
  /** Values of `Authorization` that requests came with. */
  readonly authorizations: readonly (string | null)[];
  readonly cancelled: () => number;
  /** Lists another set of tools, and says so. */
  change(): void;
  /** Answers everything with this from now on; null: as it should. */
  answerWith(response: (() => Response) | null): void;
  stop(): Promise<void>;
}

/** Streamable HTTP of 2025 with a session and a stream of notifications. */
export function legacyRemote(mode = ""): RemoteTools {
  const authorizations: (string | null)[] = [];
  const streams = new Set<ReadableStreamDefaultController<string>>();
  const answers = new Map<string | number, (message: object) => void>();
  let instead: (() => Response) | null = null;
  const served = oddTools(
    mode,
    {
      send(message) {
        const { id } = message as { id?: string | number };
        if (id !== undefined) return answers.get(id)?.(message);
        for (const stream of streams) stream.enqueue(`data: ${JSON.stringify(message)}\n\n`);
      },
      raw() {},
      exit() {
        for (const answer of answers.values()) answer({ crashed: true });
      },
    },
    {},
  );

  async function post(request: Request): Promise<Response> {
    const message = (await request.json()) as Parameters<typeof served.take>[0];
    const { id } = message;
    if (id === undefined) {
      served.take(message);
      return new Response(null, { status: 202 });
    }
    const answer = await new Promise<object>((resolve) => {
      answers.set(id, resolve);
      request.signal.addEventListener("abort", () => resolve({ gone: true }));
      served.take(message);
    });
    answers.delete(id);
    const headers = { "Mcp-Session-Id": "session-1" };
    if (!("crashed" in answer)) return Response.json(answer, { headers });
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(": begun\n\n"));
        setTimeout(() => controller.close(), 20);
      },
    });
    return new Response(broken, { headers: { ...headers, "Content-Type": "text/event-stream" } });
  }

  function notifications(): Response {
    let own: ReadableStreamDefaultController<string> | undefined;
    const body = new ReadableStream<string>({
      start(controller) {
        own = controller;
        streams.add(controller);
        controller.enqueue(": open\n\n");
      },
      cancel() {
        if (own !== undefined) streams.delete(own);
      },
    });
    return new Response(body as unknown as ReadableStream<Uint8Array>, {
      headers: { "Content-Type": "text/event-stream" },
    });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      authorizations.push(request.headers.get("authorization"));
      if (instead !== null) return instead();
      if (request.method === "POST") return post(request);
      return request.method === "GET" ? notifications() : new Response(null, { status: 200 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    authorizations,
    cancelled: () => served.state.cancelled.length,
    change() {
      served.state.generation += 1;
      for (const stream of streams) {
        stream.enqueue(`data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`);
      }
    },
    answerWith(response) {
      instead = response;
    },
    async stop() {
      await server.stop(true);
    },
  };
}

/** The 2026-07-28 revision, by the official server. */
export function modernRemote(): RemoteTools {
  const authorizations: (string | null)[] = [];
  let generation = 1;
  let cancelled = 0;
  let instead: (() => Response) | null = null;
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "modern", version: "1" }, { capabilities: { tools: { listChanged: true } } });
    server.setRequestHandler("tools/list", () => ({
      tools: [
        { name: "echo", description: `Generation ${generation}`, inputSchema: { type: "object" } },
        { name: "hang", inputSchema: { type: "object" } },
      ],
    }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      if (params.name === "hang") {
        await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
        cancelled += 1;
      }
      return { content: [{ type: "text", text: String(params.arguments?.text ?? "") }] };
    });
    return server;
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      authorizations.push(request.headers.get("authorization"));
      return instead?.() ?? handler.fetch(request);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    authorizations,
    cancelled: () => cancelled,
    change() {
      generation += 1;
      handler.notify.toolsChanged();
    },
    answerWith(response) {
      instead = response;
    },
    async stop() {
      await handler.close();
      await server.stop(true);
    },
  };
}
