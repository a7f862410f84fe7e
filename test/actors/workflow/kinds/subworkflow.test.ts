/** Subworkflow: blocking and not, refusals, depth, what is heard in another order. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { RunStart } from "../../../../actors/workflow/run/activities.ts";
import { sampleAttachment } from "../../execution/fixture.ts";
import { Cast } from "../cast.ts";
import { subworkflow, ways } from "../fixture.ts";

const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);
const inner = (change: object = {}) => subworkflow(followed, change);
const released = { mode: "fire_and_forget", result_key: null };

const startOf = (cast: Cast): RunStart => {
  const one = cast.sim.performed.find(({ activity }) => activity === "workflow.start");
  if (one === undefined) throw new Error("no workflow was started");
  return one.input as unknown as RunStart;
};
const begun = (cast: Cast): Cast => {
  cast.sim.succeed(`run:${startOf(cast).child_execution_id}`, { workflow_id: "w-1", workflow_name: "inner" });
  return cast.settle();
};
const ended = (cast: Cast, change: Record<string, Json> = {}): Cast =>
  cast.tell("run_ended", {
    child_execution_id: startOf(cast).child_execution_id,
    workflow_id: "w-1",
    status: "completed",
    iterations: 3,
    final_state: "END",
    output: { status: "success" },
    final_output: { length: 5 },
    blackboard: { END: { status: "success" } },
    error: null,
    error_code: null,
    ...change,
  });

describe("blocking", () => {
  test("waits for the end, whose result stands at the state and at result_key", () => {
    const attachments = [sampleAttachment];
    const cast = Cast.of(inner({ workflow: "{{input.which}}", input: { a: "{{input.a}}" } }), {
      input: { which: "inner", a: "1" },
      header: { attachments },
    });
    expect(startOf(cast)).toMatchObject({
      workflow: "inner",
      input: { a: "1" },
      attachments,
      waits: true,
      state_name: "WORK",
    });
    begun(cast);
    expect(cast.state.current_state).toBe("WORK");
    ended(cast);
    const expected = {
      status: "completed",
      output: { status: "success" },
      iterations: 3,
      final_state: "END",
      blackboard: { END: { status: "success" } },
      final_output: { length: 5 },
      child_execution_id: startOf(cast).child_execution_id,
    };
    expect(cast.result).toEqual(expected);
    expect(cast.blackboard.inner).toEqual(expected);
    expect(cast.event("SubworkflowTriggered").details).toMatchObject({
      parent_execution_id: cast.sim.key,
      child_execution_id: startOf(cast).child_execution_id,
      child_workflow_id: "w-1",
      mode: "blocking",
      parent_state_name: "WORK",
    });
    expect(cast.types.filter((type) => type === "SubworkflowTriggered").length).toBe(1);
    expect(cast.event("SubworkflowCompleted").details).toMatchObject({ result_key: "inner" });
  });

  test.each([
    [
      { status: "failed", error: "It broke", error_code: "state_visit_limit" },
      { error: "state_visit_limit", message: "It broke" },
    ],
    [{ status: "cancelled" }, { error: "workflow_cancelled" }],
    [{ status: "timed_out" }, { error: "workflow_timed_out", timed_out: true }],
  ])("an end as %j is a failed result", (how, expected) => {
    const cast = ended(begun(Cast.of(inner())), how);
    expect(cast.result).toMatchObject({ status: "failed", ...expected });
    expect(cast.event("SubworkflowFailed").details).toMatchObject({ reason: expected.error });
    expect(cast.way).toEqual(["WORK", "SORRY"]);
  });

  test("the end before the news of the start: told once, in order", () => {
    const cast = begun(ended(Cast.of(inner())));
    expect(cast.types.filter((type) => type.startsWith("Sub"))).toEqual([
      "SubworkflowTriggered",
      "SubworkflowCompleted",
    ]);
    expect(cast.result.status).toBe("completed");
  });

  test("cancelling the parent cancels the child, and once more when its start comes late", () => {
    const cast = Cast.of(inner());
    const { child_execution_id: key } = startOf(cast);
    cast.ask("cancel", { reason: null });
    expect(cast.toldOf("cancel")).toMatchObject([{ kind: "workflow_run", key }]);
    begun(cast);
    expect(cast.toldOf("cancel").map((one) => one.key)).toEqual([key, key]);
  });

  test("the state's timeout cancels the child, late starts too", () => {
    const cast = Cast.of(inner({ timeout_ms: 5000 }));
    cast.sim.fireNext();
    cast.settle();
    expect(cast.result).toMatchObject({ status: "failed", error: "state_timeout", timed_out: true });
    begun(cast);
    expect(cast.toldOf("cancel").length).toBe(2);
  });

  test("a result that no blackboard could hold", () => {
    const cast = ended(begun(Cast.of(inner())), { blackboard: { big: "x".repeat(7_000_000) } });
    expect(cast.result).toMatchObject({ status: "failed", error: "blackboard_too_large" });
    expect(cast.blackboard).not.toHaveProperty("inner");
  });
});

describe("fire_and_forget", () => {
  test("is done once the child has started, which goes on by itself", () => {
    const cast = Cast.of(inner(released));
    expect(startOf(cast).waits).toBe(false);
    begun(cast);
    const { child_execution_id } = startOf(cast);
    expect(cast.result).toEqual({ status: "success", child_execution_id, mode: "fire_and_forget" });
    expect(cast.state.status).toBe("completed");
    expect(cast.toldOf("cancel")).toEqual([]);
  });
});

describe("refusals are failed results", () => {
  test.each(["workflow_not_found", "invalid_input", "depth_exceeded"])("%s", (code) => {
    for (const mode of [{}, released]) {
      const cast = Cast.of(inner(mode));
      cast.sim.fail(`run:${startOf(cast).child_execution_id}`, code, "in words");
      cast.settle();
      expect(cast.result).toMatchObject({ error: code, message: "in words", child_execution_id: null });
      expect(cast.event("SubworkflowFailed").details).toMatchObject({ reason: code });
      expect(cast.types).not.toContain("SubworkflowTriggered");
    }
  });

  test("three generations below the root there is no further one", () => {
    const deep = Cast.of(inner(), { header: { depth: 3 } });
    expect(deep.result).toMatchObject({ status: "failed", error: "depth_exceeded" });
    expect(deep.sim.performed.filter(({ activity }) => activity === "workflow.start")).toEqual([]);
    expect(startOf(Cast.of(inner(), { header: { depth: 2 } })).workflow).toBe("inner");
  });

  test("a blank name", () => {
    expect(Cast.of(inner({ workflow: "{{nobody}}" })).result).toMatchObject({ error: "template_resolved_empty" });
  });
});
