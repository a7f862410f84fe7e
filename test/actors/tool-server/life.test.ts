/** The life cycle of tool servers (docs/reference/tool-servers.md). */
import { expect, test } from "bun:test";
import {
  type Act,
  backoffMs,
  bornStopped,
  type Life,
  type LifeEvent,
  mostFaults,
  next,
} from "../../../actors/tool-server/life.ts";

const lost: LifeEvent = { type: "lost", error: "it ended" };
const running: Life = { ...bornStopped, status: "running" };
const starting: Life = { ...bornStopped, status: "starting" };

function after(life: Life, ...events: readonly LifeEvent[]): { readonly life: Life; readonly act: Act } {
  let result: readonly [Life, Act] = [life, { do: "nothing" }];
  for (const event of events) result = next(result[0], event, 0);
  return { life: result[0], act: result[1] };
}

test.each<[string, Life, LifeEvent, Life["status"], Act["do"]]>([
  ["the first call starts it", bornStopped, { type: "wanted" }, "starting", "start"],
  ["a call to one that starts changes nothing", starting, { type: "wanted" }, "starting", "nothing"],
  [
    "a call to one that failed changes nothing",
    { ...starting, status: "failed" },
    { type: "wanted" },
    "failed",
    "nothing",
  ],
  ["ready", starting, { type: "ready" }, "running", "nothing"],
  [
    "without a sandbox it fails at once",
    starting,
    { type: "no_sandbox", error: "sandbox_unavailable" },
    "failed",
    "give_up",
  ],
  ["an end while it runs starts it anew", running, lost, "starting", "start"],
  ["an end of one that is stopped is none", bornStopped, lost, "stopped", "nothing"],
  ["one missed health check changes nothing", running, { type: "health", error: "late" }, "running", "nothing"],
  ["a change while it runs replaces it", running, { type: "renewed" }, "running", "replace"],
  ["a change starts one that failed", { ...starting, status: "failed" }, { type: "renewed" }, "starting", "start"],
  ["a change does not start one that nothing called", bornStopped, { type: "renewed" }, "stopped", "nothing"],
  ["disabled", running, { type: "unwanted" }, "stopped", "stop"],
])("%s", (_, life, event, status, act) => {
  const [result, done] = next(life, event, 0);
  expect([result.status, done.do]).toEqual([status, act]);
});

test("the second missed health check in a row restarts it", () => {
  const late: LifeEvent = { type: "health", error: "late" };
  expect(after(running, late, { type: "health", error: null }, late).life.status).toBe("running");
  expect(after(running, late, late)).toMatchObject({ life: { status: "unhealthy" }, act: { do: "start" } });
});

test("the tenth fault in a row ends it, and 300 s without one begin to count anew", () => {
  const nine = Array.from({ length: mostFaults - 1 }, () => lost);
  expect(after(running, ...nine).life.status).toBe("starting");
  expect(after(running, ...nine, lost)).toMatchObject({ life: { status: "failed" }, act: { do: "give_up" } });
  expect(after(running, ...nine, { type: "ready" }, { type: "calm" }, lost).life.faults).toBe(1);
});

test("the time between two attempts doubles from 1 s to 60 s, less at most a half", () => {
  expect([1, 2, 3, 6, 7, 9].map((faults) => backoffMs(faults, 0))).toEqual([
    1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
  ]);
  expect(backoffMs(3, 1)).toBe(2_000);
});
