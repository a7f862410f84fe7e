/** A service that behaves badly on purpose, for the client: streams that break, tokens that end, refusals of all kinds. */

export interface Asked {
  readonly path: string;
  readonly authorization: string | null;
  readonly last: string | null;
  readonly body: string;
  readonly headers: Headers;
}

type Answering = (request: Request, asked: readonly Asked[]) => Response | Promise<Response>;

export interface BadService {
  readonly url: string;
  /** What was asked so far at a path. */
  of(path: string): readonly Asked[];
  /** Readers of streams that are still connected. */
  readonly readers: () => number;
  stop(): Promise<void>;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });

/** Writes a stream; `cut` breaks its connection, `end` ends it as it should. */
type Writer = (write: (text: string) => void, gone: Promise<void>) => Promise<"end" | "cut">;

let connected = 0;
const sse = (writer: Writer): Response => {
  const gone = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      connected += 1;
      const how = await writer((text) => controller.enqueue(encoder.encode(text)), gone.promise);
      connected -= 1;
      if (how === "cut") controller.error(new Error("a stream is cut, as the test wants it"));
      else controller.close();
    },
    cancel: () => gone.resolve(),
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
};

const event = (id: number, data: unknown, name?: string) =>
  `id: ${id}\n${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const expired = () => json(401, { error: "The token has expired", code: "token_expired", request_id: "r-1" });

/** Resolves when the reader has told that it has this event. */
type Seen = (id: string) => Promise<void>;

/** One after the other, what the attempts at a stream meet. */
const broken = (seen: Seen): readonly Answering[] => [
  () =>
    sse(async (write) => {
      write(`: open\n\nretry: 60000\n${event(1, { n: 1 })}${event(2, { n: 2 })}`);
      await seen("2");
      return "cut";
    }),
  () => json(503, { error: "Not now", code: "service_unavailable" }, { "Retry-After": "1" }),
  () => expired(),
  () =>
    sse(async (write) => {
      write(`${event(3, { n: 3 }).slice(0, 7)}`);
      write(`${event(3, { n: 3 }).slice(7)}${event(4, { from: 4 }, "gap")}id: 5\ndata: {"n":`);
      await seen("4");
      return "cut";
    }),
  () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
  () => new Response("<h1>Welcome</h1>", { headers: { "Content-Type": "text/html" } }),
  () =>
    sse(async (write) => {
      write(event(5, { n: 5 }));
      return "end";
    }),
  () => new Response(null, { status: 204 }),
];

const silent: readonly Answering[] = [
  () =>
    sse(async (write, gone) => {
      write(event(1, "before"));
      await gone;
      return "end";
    }),
  () =>
    sse(async (write) => {
      write(event(2, "after"));
      return "end";
    }),
];

const empty = () => sse(async () => "end");
const open = () =>
  sse(async (write, gone) => {
    write(event(1, "first") + event(2, "second"));
    await gone;
    return "end";
  });

const routes: Readonly<Record<string, Answering>> = {
  "/": () => new Response("<title>client</title>", { headers: { "Content-Type": "text/html" } }),
  "/silent": (request, asked) => (silent[asked.length - 1] ?? empty)(request, asked),
  "/ended": (_, asked) =>
    asked.length === 1
      ? sse(async (write) => {
          write(event(7, "last"));
          return "end";
        })
      : empty(),
  "/open": open,
  "/refused": () =>
    json(403, {
      error: "Not yours",
      code: "insufficient_scope",
      request_id: "r-7",
      issues: [{ path: "spec.task", message: "is missing", code: "required", line: 4 }],
    }),
  "/proxy": () => new Response("<h1>Gone</h1>", { status: 502, headers: { "X-Request-Id": "r-8" } }),
  "/signed": () =>
    json(404, { status: "error", code: "tool_not_found", error: { code: -32601, message: "No such tool" } }),
  "/later": () =>
    new Response("{}", { status: 429, headers: { "Retry-After": new Date(Date.now() + 90_000).toUTCString() } }),
  "/hangs": () => new Promise<Response>(() => {}),
  "/v1/agents": (request) => {
    if (request.method === "POST") return json(200, { valid: true });
    const cursor = new URL(request.url).searchParams.get("cursor");
    const at = Number(cursor ?? 0);
    return json(200, {
      items: [{ id: `a-${at}` }, { id: `a-${at + 1}` }],
      next_cursor: at < 4 ? String(at + 2) : null,
    });
  },
  "/v1/models": (request) =>
    request.headers.get("Authorization") === "Bearer new" ? json(200, { items: [], count: 0 }) : expired(),
};

export function startBadService(): BadService {
  const asked: Asked[] = [];
  const waits = new Map<string, () => void>();
  const attempts = broken((id) => new Promise((resolve) => waits.set(id, resolve)));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const { headers } = request;
      const [authorization, last] = [headers.get("Authorization"), headers.get("Last-Event-ID")];
      const path = pathname;
      asked.push({ path, authorization, last, body: await request.text(), headers });
      const own = asked.filter((one) => one.path === path);
      if (pathname.endsWith("/files/upload")) {
        if (authorization !== "Bearer new") return expired();
        return json(200, { size: own.at(-1)?.body.length });
      }
      if (pathname === "/broken") return (attempts[own.length - 1] ?? expired)(request, own);
      if (pathname.startsWith("/seen/")) waits.get(pathname.slice(6))?.();
      return (routes[pathname] ?? (() => json(200, { path: pathname })))(request, own);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    of: (path) => asked.filter((one) => one.path === path),
    readers: () => connected,
    stop: () => server.stop(true),
  };
}
