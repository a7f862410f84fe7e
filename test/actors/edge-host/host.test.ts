/** Commands of an edge host, one history after another (docs/reference/edge-link.md). */
import { expect, test } from "bun:test";
import { Host, helloOf, idOf, resultOf, second } from "./world.ts";

const started = (index: number) => ({ type: "started", command_id: idOf(index) }) as const;
const listed = (index: number, state: "running" | "finished" = "running") => ({ command_id: idOf(index), state });

/** A host with a link and one command that was sent. */
function sent(): Host {
  const host = new Host();
  host.hello(1);
  host.offer(1);
  expect(host.frames()).toMatchObject([{ kind: "invoke", command_id: idOf(1), epoch: 1 }]);
  return host;
}
function cut(host: Host, longer = false): void {
  host.tell("link_closed", { epoch: host.state.epoch, longer });
}
/** Timers fire as they are due until the host has waited for so long. */
function wait(host: Host, ms: number): void {
  const until = host.sim.now + ms;
  while ([...host.sim.timers.values()].some(({ at }) => at <= until)) host.sim.fireNext();
  host.sim.now = until;
}

test("a command that is listed after a cut is one command with one result", () => {
  const host = sent();
  host.report(started(1));
  cut(host);
  host.hello(2, { journal_seq: 1, commands: [listed(1)] });
  host.report(resultOf(idOf(1)));
  host.report(resultOf(idOf(1)));
  expect(host.frames()).toEqual([]);
  expect(host.ended).toMatchObject([{ status: "ok", exit_code: 0, duration_ms: 5 }]);
});

test("a command that the same journal does not list is sent again under its id", () => {
  const host = sent();
  cut(host);
  host.hello(2);
  expect(host.statusOf(1)).toBe("pending");
  expect(host.ready).toEqual([{ idx: 1, attempt: 1 }]);
  expect(host.ask<object>("go", { command_id: idOf(1) })).toEqual({ outcome: "started" });
  expect(host.frames()).toMatchObject([{ kind: "invoke", command_id: idOf(1), epoch: 2 }]);
});

test.each([
  ["another journal", { journal_id: "journal-2" }, false],
  ["a journal of an earlier moment", { journal_seq: 4 }, false],
  ["another boot while the older link is open", { boot_id: "boot-2", journal_seq: 5 }, true],
])("%s that does not list a command has lost it", (_, hello, isOpen) => {
  const host = new Host();
  host.hello(1, { journal_seq: 4 });
  host.offer(1);
  host.offer(2);
  host.report(started(2), resultOf(idOf(2)));
  host.frames();
  if (!isOpen) cut(host);
  const welcome = host.hello(2, hello);
  expect(welcome).toMatchObject({ journal_replaced: true, epoch: 2 });
  expect(host.ended).toMatchObject([{ status: "ok" }, { status: "lost", error_kind: "journal_lost" }]);
  expect(host.frames()).toEqual([]);
});

test("an open link of a node that has died is none", () => {
  const host = sent();
  host.hello(2, { boot_id: "boot-2", live_nodes: ["n2"], dead_nodes: ["n1"], node: "n2" });
  expect(host.statusOf(1)).toBe("pending");
});

test("a node that a list of live ones lacks is looked for before its link is none", () => {
  const host = sent();
  const hello = helloOf(2, { boot_id: "boot-2", live_nodes: ["n2"], node: "n2" });
  expect(host.ask<object>("hello", hello)).toEqual({ outcome: "unknown_node", node: "n1" });
  expect(host.state).toMatchObject({ epoch: 1, status: "connected", link: { node: "n1" } });
  // It was younger than the list: the two boots are two daemons of one state.
  expect(host.hello(2, { ...hello, live_nodes: ["n1", "n2"] })).toMatchObject({ superseded: "n1" });
  expect(host.ended).toMatchObject([{ status: "lost", error_kind: "journal_lost" }]);
});

test("a hello that comes again after a later one takes nothing back", () => {
  const host = new Host();
  host.hello(1);
  host.offer(1);
  host.hello(2);
  host.go();
  host.report(started(1));
  expect(host.ask<object>("hello", helloOf(1))).toEqual({ outcome: "superseded" });
  expect([host.statusOf(1), host.state.link?.id, host.state.epoch]).toEqual(["running", "link-2", 2]);
  cut(host);
  expect(host.ask<object>("hello", helloOf(2))).toEqual({ outcome: "superseded" });
  for (let link = 3; link < 40; link++) host.hello(link);
  expect(host.state.links).toHaveLength(8);
});

test("a running command that is not listed is lost, also to the same journal", () => {
  const host = sent();
  host.report(started(1));
  cut(host);
  host.hello(2, { journal_seq: 1 });
  expect(host.ended).toMatchObject([{ status: "lost", error_kind: "journal_lost" }]);
});

