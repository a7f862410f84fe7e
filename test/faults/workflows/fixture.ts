/** Runs of workflows that a node's death must not harm: what holds them, what they leave behind, what must be true of them. */
import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { until } from "../../harness/until.ts";

/** A workspace that outlives its run, so that a test can read what was done in it. All runs of the workflow share it. */
export const kept = { spec: { storage: { workspace: { storage_class: "persistent" } } } };
export const end = { kind: "System", command: "noop", transitions: [] };
export const failedEnd = { ...end, outcome: "failed" };

/** Shell text that leaves a line, and goes on once the gate is open. */
export const held = (mark: string) => `echo ${mark} >> marks; until [ -e go ]; do sleep 0.1; done`;

/** Host directory of a run's kept workspace. @param dataDir of the node that made it */
async function workspaceOf(at: NodeFixture, id: string, dataDir: string): Promise<string> {
  const { blackboard } = await at.record(id);
  return join(dataDir, "volumes", blackboard.workspace_volume_id);
}

/** The lines that commands left in a run's workspace. */
export async function marksOf(at: NodeFixture, id: string, dataDir = at.node.dataDir): Promise<string[]> {
  const path = join(await workspaceOf(at, id, dataDir), "marks");
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

export function untilMarks(at: NodeFixture, id: string, count: number): Promise<unknown> {
  return until(async () => (await marksOf(at, id)).length === count, { timeoutMs: 30_000, what: `${count} lines` });
}

/** Lets what is held in a run's workspace go on. */
export async function openGate(at: NodeFixture, id: string, dataDir = at.node.dataDir): Promise<void> {
  writeFileSync(join(await workspaceOf(at, id, dataDir), "go"), "");
}

export async function dieAndReturn({ node }: NodeFixture): Promise<void> {
  await node.kill();
  await node.restart();
}

/** The approvals that a run ever asked for, open ones among them. */
export async function approvalsOf(at: NodeFixture, id: string): Promise<{ id: string; status: string }[]> {
  const open = (await at.ok("GET", `/v1/human-approvals?execution_id=${id}`)).items;
  const decided = (await at.ok("GET", `/v1/human-approvals/history?execution_id=${id}`)).items;
  return [...open, ...decided];
}

const terminal = /^WorkflowExecution(Completed|Failed|Cancelled|TimedOut)$/;

const visitOf = ({ details: { state_name, visit } }: LooseJson): string => `${state_name} ${visit}`;

/**
 * Each line of the run, itself and those of its branches, enters a state and leaves it before the next; branches go their
 * way while the run is at their state. @param wasCutOff what the run was at when it was ended from outside has no result
 */
function expectVisits(events: readonly LooseJson[], wasCutOff: boolean): void {
  const lines = new Map<string, string[]>([["", []]]);
  const givenUp = new Set(events.flatMap(({ details }) => details.cancelled ?? []));
  for (const { type, details } of events) {
    if (type === "WorkflowStateRetried") expect(lines.get(details.branch ?? "")?.at(-1)).toStartWith("Entered ");
    if (type !== "WorkflowStateEntered" && type !== "WorkflowStateExited") continue;
    const line: string[] = lines.get(details.branch ?? "") ?? [];
    lines.set(details.branch ?? "", line);
    line.push(`${type.slice("WorkflowState".length)} ${visitOf({ details })}`);
    if (details.branch !== undefined) expect(lines.get("")?.at(-1)).toStartWith("Entered ");
  }
  for (const [branch, visits] of lines) {
    const entered = visits
      .filter((visit) => visit.startsWith("Entered "))
      .map((visit) => visit.slice("Entered ".length));
    const goneThrough = entered.flatMap((visit) => [`Entered ${visit}`, `Exited ${visit}`]);
    const isCutOff = visits.length < goneThrough.length && (wasCutOff || givenUp.has(branch));
    expect(visits).toEqual(isCutOff || (wasCutOff && branch === "") ? goneThrough.slice(0, -1) : goneThrough);
  }
}

/** Each visit is undone once, in turn: begun, gone through, over. */
function expectUndone(events: readonly LooseJson[]): void {
  const kind = /^WorkflowCompensation(Started|Completed|Failed)$/;
  const steps = events.filter(({ type }) => kind.test(type));
  const begun = steps.filter(({ type }) => type === "WorkflowCompensationStarted").map(({ details }) => details);
  const undone = begun.map(({ of_state, of_visit }) => `${of_state} ${of_visit}`);
  expect(undone).toEqual([...new Set(undone)]);
  const told = steps.map(
    ({ type, details }) => `${kind.exec(type)?.[1] === "Started"} ${details.of_state} ${details.of_visit}`,
  );
  expect(told).toEqual(undone.flatMap((visit) => [`true ${visit}`, `false ${visit}`]));
  if (steps.every(({ type }) => !type.endsWith("Failed"))) expectVisits(events, false);
}

/**
 * A run that is over: one beginning and one end in the log, sequences without a gap, every visit entered once and left
 * once before the next, one approval per question.
 * @returns types of its events
 */
export async function expectOnce(at: NodeFixture, id: string): Promise<string[]> {
  const events = await at.logOf(id);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const types = events.map(({ type }): string => type);
  expect(types[0]).toBe("WorkflowExecutionStarted");
  expect(types.filter((type) => terminal.test(type))).toEqual([types.at(-1) ?? ""]);

  const { state_visits, status } = await at.record(id);
  // What is undone at the end counts as no visits of the run.
  const undoing = types.indexOf("WorkflowCompensationStarted");
  const before = undoing < 0 ? events : events.slice(0, undoing);
  expectVisits(before, status === "cancelled" || status === "timed_out");
  if (undoing >= 0) expectUndone(events.slice(undoing));
  const entered = before.filter(({ type }) => type === "WorkflowStateEntered").map(visitOf);
  const expected = Object.entries(state_visits).flatMap(([name, count]) =>
    Array.from({ length: Number(count) }, (_, index) => `${name} ${index + 1}`),
  );
  expect(entered.toSorted()).toEqual(expected.toSorted());

  const asked = events.filter(({ type }) => type === "HumanInputRequested").map(({ details }) => details.approval_id);
  const approvals = await until(
    async () => {
      const found = await approvalsOf(at, id);
      return found.every((one) => one.status !== "pending") && found;
    },
    { what: "the approvals to be shown as decided" },
  );
  expect(approvals.map((one) => one.id).toSorted()).toEqual(asked.toSorted());
  return types;
}

export const count = (types: readonly string[], wanted: string) => types.filter((type) => type === wanted).length;
