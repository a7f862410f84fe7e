/**
 * The places of commands among the calls that run at once: taken before the gateway hands a command out, given back when
 * its result comes, to whichever node, or when its execution does not wait for one any more. They are held for as long as
 * the command may run, also where the node that took them is gone. An execution has one command at a time: the next one
 * has the places of one that was lost.
 */
import { execution } from "../../../actors/execution/execution.ts";
import { placesOf } from "../../../actors/execution/loop/waiting/wait-state.ts";
import type { DispatchPlaces } from "../../../actors/execution/messages.ts";
import type { ExecutionState, PendingCall } from "../../../actors/execution/state.ts";
import { CMD_RUN } from "../../../actors/tool/catalog.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Address, Runtime } from "../../runtime/port.ts";
import type { CallCounters } from "../security-contexts/port.ts";

export interface CommandPlacesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly counters: Pick<CallCounters, "hold" | "free">;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** A command that was handed out. */
export interface PlacedCommand extends Pick<DispatchPlaces, "of"> {
  readonly dispatchId: string;
  readonly timeoutSeconds: number;
}

/** How often commands are looked after that no result came for here, ms. */
const everyMs = 10_000;
/** What a command may take above its own time until its result is here, ms. */
const graceMs = 120_000;

export type CommandPlaces = ReturnType<typeof createCommandPlaces>;

interface Held {
  readonly at: Address;
  readonly command: PlacedCommand;
  /** By `performance.now()`. */
  readonly until: number;
}

export function createCommandPlaces({ runtime, counters, warn }: CommandPlacesOptions) {
  /** By the id of their dispatch. */
  const held = new Map<string, Held>();

  const hold = (at: Address, command: PlacedCommand, until: number) =>
    counters.hold(whoseOf(at), countedOf(command), placeOf(command), until - performance.now());

  async function free(at: Address, command: Pick<PlacedCommand, "of" | "dispatchId">): Promise<void> {
    held.delete(command.dispatchId);
    await counters.free(whoseOf(at), countedOf(command), placeOf(command));
  }

  /** The command of a dispatch whose result its execution waits for; null: it does not, or not any more. */
  async function awaited({ tenant, key }: Address, dispatchId: string): Promise<PendingCall | null> {
    const state = await runtime.of(execution).at(tenant, key).read();
    return commandIn(state, dispatchId);
  }

  async function lookAfter(): Promise<void> {
    for (const [dispatchId, { at, command, until }] of held) {
      // Another node may have had the result; what Redis lost is taken again.
      if ((await awaited(at, dispatchId)) === null) await free(at, command);
      else await hold(at, command, until);
    }
  }

  return {
    /**
     * Takes the places of a command; one that has them keeps them.
     * @returns null, or why it may not run now @throws Problem 503 while they cannot be counted
     */
    async take(at: Address, command: PlacedCommand): Promise<string | null> {
      const until = performance.now() + command.timeoutSeconds * 1000 + graceMs;
      const refused = await hold(at, command, until);
      if (refused !== null) return refused.message;
      held.set(command.dispatchId, { at, command, until });
      return null;
    },
    /** Of a command of this execution whose result is here; what another one names stays. */
    async giveBack(at: Address, dispatchId: string): Promise<void> {
      const mine = held.get(dispatchId);
      if (mine !== undefined) {
        if (mine.at.tenant === at.tenant && mine.at.key === at.key) void free(at, mine.command);
        return;
      }
      // Handed out by another node. While that cannot be read its own look gives them back.
      const call = await awaited(at, dispatchId).catch(() => null);
      const of = call === null ? [] : (placesOf(call).places?.of ?? []);
      if (of.length > 0) void free(at, { of, dispatchId });
    },
    awaited,
    /** Commands that this node handed out and knows no end of. */
    held: () => held.size,
    start: () =>
      repeatedly(everyMs, lookAfter, (error) => warn("command_places_not_looked_after", { error: String(error) })),
  };
}

const whoseOf = ({ tenant, key }: Address) => ({ tenant, principal: key });

const countedOf = ({ of }: Pick<PlacedCommand, "of">) => ({
  tool: CMD_RUN,
  governing: of.map(({ most, ...by }) => ({ ...by, capability: { tool_pattern: CMD_RUN, max_concurrent: most } })),
});

/** All commands of an execution are one line. */
const placeOf = ({ dispatchId }: Pick<PlacedCommand, "dispatchId">): string => `command/${dispatchId}`;

function commandIn(state: ExecutionState | null, dispatchId: string): PendingCall | null {
  if (state?.status !== "running") return null;
  return state.iteration.loop?.calls.find(({ dispatch_id }) => dispatch_id === dispatchId) ?? null;
}