test("a result after its command was lost fills the record as a late one", () => {
  const host = sent();
  cut(host);
  wait(host, 120 * second);
  expect(host.ended).toMatchObject([{ status: "lost", error_kind: "edge_disconnected" }]);
  host.hello(2, { commands: [listed(1, "finished")] });
  host.report(resultOf(idOf(1)));
  expect(host.ended).toHaveLength(1);
  expect(host.recordOf(idOf(1)).at(-1)).toMatchObject({ late: { stdout_tail: "out" } });
});

test("commands above the slots wait, in order, for the word of their run", () => {
  const host = new Host();
  host.hello(1);
  for (const index of [1, 2, 3, 4]) host.offer(index);
  expect(host.frames().map(({ command_id }) => command_id)).toEqual([idOf(1), idOf(2)]);
  expect(host.ready).toEqual([]);
  host.report(resultOf(idOf(2)));
  expect(host.ready).toEqual([
    { idx: 3, attempt: 1 },
    { idx: 4, attempt: 1 },
  ]);
  host.ask("go", { command_id: idOf(3) });
  expect(host.ask<object>("go", { command_id: idOf(4) })).toEqual({ outcome: "waiting" });
  expect(host.frames().map(({ command_id }) => command_id)).toEqual([idOf(3)]);
  host.report(resultOf(idOf(1)));
  expect(host.ready.at(-1)).toEqual({ idx: 4, attempt: 1 });
});

test("what the daemon still runs after its end here keeps its slot", () => {
  const host = new Host();
  host.hello(1, { slots: 1 });
  host.offer(1);
  wait(host, 61 * second);
  expect(host.ended).toMatchObject([{ status: "lost", error_kind: "no_response" }]);
  expect(host.frames().map(({ kind }) => kind)).toEqual(["invoke", "cancel"]);
  host.offer(2);
  expect(host.statusOf(2)).toBe("pending");
  host.report(resultOf(idOf(1)));
  expect(host.ready).toEqual([{ idx: 2, attempt: 1 }]);
});

test("a daemon that never answers holds up no command for ever", () => {
  const host = new Host();
  host.hello(1, { slots: 1 });
  host.offer(1);
  wait(host, 61 * second);
  host.offer(2);
  wait(host, 61 * second);
  expect(host.ready).toEqual([{ idx: 2, attempt: 1 }]);
  expect(host.ask<{ outcome: string }>("go", { command_id: idOf(2) })).toEqual({ outcome: "started" });
  wait(host, 61 * second);
  expect(host.ended.map(({ status }) => status)).toEqual(["lost", "lost"]);
});

test("one that is offered again after its end is not sent again", () => {
  const host = sent();
  host.report(resultOf(idOf(1)));
  host.offer(1);
  expect(host.frames()).toEqual([]);
  expect(host.ended).toHaveLength(1);
});

test("one that is stopped before it is offered ends as it comes", () => {
  const host = new Host();
  host.hello(1);
  host.tell("withdraw", { command_id: idOf(1) });
  host.offer(1);
  expect(host.ended).toMatchObject([{ status: "not_started" }]);
  expect(host.frames()).toEqual([]);
});

test.each([
  ["at the end of the grace", {}, false, 120, "edge_disconnected"],
  ["a minute later where the service is to blame", {}, true, 180, "edge_disconnected"],
])("what was sent to a host that stays away is lost %s", (_, changes, longer, seconds, error_kind) => {
  const host = new Host();
  host.hello(1);
  host.offer(1, changes);
  cut(host, longer);
  wait(host, (seconds - 1) * second);
  expect(host.ended).toEqual([]);
  wait(host, second);
  expect(host.ended).toMatchObject([{ status: "lost", error_kind }]);
});

test.each([
  ["the grace", null, 120, "edge_disconnected"],
  ["the time that it may be queued", 600, 600, "offline_ttl"],
])("what waits for a host that is away expires after %s", (_, queue, seconds, error_kind) => {
  const host = new Host();
  host.offer(1, { held: true, queue_until: queue === null ? null : host.sim.now + queue * second });
  wait(host, (seconds - 1) * second);
  expect(host.ended).toEqual([]);
  wait(host, second);
  expect(host.ended).toMatchObject([{ status: "expired", error_kind }]);
});

test("a command waits as long as its host is there and busy", () => {
  const host = new Host();
  host.hello(1, { slots: 1 });
  host.offer(1, { timeout_ms: 3_600_000 });
  host.offer(2);
  host.report(started(1));
  wait(host, 1800 * second);
  expect(host.statusOf(2)).toBe("pending");
});

test.each([
  ["before it was to start", false, 60],
  ["behind its time", true, 90],
])("a silent daemon has lost a command 30 s %s is over", (_, isRunning, seconds) => {
  const host = sent();
  if (isRunning) host.report(started(1));
  wait(host, (seconds - 1) * second);
  expect(host.ended).toEqual([]);
  wait(host, second);
  expect(host.ended).toMatchObject([{ status: "lost", error_kind: "no_response" }]);
});

