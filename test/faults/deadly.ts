/** A projection that ends the process, or the database backend, of the turn of a counter with such a label. */
import type { Projection } from "../../src/runtime/index.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { counter } from "../harness/runtime/counter.ts";

/** What a counter is told to add. */
export const deadly = { process: "ends its process", backend: "ends its backend", time: "takes its time" } as const;

/** As a pattern that is matched for as long as it may. */
function spin(): void {
  for (const until = performance.now() + 15; performance.now() < until; );
}

/**
 * What a commit may call to end its own backend as the system's out-of-memory killer does. PostgreSQL then restarts all of
 * its backends.
 */
export async function armBackends(sql: Sql): Promise<void> {
  await sql`create table deaths (at timestamptz not null default now(), pid int)`;
  await sql.unsafe(`
    create function end_backend() returns int language plpgsql as $$
    begin
      execute format('copy (select 1) to program %L', 'kill -9 ' || pg_backend_pid() || '; sleep 1');
      return 0;
    end $$`);
}

export const deadlyProjection: Projection = {
  kind: "counter",
  project: (changes) =>
    changes.flatMap(({ before, after }) => {
      const seen = (after as { seen?: readonly string[] } | null)?.seen ?? [];
      const label =
        seen.length > ((before as { seen?: readonly string[] } | null)?.seen?.length ?? 0) ? seen.at(-1) : "";
      if (label === deadly.process) process.kill(process.pid, "SIGKILL");
      if (label !== deadly.backend) return [];
      return [{ text: "insert into deaths (pid) select end_backend()", parameters: [] }];
    }),
};

/** The counter, whose turn with such a label takes its time. */
export const slowCounter: typeof counter = {
  ...counter,
  receive: {
    ...counter.receive,
    add(state, body, context) {
      if (body.label === deadly.time) spin();
      return counter.receive.add(state, body, context);
    },
  },
};
