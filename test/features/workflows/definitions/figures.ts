/** A service that still counts when it is first asked, and takes reports. */

export function figuresService() {
  let asked = 0;
  const reports: unknown[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method === "POST") reports.push(await request.json());
      else asked += 1;
      return Response.json({ status: asked > 1 ? "ready" : "counting", orders: 118 });
    },
  });
  return { port: server.port, reports, close: () => server.stop(true) };
}
