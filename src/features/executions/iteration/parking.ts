/**
 * Parking: an instance all of whose calls wait for people stands still, and its slot goes to other work. When they have
 * been answered it takes a slot again, in its tenant's turn, and goes on with its memory. A host that cannot have it stand
 * still leaves it its slot.
 */
import { execution } from "../../../../actors/execution/execution.ts";
import type { Sandbox } from "../../../adapters/sandbox/port.ts";
import type { ActivitySlot, Address, Runtime } from "../../../runtime/port.ts";

/** An instance that this node follows. */
export interface Parkable {
  readonly actor: Address;
  readonly instanceId: string;
  readonly sandbox: Pick<Sandbox, "pause" | "resume">;
  readonly slot: ActivitySlot;
}

export interface ParkingOptions {
  readonly runtime: Pick<Runtime, "of">;
  /** SVC_TOOL_WAIT_PARK_SECONDS, ms. */
  readonly afterMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** How often parked instances are looked after, ms; the others at most every 15 s. */
const roundMs = 1_000;
const longestLookMs = 15_000;

interface Watched extends Parkable {
  phase: "running" | "parked" | "changing";
  /** The wait for which it cannot be parked here. */
  refusedSince: number | null;
}

export type Parking = ReturnType<typeof createParking>;

export function createParking({ runtime, afterMs, now }: ParkingOptions) {
  const all = new Map<string, Watched>();
  const lookMs = Math.min(longestLookMs, Math.max(roundMs, afterMs / 4));
  let lookedAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setInterval> | null = null;
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      const isDue = performance.now() - lookedAt >= lookMs;
      if (isDue) lookedAt = performance.now();
      const wanted = [...all.values()].filter(({ phase }) => phase === "parked" || (isDue && phase === "running"));
      for (const [tenant, some] of Map.groupBy(wanted, ({ actor }) => actor.tenant)) {
        const states = await runtime.of(execution).readListed(
          tenant,
          some.map(({ actor }) => actor.key),
        );
        for (const one of some) decide(one, states.get(one.actor.key)?.waiting?.since ?? null);
      }
    } catch {
      // The store is away: looked at again with the next round.
    } finally {
      isLooking = false;
    }
  }

  function decide(one: Watched, since: number | null): void {
    if (one.phase === "parked" && since === null) change(one, () => wake(one));
    const isDue = since !== null && now() - since >= afterMs && one.refusedSince !== since;
    if (one.phase === "running" && isDue) change(one, () => park(one, since));
  }

  function change(one: Watched, act: () => Promise<Watched["phase"]>): void {
    const before = one.phase;
    one.phase = "changing";
    // Its end, and an engine that does not answer, are met by the next round or by who follows it.
    void act()
      .catch(() => before)
      .then((phase) => {
        one.phase = phase;
      });
  }

  /** The time for which it stands still is not counted. */
  function tell({ actor: { tenant, key }, instanceId: instance_id }: Parkable, stands: boolean): void {
    const told = runtime.of(execution).at(tenant, key).tell("instance_parked", { instance_id, stands, at: now() });
    // What Redis does not take goes uncounted, or is counted as if it had run.
    void told.catch(() => {});
  }

  async function park(one: Watched, since: number): Promise<Watched["phase"]> {
    const answer = await one.sandbox.pause(one.instanceId);
    if (answer !== "paused") {
      one.refusedSince = since;
      return "running";
    }
    // It ended meanwhile, or this node leaves: who goes on with it wakes it.
    if (all.get(one.instanceId) === one) one.slot.giveBack();
    tell(one, true);
    return "parked";
  }

  async function wake(one: Watched): Promise<Watched["phase"]> {
    await one.slot.takeAgain();
    await one.sandbox.resume(one.instanceId);
    tell(one, false);
    return "running";
  }

  return {
    /** Looks after an instance until it is left. One that another node left parked goes on first. */
    async watch(one: Parkable, isFound: boolean): Promise<() => void> {
      if (isFound) {
        await one.sandbox.resume(one.instanceId);
        tell(one, false);
      }
      const watched: Watched = { ...one, phase: "running", refusedSince: null };
      all.set(one.instanceId, watched);
      timer ??= setInterval(() => void look(), roundMs);
      return () => {
        if (all.get(one.instanceId) === watched) all.delete(one.instanceId);
        if (all.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
    /** Instances that stand still. */
    parked: (): number => [...all.values()].filter(({ phase }) => phase === "parked").length,
  };
}
