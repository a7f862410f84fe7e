/** The floors of the workflow bench: the same work without svc. */
import { texts } from "../../../src/store/postgres/array-literal.ts";
import type { Sql } from "../../../src/store/postgres/pool.ts";
import { pumped } from "../table.ts";

/** Rows of a transition's size, or another, committed 250 at a time. @returns transitions a second */
export async function bareTransitions(sql: Sql, count: number, bytes = 1200): Promise<number> {
  await sql`create table if not exists bench_transition (id bigserial primary key, body text)`;
  const batch = texts(Array.from({ length: 250 }, () => "x".repeat(bytes)));
  const insert = () => sql`insert into bench_transition (body) select unnest(${batch}::text[])`;
  for (let warm = 0; warm < 10; warm++) await insert();
  const { totalMs } = await pumped(count / 250, 1, insert);
  return (count * 1000) / totalMs;
}

/** A committed change, told at once to a client that listens. @returns ms from the request to the news */
export async function bareApproval(sql: Sql, count: number): Promise<number[]> {
  await sql`create table if not exists bench_approval (id int primary key, status text)`;
  await sql`insert into bench_approval select n, 'pending' from generate_series(1, ${count}) n on conflict do nothing`;
  const listeners = new Map<string, (text: string) => void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const id = pathname.slice(2);
      if (pathname.startsWith("/s")) {
        const stream = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(": open\n\n"));
            listeners.set(id, (text) => controller.enqueue(new TextEncoder().encode(text)));
          },
        });
        return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
      }
      await sql`update bench_approval set status = 'approved' where id = ${Number(id)}`;
      listeners.get(id)?.("data: entered\n\n");
      return Response.json({ status: "approved" });
    },
  });
  const samples: number[] = [];
  for (let id = 1; id <= count; id++) {
    const reader = (await fetch(`${server.url}s${id}`)).body?.getReader();
    await reader?.read();
    const at = performance.now();
    const answered = fetch(`${server.url}a${id}`, { method: "POST" });
    await reader?.read();
    samples.push(performance.now() - at);
    await (await answered).arrayBuffer();
    await reader?.cancel();
  }
  await server.stop(true);
  return samples;
}

/** The oldest pending approvals as they are stored, sent over HTTP. @returns ms of each answer */
export async function bareList(sql: Sql): Promise<number[]> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch() {
      const rows = await sql<{ document: string }[]>`
        select document from approvals where tenant = 'svc-system' and status = 'pending'
        order by created_at, approval_id limit 500`;
      return new Response(`[${rows.map(({ document }) => document).join(",")}]`);
    },
  });
  const get = async () => (await fetch(server.url)).arrayBuffer();
  await pumped(50, 1, get);
  const { samples } = await pumped(500, 1, get);
  await server.stop(true);
  return samples;
}
