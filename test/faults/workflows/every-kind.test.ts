/** One death of the node finds a run at each kind of state: all end as one that no death met, and do all things once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { podman } from "../../harness/outside/podman.ts";
import { count, expectOnce, marksOf } from "./fixture.ts";
import { type Place, places } from "./tour/states.ts";
import { Tour, type Tourist } from "./tour/tour.ts";

setDefaultTimeout(180_000);

const pod = await podman();
const isOfBoxes = (place: Place) => place === "BOX" || place === "STEPS";
const here = places.filter((place) => pod !== null || !isOfBoxes(place));
const isLong = process.env.SVC_LONG_TESTS === "1";

let at: NodeFixture;
let tour: Tour;
/** What the run came to that no death met, with the states of containers and without. */
let undisturbed: LooseJson;
const held = new Map<Place, Tourist>();

beforeAll(async () => {
  at = await NodeFixture.open({
    ...{ SVC_RATE_LIMITS: "false", SVC_TRUSTED_PROXIES: "127.0.0.1", SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' },
    ...(pod === null ? {} : { SVC_DOCKER_SOCKET: pod.socket, SVC_IMAGE_REGISTRIES: "localhost" }),
  });
  tour = await Tour.open(at, pod);

  const free = await tour.send("free", [], true);
  for (const place of here) held.set(place, await tour.send(`at-${place.toLowerCase()}`, [place]));

  undisturbed = await tour.outcomeOf(free);

  for (const [place, tourist] of held) {
    await tour.isAt(tourist, place);
  }
  // They have just begun when the node dies.
  for (const name of ["late", "later"]) await tour.send(name, []);
  const retried = held.get("RETRY");
  if (retried !== undefined) await tour.untilRetry(retried);

  await tour.die();

  for (const [place, tourist] of held) await tour.release(tourist, place);
}, 120_000);
afterAll(async () => {
  await tour?.close();
  await at?.close();
});

/** The tour's end is that of the undisturbed one, and the world saw everything once. */
async function expectSame(tourist: Tourist, hasBoxes: boolean): Promise<void> {
  const { name, first } = tourist;
  expect(await tour.outcomeOf(tourist)).toEqual(
    hasBoxes || pod === null ? undisturbed : Tour.withoutBoxes(undisturbed),
  );
  const second = await tour.second(tourist);
  const types = await expectOnce(at, second);
  expect(types.at(-1)).toBe("WorkflowExecutionFailed");
  for (const [type, wanted] of Object.entries(once)) expect([type, count(types, type)]).toEqual([type, wanted]);
  expect(await expectOnce(at, first)).toContain("WorkflowExecutionContinued");
  const boxes = hasBoxes && pod !== null ? ["BOX", "STEPS", "quick"] : [];
  const lines = ["AGENT", "EACH-0", "EACH-1", "EACH-2", "FAN", "ROADS", "SYSTEM", "UNDO", ...boxes];
  expect((await marksOf(at, second)).toSorted()).toEqual(lines.toSorted());
  expect((await at.agentsOf(second)).map(({ agent_name }) => agent_name).toSorted()).toEqual([
    "quick",
    "slow",
    "tourist",
  ]);
  const keys = tour.receiver.at(`/${name}`).map(({ headers }) => headers.get("idempotency-key"));
  expect(new Set(keys)).toEqual(new Set([`${second}:HTTP:1`]));
  expect([...tour.commands.values()].filter((one) => one === name)).toHaveLength(1);
  const children = await at.ok("GET", `/v1/workflows/executions?parent_execution_id=${second}`);
  expect(children.executions).toHaveLength(1);
}

const once = {
  SubworkflowTriggered: 1,
  SubworkflowCompleted: 1,
  WorkflowStateRetried: 1,
  WorkflowBranchJoined: 1,
  WorkflowCompensationStarted: 4,
  WorkflowCompensationCompleted: 4,
  WorkflowCompensationFailed: 0,
};

test("an undisturbed run goes through all kinds, and is undone", async () => {
  expect(undisturbed).toMatchObject({ status: "failed", compensation: { status: "done", remaining: [] } });
  const free = tour.tourists.get("free");
  if (free) await expectSame(free, true);
  expect(tour.receiver.at("/free")).toHaveLength(2);
});

test.each(here)("one that the death found at %s ends as that one", async (place) => {
  const tourist = held.get(place);
  if (tourist === undefined) throw new Error("it was not sent");
  await expectSame(tourist, isOfBoxes(place));
  expect(tour.receiver.at(`/${tourist.name}`)).toHaveLength(place === "HTTP" ? 3 : 2);
});

test.each(["late", "later"])("one that had just begun (%s) does, too", async (name) => {
  const tourist = tour.tourists.get(name);
  if (tourist === undefined) throw new Error("it was not sent");
  await expectSame(tourist, false);
});

test.skipIf(!isLong)("one that a death finds at each state in turn does, too", async () => {
  const tourist = await tour.send("in-turn", here, true);
  for (const place of here) {
    await tour.isAt(tourist, place);
    if (place === "RETRY") await tour.untilRetry(tourist);
    await tour.die();
    await tour.release(tourist, place);
  }
  await expectSame(tourist, true);
});

test("each of them started one run by its tool", async () => {
  const { executions } = await at.ok("GET", "/v1/workflows/executions?limit=200");
  const ticks = executions.filter(({ workflow_name }: LooseJson) => workflow_name === "tick");
  const names = await Promise.all(ticks.map(async ({ id }: LooseJson) => (await at.record(id)).input.name));
  expect(names.toSorted()).toEqual([...tour.tourists.keys()].toSorted());
});
