/** A lane among everything else that a node does. */

import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineActor } from "../../../actors/kernel/actor.ts";
import { message } from "../../../actors/kernel/message.ts";
import { Harness } from "../harness.ts";

const harness = new Harness();

test("turns that take long let others in between, even within one commit", async () => {
  let ticks = 0;
  let isOver = false;
  const seen: number[] = [];
  const slow = defineActor({
    kind: "slow",
    state: Type.Object({}),
    messages: { work: message({ body: Type.Object({}), reply: Type.Boolean() }) },
    receive: {
      work() {
        seen.push(ticks);
        // As a template at its limit: nothing else of the process runs meanwhile.
        const until = performance.now() + 30;
        while (performance.now() < until);
        return { state: {}, reply: true, effects: [] };
      },
    },
  });
  const { runtime } = await harness.node({ actors: [slow] });
  const tick = () => {
    ticks += 1;
    if (!isOver) setImmediate(tick);
  };
  tick();
  const commits = runtime.counts().commits;
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      runtime.ask({ kind: "slow", key: `s${index}`, tenant: "acme" }, "work", {}, { fresh: true }),
    ),
  );
  isOver = true;
  expect(runtime.counts().commits - commits).toBeLessThan(12);
  // One moment for each turn, not one for each commit.
  expect(new Set(seen).size).toBe(12);
});
