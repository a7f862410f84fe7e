/** Which commits of actors are changes of records (docs/reference/events-stream.md). */
import { expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { changesOfActors } from "../../../src/features/changes/of-actors.ts";
import { changesOfStimuli } from "../../../src/features/changes/port.ts";

function heard() {
  const told: unknown[] = [];
  const changes = {
    changed: (tenant: string, change: object) => void told.push({ tenant, ...change }),
    mayBeFollowed: (tenant: string) => tenant !== "quiet",
  };
  const of = (kind: string) => changesOfActors(changes).find((one) => one.kind === kind);
  return { told, of, stimulus: changesOfStimuli(changes) };
}
const host = (more: object) => ({
  status: "connected",
  epoch: 1,
  agent_version: "1",
  commands: [],
  not_accepting: [],
  ...more,
});
const commit = (before: object | null, after: object | null, tenant = "north") => [
  { key: "k", tenant, version: 7, before: before as Json, after: after as Json },
];

test.each([
  ["execution", { status: "running" }, { type: "execution", status: "running", rev: 7 }],
  ["workflow_run", { status: "running", header: {} }, { type: "run", status: "running", rev: 7 }],
  ["approval", { status: "pending" }, { type: "approval", status: "pending", rev: 7 }],
  ["fleet-run", { status: "paused" }, { type: "fleet_run", status: "paused", rev: 7 }],
  ["edge-host", host({}), { type: "host", status: "connected" }],
])("each commit of a new or ended %s is told, where its tenant may be followed", (kind, state, told) => {
  const { told: all, of } = heard();
  of(kind)?.committed?.(commit(null, state));
  of(kind)?.committed?.(commit(null, state, "quiet"));
  of(kind)?.committed?.(commit(state, null));
  expect(all).toEqual([
    { tenant: "north", id: "k", ...told },
    { tenant: "north", id: "k", ...told, status: "deleted" },
  ]);
});

test("records of a map's items are no runs, and heartbeats no news of a host", () => {
  const { told, of } = heard();
  of("workflow_run")?.committed?.(commit(null, { status: "running", header: { batch: {} } }));
  of("edge-host")?.committed?.(commit(host({ frames: 1 }), host({ frames: 2 })));
  expect(told).toEqual([]);
  of("edge-host")?.committed?.(commit(host({}), host({ status: "disconnected" })));
  of("edge-host")?.committed?.(commit(host({}), host({ commands: [{}] })));
  expect(told).toHaveLength(2);
});

test("of a stimulus its states are told, and its arrival only where nothing else was", () => {
  const { told, stimulus } = heard();
  stimulus("stimulus_received", { tenant: "north", stimulus_id: "s" });
  stimulus("stimulus_start_failed", { tenant: "north", stimulus_id: "s", code: "x" });
  stimulus("stimulus_ignored", { tenant: "north", source: "x" });
  expect(told).toEqual([
    { tenant: "north", type: "stimulus", id: "s", status: "received", telling: "first" },
    { tenant: "north", type: "stimulus", id: "s", status: "start_failed", telling: "always" },
  ]);
});
