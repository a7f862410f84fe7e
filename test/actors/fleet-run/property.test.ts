/** Any policy over any outcomes: what holds for every fleet run (docs/reference/edge-fleet.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { concurrency, isFailed } from "../../../actors/edge/policy.ts";
import type { CommandEnd } from "../../../actors/edge-host/command.ts";
import { canarySize, resolvedOf, wavesOf } from "../../../actors/fleet-run/state.ts";
import { isFailure } from "../../../actors/fleet-run/targets.ts";
import { RunStory } from "./story.ts";

const share = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 100 }).map((part) => `${part}%`),
);
const policies = fc.record(
  {
    mode: fc.oneof(
      fc.constant("Sequential"),
      fc.constant("Parallel"),
      share.map((batch) => ({ Rolling: { batch } })),
    ),
    max_concurrency: fc.integer({ min: 1, max: 8 }),
    failure_policy: fc.oneof(
      fc.constant("FailFast"),
      fc.constant("ContinueOnError"),
      fc.integer({ min: 1, max: 5 }).map((StopAfter) => ({ StopAfter })),
      fc.integer({ min: 1, max: 100 }).map((StopAfterPercent) => ({ StopAfterPercent })),
    ),
    canary: share,
    canary_soak_secs: fc.constantFrom(0, 60),
    pause_after_canary: fc.boolean(),
    retries: fc.integer({ min: 0, max: 3 }),
    retry_on: fc.subarray(["err", "timed_out", "lost", "expired", "refused"]),
    retry_delay_secs: fc.constantFrom(0, 5),
    offline_ttl_secs: fc.constantFrom(0, 600),
    run_deadline_secs: fc.constantFrom(3600),
  },
  { requiredKeys: [] },
);
const ends: readonly CommandEnd[] = ["ok", "ok", "ok", "err", "timed_out", "refused", "lost", "cancelled"];
/** What happens next: a command ends, a queued host comes, work is done, people and timers act. */
const steps = fc.array(fc.record({ act: fc.nat(99), pick: fc.nat(10_000), end: fc.constantFrom(...ends) }), {
  maxLength: 60,
});

/** One random happening. */
function happen(story: RunStory, { act, pick, end }: { act: number; pick: number; end: CommandEnd }): void {
  const live = [...story.live.values()];
  const chosen = live.length === 0 ? undefined : live[pick % live.length];
  const works = [...story.sim.activities.keys()];
  if (act < 40 && works.length > 0)
    story.doing(works[pick % works.length] ?? "", pick % 5 === 0 ? new Set([pick % 7]) : undefined);
  else if (act < 80 && chosen !== undefined) {
    if (!chosen.held) story.end(chosen.idx, end);
    else if (act < 60) story.ready(chosen.idx);
    else story.end(chosen.idx, "expired");
  } else if (act < 85) story.act("pause");
  else if (act < 92) story.act("resume");
  else if (act < 94) story.sim.askNow(act === 92 ? "hold" : "unhold", { reason: "tenant_suspended" });
  else if (act === 94) story.act("cancel");
  else story.sim.fireNext();
}

test("every run ends once, adds up, keeps to its places and halts where its rule says", () => {
  fc.assert(
    fc.property(
      policies,
      fc.nat(12),
      fc.nat(5),
      steps,
      fc.array(fc.constantFrom(...ends), { minLength: 1, maxLength: 9 }),
      (policy, eligible, waited, happenings, outcomes) => {
        const queued = (policy.offline_ttl_secs ?? 0) > 0 ? waited : 0;
        const story = new RunStory({ policy, eligible, queued });
        const whole = resolvedOf(story.state);
        const check = (): void => {
          const { failed: _, ...counts } = story.summary;
          expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(whole);
          const inFlight = [...story.live.values()].filter(({ held }) => !held).length;
          expect(inFlight).toBeLessThanOrEqual(concurrency(story.state.policy, whole));
          const isHalted = isFailed(story.state.policy.failure_policy, story.summary.failed, whole);
          if (isHalted && whole > 0) expect(["running", "paused"]).not.toContain(story.state.status);
        };
        for (const happening of happenings) {
          happen(story, happening);
          check();
        }
        let nth = 0;
        const outcome = () => outcomes[nth++ % outcomes.length] ?? "ok";
        for (let round = 0; story.last === null && round < 400; round++) {
          story.act("resume");
          story.sim.askNow("unhold", { reason: "tenant_suspended" });
          story.work();
          for (const { idx, held } of [...story.live.values()]) {
            if (!story.live.has(idx)) continue;
            if (held) story.ready(idx);
            else story.end(idx, outcome());
            check();
          }
          story.work();
          if ([...story.live.values()].every(({ held }) => held)) story.sim.fireNext();
        }
        expect(story.last).not.toBeNull();
        expect(story.events.filter(({ type }) => type === "ended")).toHaveLength(1);
        expect(story.summary.in_progress).toBe(0);
        expect(story.sim.timers.size).toBe(0);
        expect(new Set(story.begun.map(String)).size).toBe(story.begun.length);
        // Hosts that can be reached get their commands in their order.
        const first = [...new Set(story.handed(1))].filter((idx) => idx < eligible);
        expect(first).toEqual([...first].sort((one, other) => one - other));
      },
    ),
    { numRuns: 300 },
  );
});

test("a wave begins when the former has ended, and the canary comes first", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), share, fc.option(share), (eligible, batch, canary) => {
      const policy = { mode: { Rolling: { batch } }, failure_policy: "ContinueOnError", ...(canary ? { canary } : {}) };
      const story = new RunStory({ eligible, policy });
      const sizes = wavesOf(story.state);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(eligible);
      if (canary !== null) expect(sizes[0]).toBe(canarySize(story.state));
      let from = 0;
      for (const size of sizes) {
        const wave: number[] = [];
        for (story.work(); wave.length < size; story.work()) {
          const [next] = story.live.keys();
          if (next === undefined) throw new Error("the wave has stopped");
          wave.push(next);
          story.end(next, "ok");
        }
        expect(wave.sort((one, other) => one - other)).toEqual(Array.from({ length: size }, (_, nth) => from + nth));
        from += size;
      }
      expect(story.last?.status).toBe("complete");
    }),
    { numRuns: 200 },
  );
});

test("a failure of the canary halts at once", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 20 }),
      share,
      fc.constantFrom(...ends.filter(isFailure)),
      (eligible, canary, end) => {
        const policy = { mode: "Parallel", failure_policy: "ContinueOnError", canary };
        const story = new RunStory({ eligible, policy }).work();
        const others = canarySize(story.state) - 1;
        story.end(0, end);
        expect([story.state.status === "halted" || story.state.status === "halting", story.state.reason]).toEqual([
          true,
          "canary_failed",
        ]);
        expect(story.endAll().begun).toHaveLength(others + 1);
      },
    ),
  );
});
