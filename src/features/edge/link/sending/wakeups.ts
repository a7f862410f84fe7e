/** Tells the node that holds a link that its host has frames to be sent. A wake-up that is lost changes nothing. */
import type { HostState } from "../../../../../actors/edge-host/state.ts";
import type { ActorChange } from "../../../../runtime/port.ts";
import { defineQueue, openQueue, openQueues, type QueueOptions } from "../../../../store/queues.ts";

interface Wakeup {
  readonly host_id: string;
}

export interface WakeupOptions extends QueueOptions {
  /** Of this service node. */
  readonly node: string;
  /** Hosts of this node have frames. */
  wake(hostIds: readonly string[]): void;
}

export type Wakeups = ReturnType<typeof openWakeups>;

const queueOf = (node: string) => `edge-dispatch-${node}`;
/** Wake-ups taken at once. */
const concurrency = 16;

export function openWakeups({ node, wake, ...queues }: WakeupOptions) {
  const own = openQueue(defineQueue<Wakeup>(queueOf(node)), queues);
  const others = openQueues<Wakeup>(queues);

  return {
    work: () => own.work(concurrency, async ({ host_id }) => wake([host_id])),
    depth: () => own.queue.getWaitingCount(),

    /** Hosts whose turns have made frames. */
    committed(changes: readonly ActorChange<HostState>[]): void {
      const away = new Map<string, { name: string; data: Wakeup; opts: { jobId: string } }[]>();
      const here: string[] = [];
      for (const change of changes) {
        const { key, before, after } = change;
        if (after === null || after.link === null || after.frames === (before?.frames ?? 0)) continue;
        if (after.link.node === node) here.push(key);
        else {
          const jobs = jobIdsOf(change.key, before, after).map((jobId) => ({
            name: "wake",
            data: { host_id: key },
            opts: { jobId },
          }));
          away.set(after.link.node, [...(away.get(after.link.node) ?? []), ...jobs]);
        }
      }
      if (here.length > 0) wake(here);
      // Should Redis be away, the owner finds the frames by itself.
      for (const [owner, jobs] of away) others.add(queueOf(owner), jobs).catch(() => {});
    },

    /** Forgets what waits for nodes that are no more. */
    async forget(nodes: readonly string[]): Promise<void> {
      for (const gone of nodes) await others.obliterate(queueOf(gone)).catch(() => {});
    },

    async close(): Promise<void> {
      await own.queue.obliterate({ force: true }).catch(() => {});
      await Promise.all([own.close(), others.close()]);
    },
  };
}

/** `<command>-<delivery>`; what is no command's own goes by the host. */
function jobIdsOf(hostId: string, before: HostState | null, after: HostState): readonly string[] {
  const known = new Map(before?.commands.map(({ command_id, delivery }) => [command_id, delivery]));
  const ids = after.commands
    .filter(({ command_id, delivery }) => delivery > (known.get(command_id) ?? 0))
    .map(({ command_id, delivery }) => `${command_id}-${delivery}`);
  return ids.length > 0 ? ids : [`${hostId}-${after.frames}`];
}
