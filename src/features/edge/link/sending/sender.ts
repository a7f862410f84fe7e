/** Writes frames that turns have made to the sockets of their hosts, each once per link. */
import { type Cancel, frameLimits, type Invoke } from "../../../../../actors/edge/frames.ts";
import { iso } from "../../../../../actors/kernel/time.ts";
import { numbers, texts } from "../../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";
import type { Commands, RunArgsRow } from "../../commands/port.ts";
import type { RunProgress } from "../../run-stream/port.ts";
import type { CommandOutlet } from "../incoming/outlets.ts";
import type { Link } from "../link.ts";

export interface SenderOptions {
  readonly sql: Sql;
  /** Of this service node. */
  readonly node: string;
  readonly commands: Pick<Commands, "argsOf">;
  readonly progress: Pick<RunProgress, "step">;
  /** The open link of a host on this node. */
  linkOf(hostId: string): Link | undefined;
  /** An invoke is written. */
  sent(link: Link, commandId: string, run: CommandOutlet): void;
  warn(error: unknown): void;
}

export type Sender = ReturnType<typeof createSender>;

interface FrameRow {
  readonly id: number;
  readonly host_id: string;
  readonly epoch: number;
  readonly kind: "invoke" | "cancel";
  readonly command_id: string;
  readonly body: string;
}

type InvokeRow = Pick<Invoke, "attempt" | "timeout_ms" | "max_output_bytes"> & {
  readonly run_id: string;
  readonly not_after: number;
};

/** Hosts and frames of one look. */
const atOnce = { hosts: 500, frames: 1000 };
/** A frame that was made so long ago, and not written, is looked for anew, s. */
const lateSeconds = 5;

export function createSender(options: SenderOptions) {
  const { sql, node, commands, linkOf } = options;
  const woken = new Set<string>();
  /** Written, and still in the table. */
  const written = new Set<number>();
  let running: Promise<void> | null = null;

  const framesOf = (hosts: readonly string[]) => sql<FrameRow[]>`
    select id::float8 as id, host_id, epoch::float8 as epoch, kind, command_id, body from edge_frames
    where node = ${node} and host_id = any(${texts(hosts)}::uuid[]) order by id limit ${atOnce.frames}`;

  async function argsOf(frames: readonly FrameRow[]): Promise<ReadonlyMap<string, RunArgsRow>> {
    const runs = new Set(
      frames.flatMap(({ kind, body }) => (kind === "invoke" ? [(JSON.parse(body) as InvokeRow).run_id] : [])),
    );
    const rows = runs.size === 0 ? [] : await commands.argsOf([...runs]);
    return new Map(rows.map((row) => [row.run_id, row]));
  }

  function write(link: Link, { kind, command_id, body }: FrameRow, args: ReadonlyMap<string, RunArgsRow>): void {
    if (kind === "cancel") {
      const { reason } = JSON.parse(body) as { readonly reason: string };
      const cancel: Cancel = { command_id, reason: reason.slice(0, 256), grace_ms: frameLimits.graceMs };
      link.send("cancel", cancel);
      return;
    }
    const invoke = JSON.parse(body) as InvokeRow;
    const run = args.get(invoke.run_id);
    // Runs are kept for as long as they have commands.
    if (run === undefined) return;
    options.sent(link, command_id, { runId: invoke.run_id, maxBytes: invoke.max_output_bytes });
    link.sendText("invoke", invokeText(command_id, invoke, run));
  }

  /** @returns whether there may be more */
  async function some(hosts: readonly string[]): Promise<boolean> {
    const frames = await framesOf(hosts);
    const args = await argsOf(frames.filter(({ id }) => !written.has(id)));
    const done: number[] = [];
    for (const frame of frames) {
      const link = linkOf(frame.host_id);
      if (link === undefined || !link.isOpen || link.epoch < frame.epoch) continue;
      done.push(frame.id);
      // Of an earlier link: its host has told anew what it needs.
      if (link.epoch > frame.epoch || written.has(frame.id)) continue;
      written.add(frame.id);
      write(link, frame, args);
    }
    if (done.length > 0) await sql`delete from edge_frames where id = any(${numbers(done)}::bigint[])`;
    for (const id of done) written.delete(id);
    return frames.length === atOnce.frames && done.length > 0;
  }

  async function run(): Promise<void> {
    while (woken.size > 0) {
      const hosts = [...woken].slice(0, atOnce.hosts);
      for (const host of hosts) woken.delete(host);
      try {
        while (await some(hosts));
      } catch (error) {
        // They are found again by the look for late ones.
        options.warn(error);
      }
    }
  }

  function wake(hostIds: Iterable<string>): void {
    for (const id of hostIds) if (linkOf(id) !== undefined) woken.add(id);
    if (woken.size === 0 || running !== null) return;
    // What is committed in the same moment goes together.
    running = new Promise<void>((resolve) => setImmediate(resolve)).then(run).finally(() => {
      running = null;
      if (woken.size > 0) wake([]);
    });
  }

  return {
    /** Hosts of this node may have frames. */
    wake,
    /** Wakes those whose frames have waited for long. @returns how many */
    async wakeLate(): Promise<number> {
      const rows = await sql<{ host_id: string }[]>`
        select distinct host_id from edge_frames
        where node = ${node} and created_at < clock_timestamp() - make_interval(secs => ${lateSeconds}) limit 1000`;
      const hosts = rows.map(({ host_id }) => host_id).filter((id) => linkOf(id) !== undefined);
      wake(hosts);
      return hosts.length;
    },
    /** Once what is under way is written. */
    async stop(): Promise<void> {
      woken.clear();
      await running;
    },
  };
}

/** The arguments are JSON already. */
function invokeText(command_id: string, invoke: InvokeRow, run: RunArgsRow): string {
  const { run_id, attempt, not_after, timeout_ms, max_output_bytes } = invoke;
  const head = JSON.stringify({ command_id, fleet_command_id: run_id, attempt, tool: run.tool });
  const tail = JSON.stringify({
    security_context: run.security_context,
    ...{ not_after: iso(not_after), timeout_ms, max_output_bytes },
  });
  const trace = run.trace === null ? "" : `,"trace":${run.trace}`;
  return `${head.slice(0, -1)},"args":${run.args},"requested_by":${run.requested_by}${trace},${tail.slice(1)}`;
}
