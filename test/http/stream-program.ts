/** A listener with event streams in a process of its own. Says on standard output where it is and how many are open. */
import type { Listener } from "../../src/http/route.ts";
import { EventStreams } from "../../src/http/streams/sse.ts";
import { identityOf } from "../harness/callers.ts";

const streams = new EventStreams({ keepAliveMs: 1_000 });
const leaving = new AbortController();
const listenerOf = (from: Pick<Listener, "timeout" | "requestIP">): Listener => ({
  timeout: (request, seconds) => from.timeout(request, seconds),
  requestIP: (request) => from.requestIP(request),
});
const server = Bun.serve({
  hostname: process.argv[2] ?? "127.0.0.1",
  port: 0,
  development: false,
  fetch: (request, listener) =>
    streams.open(
      { request, server: listenerOf(listener), stopping: leaving.signal, identity: identityOf("acme") },
      "acme",
      async (stream) => stream.comment("open"),
    ),
});
console.log(`port ${server.port}`);

let told = 0;
setInterval(() => {
  if (streams.size === told) return;
  told = streams.size;
  console.log(`open ${told}`);
}, 20);
