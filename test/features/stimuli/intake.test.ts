/** The key comes before the rate, whatever the tenant has left (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Arrival, Stimulus } from "../../../actors/stimulus/stimulus.ts";
import type { Holder } from "../../../src/features/stimuli/intake/acceptance.ts";
import { createIntake, type Intake } from "../../../src/features/stimuli/intake/intake.ts";
import type { Processed } from "../../../src/features/stimuli/intake/processing/processor.ts";
import { watchSettled } from "../../../src/features/stimuli/intake/processing/settled-watch.ts";

const failed: Processed = {
  kind: "ended",
  settlement: { status: "rejected", code: "no_router_configured", message: "none", extras: {}, detail: null },
  takenBy: [],
};
const classified = {
  kind: "ended",
  settlement: { status: "classified", started: { workflow_id: "w", workflow_name: "w" }, detail: { confidence: 1 } },
  takenBy: [],
} as unknown as Processed;

/** Intake by a tenant that may start `most` runs in all; `process` says how the nth attempt ends. */
function intakeOf(most: number, processStimulus: (attempt: number) => Promise<Processed>) {
  let left = most;
  let attempts = 0;
  let ids = 0;
  const keys = new Map<string, Holder>();
  const watch = watchSettled(async (asked) => new Set(asked.map(({ id }) => id)));
  const counted: string[] = [];
  const intake = createIntake({
    received: () => {},
    acceptance: {
      async accept(arrival) {
        // A write takes its time.
        await Bun.sleep(1);
        const key = arrival.key ?? "";
        const holder = keys.get(key);
        if (holder !== undefined) return { duplicateOf: holder };
        const id = `s-${++ids}`;
        keys.set(key, { stimulusId: id, status: "received", acknowledge: "routed", executionId: null, by: "key" });
        return { accepted: { ...arrival, id, executionId: `e-${ids}` } as Stimulus };
      },
      waiting: () => 0,
      holder: async ({ key }) => keys.get(key ?? "") ?? null,
    },
    async processStimulus({ id, key, executionId }) {
      const processed = await processStimulus(++attempts);
      const started = processed.kind === "ended" && processed.settlement.status === "classified";
      if (started)
        keys.set(key ?? "", { stimulusId: id, status: "classified", acknowledge: "routed", executionId, by: "key" });
      else {
        keys.delete(key ?? "");
        left++;
      }
      watch.settled({ id });
      return processed;
    },
    backlog: { require: async () => {}, added: () => {} },
    watch,
    limiter: {
      async debit() {
        if (left === 0) throw new Problem("rate_limited", "none left");
        left--;
        return { headers: {}, at: 0, warnings: [] };
      },
      async refund() {
        left++;
      },
    },
    sourceOf: async () => null,
    duplicate: async (_, id) => void counted.push(id),
    wake: () => {},
    report: () => {},
    now: Date.now,
  });
  return { intake, counted };
}

const arrival = {
  tenant: "t",
  source: "ci",
  channel: "webhook",
  acknowledge: "routed",
  key: "k",
  receivedBy: { kind: "webhook", sub: "webhook:ci", email: null, tier: null, realm: null },
};
const codes = (intake: Intake, count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      intake({ ...arrival } as Arrival).then(
        ({ status }) => String(status),
        (error: Problem) => error.code,
      ),
    ),
  );

test("of many at once under one key one starts, the others repeat, with one start left", async () => {
  const { intake, counted } = intakeOf(1, async () => {
    // Takes longer than the acceptance of the others.
    await Bun.sleep(5);
    return classified;
  });
  const answers = await codes(intake, 6);
  expect(answers.sort()).toEqual(["200", ...Array(5).fill("idempotent_duplicate")]);
  expect(counted).toEqual(Array(5).fill("s-1"));
  expect(await codes(intake, 1)).toEqual(["idempotent_duplicate"]);
});

test("when the first comes to nothing the next has the key and the returned start", async () => {
  const { intake } = intakeOf(1, async (attempt) => {
    // Takes longer than the acceptance of the others.
    await Bun.sleep(5);
    return attempt === 1 ? failed : classified;
  });
  const answers = await codes(intake, 4);
  expect(answers.sort()).toEqual(["200", "idempotent_duplicate", "idempotent_duplicate", "no_router_configured"]);
});

test("a free key is refused when the rate is used up", async () => {
  const { intake } = intakeOf(0, async () => classified);
  expect(await codes(intake, 2)).toEqual(["rate_limited", "rate_limited"]);
});
