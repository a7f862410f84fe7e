/** States that start workflows of their own: parents, generations, and the number below one root. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { definitionOf, human, subworkflow, ways } from "../../../actors/workflow/fixture.ts";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
let north: string;
beforeAll(async () => {
  fixture = await openFixture();
  north = fixture.caller("north", { userId: "ada", email: "ada@north.example" });
  fixture.register("north", definitionOf({ IN: subworkflow([], { workflow: "inner" }) }, { name: "outer" }));
  fixture.register("north", definitionOf({ ASK: human([]) }, { name: "inner" }));
  fixture.register("north", definitionOf({ IN: subworkflow([], { workflow: "self" }) }, { name: "self" }));
});
afterAll(() => fixture.dispose());

const approve = (id: string) =>
  fixture.call(north, "POST", `/v1/workflows/executions/${id}/signal`, { response: "yes" });
/** Ids of a list, the newest first. */
const listed = async (query: string): Promise<string[]> =>
  (await fixture.call(north, "GET", `/v1/workflows/executions${query}`)).body.items.map(({ id }: { id: string }) => id);

describe("sub-workflows", () => {
  test("a child has its parent, its end is the state's result", async () => {
    const id = await fixture.start(north, "outer");
    const child = await until(async () => (await listed(`?parent_execution_id=${id}`))[0], { what: "the child" });
    await fixture.waiting(north, child);
    expect(await fixture.record(north, child)).toMatchObject({ parent_execution_id: id, workflow_name: "inner" });
    await approve(child);
    const record = await fixture.ended(north, id);
    expect(record.state_outputs.IN).toMatchObject({
      status: "completed",
      child_execution_id: child,
      final_state: "ASK",
    });
    expect(record.status).toBe("completed");
  });

  test("cycles end at the third generation below the root", async () => {
    const id = await fixture.start(north, "self");
    const record = await fixture.ended(north, id);
    expect(record.status).toBe("failed");
    const ids = (await listed("?workflow_name=self")).reverse();
    expect(ids.length).toBe(4);
    const headers = await Promise.all(ids.map(async (one) => (await fixture.runs.find("north", one)).state.header));
    expect(headers.map(({ path, depth, root_execution_id }) => [path, depth, root_execution_id])).toEqual(
      ids.map((_, depth) => [ids.slice(0, depth), depth, id]),
    );
  });

  test("below one root there are a thousand at most, of all generations together", async () => {
    const states = { ASK: human(ways(["approved", "IN"])), IN: subworkflow([], { workflow: "inner" }) };
    fixture.register("north", definitionOf(states, { name: "many" }));
    const id = await fixture.start(north, "many");
    await fixture.waiting(north, id);
    await fixture.stores.sql`
      with made as (
        insert into workflow_runs (run_id, tenant, workflow_id, workflow_name, workflow_version, status,
          started_at, ended_at, parent_run_id, root_run_id)
        select gen_random_uuid(), 'north', gen_random_uuid(), 'made', '1.0.0', 'completed', now(), now(), ${id}, ${id}
        from generate_series(1, 10) returning run_id)
      insert into workflow_runs (run_id, tenant, workflow_id, workflow_name, workflow_version, status,
        started_at, ended_at, parent_run_id, root_run_id)
      select gen_random_uuid(), 'north', gen_random_uuid(), 'made', '1.0.0', 'completed', now(), now(), run_id,
        ${id} from made, generate_series(1, 99)`;
    await approve(id);
    const record = await fixture.ended(north, id);
    await fixture.stores.sql`delete from workflow_runs where workflow_name = 'made'`;
    expect([record.status, record.error_code]).toEqual(["failed", "too_many_descendants"]);
  });

  test("an unknown workflow is the state's failure", async () => {
    fixture.register("north", definitionOf({ IN: subworkflow([], { workflow: "gone" }) }, { name: "lost" }));
    const record = await fixture.ended(north, await fixture.start(north, "lost"));
    expect([record.status, record.state_outputs.IN.error]).toEqual(["failed", "workflow_not_found"]);
  });
});
