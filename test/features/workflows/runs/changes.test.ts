/** Runs that are followed, forked and migrated, over real stores; by their tenant only. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import { definitionOf, human, noop, ways, writes } from "../../../actors/workflow/fixture.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
let south: string;
const prefix = "/v1/workflows/executions";
const asks = (name: string) => human(ways(["approved", name]));
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north", { userId: "ada", email: "ada@north.example" });
  south = fixture.caller("south");
  const steps = {
    ONE: writes({ one: "{{input.n}}" }, ["always", "ASK"]),
    ASK: human(ways(["approved", "TWO"])),
    TWO: writes({ one: "{{one}}!" }, ["always", "ASK"]),
  };
  fixture.register("north", definitionOf(steps, { name: "steps", context: { c: 1 } }));
  fixture.register("north", definitionOf({ ASK: asks("OLD"), OLD: noop() }, { name: "moves", version: "1.0.0" }));
});
afterAll(() => fixture.dispose());

const post = (path: string, body?: Json, token = north) => fixture.call(token, "POST", `${prefix}/${path}`, body);
const waiting = async (name: string, body: Json = {}) => {
  const id = await fixture.start(north, name, body);
  await fixture.waiting(north, id);
  return id;
};

test("a fork begins at a visit with the blackboard of then and the patch over it", async () => {
  const id = await waiting("steps", { input: { n: 7 }, blackboard: { given: true } });
  await post(`${id}/signal`, { response: "yes" });
  await until(async () => (await fixture.record(north, id)).state_visits.ASK === 2, { what: "the second visit" });
  const { status, body } = await post(`${id}/fork`, {
    from_state: "ASK",
    from_visit: 1,
    blackboard_patch: { patched: 1 },
  });
  expect([status, body.forked_from, body.retry_of]).toEqual([200, id, undefined]);
  const forked = await fixture.waiting(north, body.execution_id);
  expect(forked).toMatchObject({ forked_from: id, current_state: "ASK", transition_count: 1 });
  expect(forked.blackboard).toMatchObject({ c: 1, given: true, one: 7, patched: 1, input: { n: 7 } });
  expect(forked.blackboard.human.decision).toBeNull();
  const last = await post(`${id}/fork`, { from_state: "ASK" });
  expect((await fixture.waiting(north, last.body.execution_id)).blackboard).toMatchObject({ one: "7!" });

  const refused = async (given: Json, token = north) => {
    const answer = await post(`${id}/fork`, given, token);
    return [answer.status, answer.body.code, answer.body.issues?.[0]?.code];
  };
  expect(await refused({ from_state: "NO" })).toEqual([422, "unknown_state", "unknown_state"]);
  expect(await refused({ from_state: "ASK", from_visit: 3 })).toEqual([422, "unknown_state", "state_not_visited"]);
  const codes = async (given: Json, token = north) => (await refused(given, token)).slice(0, 2);
  expect(await codes({ from_state: "ASK", blackboard_patch: [1] })).toEqual([422, "invalid_blackboard"]);
  expect(await codes({ from_state: "ASK", blackboard_patch: { input: 1 } })).toEqual([422, "reserved_blackboard_key"]);
  expect(await codes({ from_state: "ASK" }, south)).toEqual([404, "workflow_execution_not_found"]);
});

test("runs that wait go on in another version, and lists and rows follow", async () => {
  const [one, two] = [await waiting("moves"), await waiting("moves")];
  const next = fixture.register(
    "north",
    definitionOf({ ASK: asks("NEW"), NEW: noop() }, { name: "moves", version: "2.0.0" }),
  );
  const asked = { workflow: "moves", to_version: "2.0.0", filter: { execution_ids: [one, Bun.randomUUIDv7()] } };
  expect((await post("migrate", asked)).body).toEqual({ matched: 1, migrated: [one], refused: [] });
  const rest = { workflow: "moves", to_version: "2.0.0", filter: { current_state: "ASK" } };
  expect((await post("migrate", rest)).body).toEqual({ matched: 1, migrated: [two], refused: [] });
  expect((await post("migrate", rest)).body).toEqual({ matched: 0, migrated: [], refused: [] });
  expect((await post("migrate", rest, south)).status).toBe(404);
  const listed = await fixture.call(north, "GET", `${prefix}?workflow_id=${next.workflow_id}`);
  expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual([two, one]);
  await post(`${one}/signal`, { response: "yes" });
  expect(await fixture.ended(north, one)).toMatchObject({ current_state: "NEW", workflow_version: "2.0.0" });
  fixture.register("north", definitionOf({ OTHER: noop() }, { name: "moves", version: "3.0.0" }));
  const { body } = await post("migrate", { workflow: "moves", to_version: "3.0.0" });
  expect(body).toMatchObject({ matched: 1, migrated: [], refused: [{ execution_id: two, code: "state_missing" }] });
});

test("a follower waits for its rate, takes the latest version, and is refused for good", async () => {
  const follows = { NEXT: { ...asks("END"), transitions: [], continue_as: { input: { n: 1 } } } as State };
  fixture.register("north", definitionOf(follows, { name: "follows", version: "1.0.0" }));
  const [id, pinned] = [await waiting("follows"), await waiting("follows", { version: "1.0.0" })];
  fixture.register("north", definitionOf({ END: human([]) }, { name: "follows", version: "2.0.0" }));
  fixture.refuse(new Problem("rate_limited", "Too many starts", {}, { "Retry-After": "1" }));
  await post(`${id}/signal`, { response: "yes" });
  const { continued_as } = await fixture.ended(north, id);
  expect(await fixture.record(north, continued_as)).toMatchObject({
    status: "pending",
    continued_from: id,
    workflow_version: "1.0.0",
    initiated_by: { sub: "ada" },
  });
  const late = await post(`${id}/signal`, { signal_name: "x" });
  expect([late.status, late.body.code, late.body.continued_as]).toEqual([
    409,
    "execution_already_terminal",
    continued_as,
  ]);
  expect((await post(`${continued_as}/signal`, { signal_name: "x" })).body.status).toBe("buffered");
  fixture.refuse(null);
  const admitted = await fixture.waiting(north, continued_as);
  expect(admitted).toMatchObject({
    status: "running",
    current_state: "END",
    workflow_version: "2.0.0",
    input: { n: 1 },
  });

  await post(`${pinned}/signal`, { response: "yes" });
  const second = (await fixture.ended(north, pinned)).continued_as;
  expect(await fixture.waiting(north, second)).toMatchObject({ workflow_version: "1.0.0", current_state: "NEXT" });
  fixture.refuse(new Problem("workflow_not_found", "Workflow not found"));
  await post(`${second}/signal`, { response: "yes" });
  const third = (await fixture.ended(north, second)).continued_as;
  expect(await fixture.ended(north, third)).toMatchObject({ status: "failed", error_code: "workflow_not_found" });
  fixture.refuse(null);
});