test("a cancel is sent once, again after a reconnect, and counts after 30 s of silence", () => {
  const host = sent();
  host.report(started(1));
  for (let times = 0; times < 2; times++) host.tell("cancel", { command_id: idOf(1), reason: "operator" });
  expect(host.frames()).toMatchObject([{ kind: "cancel", reason: "operator" }]);
  cut(host);
  wait(host, 20 * second);
  host.hello(2, { journal_seq: 1, commands: [listed(1)] });
  expect(host.frames()).toMatchObject([{ kind: "cancel", epoch: 2 }]);
  wait(host, 29 * second);
  expect(host.ended).toEqual([]);
  wait(host, second);
  expect(host.ended).toMatchObject([{ status: "lost", error_kind: "no_response" }]);
});

test("a result that comes before the cancel is carried out is the end", () => {
  const host = sent();
  host.tell("cancel", { command_id: idOf(1), reason: "operator" });
  host.report(resultOf(idOf(1)));
  expect(host.ended).toMatchObject([{ status: "ok" }]);
});

test("a cancelled command that never reached its daemon was not started", () => {
  const host = sent();
  host.tell("cancel", { command_id: idOf(1), reason: "operator" });
  cut(host);
  host.hello(2);
  expect(host.ended).toMatchObject([{ status: "not_started", reason: "operator" }]);
});

test("a daemon that still runs what has ended here is told to cancel it", () => {
  const host = new Host();
  host.hello(1, { commands: [listed(7)] });
  expect(host.frames()).toMatchObject([{ kind: "cancel", command_id: idOf(7), epoch: 1 }]);
});

test("revoking a host ends what was sent as lost and the rest as cancelled, for ever", () => {
  const host = sent();
  host.offer(2);
  host.offer(3);
  host.ask("revoke", {});
  host.offer(4);
  const reason = "RevokedDuringDispatch";
  expect(host.ended).toMatchObject([
    { idx: 1, status: "lost", reason },
    { idx: 2, status: "lost", reason },
    { idx: 3, status: "cancelled", reason },
    { idx: 4, status: "cancelled", reason },
  ]);
  expect(host.ask<object>("hello", { ...helloBody() })).toMatchObject({ outcome: "revoked" });
});

test("two boots that take the link from each other are clones until a person accepts", () => {
  const host = new Host();
  host.hello(1, { boot_id: "a" });
  expect(host.hello(2, { boot_id: "b" }).cloned).toBe(false);
  expect(host.hello(3, { boot_id: "a" }).cloned).toBe(false);
  expect(host.hello(4, { boot_id: "b" }).cloned).toBe(true);
  expect(host.state.not_accepting).toEqual(["cloned"]);
  host.offer(1);
  expect(host.frames()).toEqual([]);
  host.ask("accept", { accepting: true });
  expect(host.state.not_accepting).toEqual([]);
  expect(host.ready).toEqual([{ idx: 1, attempt: 1 }]);
});

test("a daemon that is started anew again and again is no clone", () => {
  const host = new Host();
  for (const [at, boot_id] of ["a", "b", "c", "d", "e"].entries())
    expect(host.hello(at, { boot_id }).cloned).toBe(false);
});

test("an outdated daemon gets nothing new, and its results count", () => {
  const host = sent();
  host.hello(2, { outdated: true, journal_seq: 1, commands: [listed(1)] });
  host.offer(2);
  host.report(resultOf(idOf(1)));
  expect(host.statusOf(1)).toBe("ok");
  expect(host.statusOf(2)).toBe("pending");
  expect(host.state.not_accepting).toEqual(["outdated"]);
});

test("what a former link says of itself counts no more; what it says of results does", () => {
  const host = sent();
  host.hello(2, { commands: [listed(1)] });
  host.tell("link_closed", { epoch: 1, longer: false });
  host.tell("link_changed", { epoch: 1, healthy: false, accepting: false });
  expect(host.state).toMatchObject({ status: "connected", not_accepting: [] });
  host.ask("reports", { epoch: 1, reports: [resultOf(idOf(1))] });
  expect(host.statusOf(1)).toBe("ok");
});

test("the same hello again is the same link", () => {
  const host = new Host();
  expect(host.hello(1).epoch).toBe(1);
  expect(host.hello(1).epoch).toBe(1);
  expect(host.hello(2).epoch).toBe(2);
});

test("a paused run that was told of a free slot holds up no other", () => {
  const host = new Host();
  host.hello(1, { slots: 1 });
  host.offer(1, { held: true });
  expect(host.ready).toEqual([{ idx: 1, attempt: 1 }]);
  host.offer(2, { held: true });
  expect(host.ready.at(-1)).toEqual({ idx: 2, attempt: 1 });
  expect(host.ask<object>("go", { command_id: idOf(2) })).toEqual({ outcome: "started" });
});

function helloBody() {
  return {
    ...{
      link_id: "late",
      node: "n1",
      live_nodes: ["n1"],
      dead_nodes: [],
      journal_id: "j",
      journal_seq: 0,
      boot_id: "b",
      slots: 1,
    },
    ...{ agent_version: "1.0.0", outdated: false, commands: [] },
    capabilities: { os: "linux", arch: "x86_64", local_tools: [], mount_points: [], labels: {} },
  };
}
