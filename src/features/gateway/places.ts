/**
 * The places of commands among the calls that run at once: taken before the gateway hands a command out, given back when
 * its result comes, or when its execution does not wait for one any more. Those of a node that dies come free by
 * themselves.
 */
import { execution } from "../../../actors/execution/execution.ts";
import type { DispatchPlaces } from "../../../actors/execution/messages.ts";
import type { ExecutionState, PendingCall } from "../../../actors/execution/state.ts";
import { CMD_RUN } from "../../../actors/tool/catalog.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Address, Runtime } from "../../runtime/port.ts";
import type { CallCounters } from "../security-contexts/port.ts";

export interface CommandPlacesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly counters: Pick<CallCounters, "acquire">;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

type Lease = Extract<Awaited<ReturnType<CallCounters["acquire"]>>, { release(): void }>;

/** How often commands are looked after that no result came for here, ms. */
const everyMs = 10_000;

export type CommandPlaces = ReturnType<typeof createCommandPlaces>;

export function createCommandPlaces({ runtime, counters, warn }: CommandPlacesOptions) {
  /** By the id of their dispatch. */
  const held = new Map<string, { readonly at: Address; readonly lease: Lease }>();

  /** Of a command of this execution; what another one names stays. */
  function giveBack({ tenant, key }: Address, dispatchId: string): void {
    const place = held.get(dispatchId);
    if (place?.at.tenant !== tenant || place.at.key !== key) return;
    held.delete(dispatchId);
    place.lease.release();
  }

  /** The command of a dispatch whose result its execution waits for; null: it does not, or not any more. */
  async function awaited({ tenant, key }: Address, dispatchId: string): Promise<PendingCall | null> {
    const state = await runtime.of(execution).at(tenant, key).read();
    return commandIn(state, dispatchId);
  }

  async function lookAfter(): Promise<void> {
    for (const [dispatchId, { at }] of held) {
      if ((await awaited(at, dispatchId)) === null) giveBack(at, dispatchId);
    }
  }

  return {
    /**
     * Takes the places of a command; one that has them keeps them.
     * @returns null, or why it may not run now @throws Problem 503 while they cannot be counted
     */
    async take(at: Address, dispatchId: string, { of }: Pick<DispatchPlaces, "of">): Promise<string | null> {
      const governing = of.map(({ most, ...by }) => ({
        ...by,
        capability: { tool_pattern: CMD_RUN, max_concurrent: most },
      }));
      const whose = { tenant: at.tenant, principal: at.key };
      const lease = await counters.acquire(whose, { tool: CMD_RUN, governing }, dispatchId);
      if (!("release" in lease)) return lease.message;
      held.set(dispatchId, { at, lease });
      return null;
    },
    giveBack,
    awaited,
    start: () =>
      repeatedly(everyMs, lookAfter, (error) => warn("command_places_not_looked_after", { error: String(error) })),
  };
}

function commandIn(state: ExecutionState | null, dispatchId: string): PendingCall | null {
  if (state?.status !== "running") return null;
  return state.iteration.loop?.calls.find(({ dispatch_id }) => dispatch_id === dispatchId) ?? null;
}
