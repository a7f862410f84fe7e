/** ContainerRun, ParallelContainerRun: what is asked for, and what the ends come to. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { ContainerRunState, Step } from "../../../../actors/workflow/definition/states.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import { resultOf } from "../../../../actors/workflow/run/kinds/commands/parallel-container-run.ts";
import { Cast } from "../cast.ts";
import { commandOf, commandsOf, ends, followed, volume } from "./command-states.ts";

const resources = { cpu_millicores: 500, memory_bytes: 268_435_456 };

const common = { transitions: followed, max_state_visits: 5, outcome: "completed" as const };

const step = (name: string, change: Partial<Step> = {}): Step => ({
  name,
  image: "alpine:3",
  command: ["echo", name],
  env: {},
  workdir: "/workspace",
  volumes: [],
  resources,
  registry_credentials: null,
  shell: false,
  network_mode: "default",
  timeout_ms: null,
  ...change,
});

function container(change: Partial<ContainerRunState> = {}): State {
  const { timeout_ms: _, ...rest } = step("build");
  return {
    kind: "ContainerRun",
    ...common,
    ...rest,
    timeout_ms: 600_000,
    image_pull_policy: "IfNotPresent",
    retry: { max_attempts: 1, backoff_ms: null },
    read_only_root_filesystem: false,
    run_as_user: null,
    output_handler: null,
    ...change,
  };
}

const parallel = (steps: Step[], completion: "all_succeed" | "any_succeed" | "best_effort" = "all_succeed"): State => ({
  kind: "ParallelContainerRun",
  ...common,
  timeout_ms: 60_000,
  steps,
  completion,
});

const failure = (state: State, input: Json = {}) => Cast.of(state, { input }).result;

describe("a ContainerRun state", () => {
  test("asks for its container as declared", () => {
    const state = container({
      name: "b {{input.n}}",
      image: "alpine:{{input.n}}",
      command: ["make", " ", "{{input.none}}", "{{input.n}}"],
      workdir: "/src",
      volumes: [{ name: "cache", mount_path: "/cache", read_only: true }],
      image_pull_policy: "Always",
      retry: { max_attempts: 3, backoff_ms: 50 },
      read_only_root_filesystem: true,
      run_as_user: 1234,
      network_mode: "none",
    });
    const volumes = [volume("workspace", "/workspace"), volume("cache", "/")];
    const cast = Cast.of(state, { input: { n: "3" }, header: { volumes } });
    expect(commandOf(cast)).toMatchObject({
      kind: "container",
      argv: ["make", "3"],
      image: "alpine:3",
      workdir: "/src",
      image_pull_policy: "Always",
      network: "none",
      read_only_root: true,
      run_as_user: 1234,
      retry: { max_attempts: 3, backoff_ms: 50 },
    });
    expect(commandOf(cast).mounts.map(({ name, mount_path, access_mode }) => [name, mount_path, access_mode])).toEqual([
      ["cache", "/cache", "read-only"],
      ["workspace", "/workspace", "read-write"],
    ]);
    expect(cast.event("ContainerRunStarted").details).toEqual({ state_name: "WORK", step: "b 3", image: "alpine:3" });
    ends(cast, { attempts: 2, exit_code: 3, status: "failed" });
    expect(cast.result).toMatchObject({
      status: "failed",
      exit_code: 3,
      attempts: 2,
      output: { exit_code: 3, stdout: "out" },
    });
    expect(cast.event("ContainerRunCompleted").details).toMatchObject({ step: "b 3", exit_code: 3, duration_ms: 12 });
  });

  test("with a shell is one text", () => {
    const cast = Cast.of(container({ shell: true, command: ["echo", "{{input.a}}", "|", "wc"] }), {
      input: { a: "x y" },
    });
    expect(commandOf(cast).argv).toEqual(["/bin/sh", "-c", 'echo "$'.concat('{SVC_ARG_1}" | wc')]);
  });

  test.each(["", " "])("fails with nothing to run, and without an image", (blank) => {
    const input = { a: blank };
    expect(failure(container({ command: ["{{input.a}}"] }), input)).toMatchObject({ error: "template_resolved_empty" });
    expect(failure(container({ image: "{{input.a}}" }), input)).toMatchObject({ error: "template_resolved_empty" });
    expect(failure(container({ shell: true, command: ["{{input.a}}"] }), input)).toMatchObject({
      error: "template_resolved_empty",
    });
  });

  test("that never ran has failed", () => {
    const cast = ends(Cast.of(container()), { status: "failed", exit_code: null, error: "runtime_unavailable" });
    expect(cast.result).toMatchObject({ status: "failed", error_code: "runtime_unavailable" });
    expect(cast.event("ContainerRunFailed").details).toEqual({
      state_name: "WORK",
      step: "build",
      error: "runtime_unavailable",
    });
  });

  const handler = {
    type: "agent" as const,
    agent: "tidy",
    input_template: "{{output}}",
    timeout_ms: 300_000,
    required: false,
  };

  test("hands its standard output to a handler, whose answer replaces it", () => {
    const cast = ends(Cast.of(container({ output_handler: handler })));
    expect(cast.only).toMatchObject({ agent: "tidy", input: "out", trigger: "output_handler" });
    cast.says("neat");
    expect(cast.result).toMatchObject({ status: "success", stdout: "neat", output: { stdout: "neat", exit_code: 0 } });
  });

  test("keeps it when an optional handler fails, and fails with a required one", () => {
    const optional = ends(Cast.of(container({ output_handler: handler })));
    optional.ends(optional.only, { status: "failed" });
    expect(optional.result).toMatchObject({ status: "success", stdout: "out" });
    const required = ends(Cast.of(container({ output_handler: { ...handler, required: true } })));
    required.refused("agent_not_found");
    expect(required.result).toMatchObject({ status: "failed", error: "output_handler_failed" });
  });

  test("hands nothing on when it failed, and gives the handler up with the run", () => {
    const failed = ends(Cast.of(container({ output_handler: handler })), { status: "failed", exit_code: 1 });
    expect(failed.asked).toEqual([]);
    const cast = ends(Cast.of(container({ output_handler: handler })));
    cast.ask("cancel", { reason: null });
    expect(cast.toldOf("cancel").map(({ key }) => key)).toEqual(cast.asked.map(({ child_execution_id: id }) => id));
  });
});

describe("a ParallelContainerRun state", () => {
  const both = () => Cast.of(parallel([step("a", { timeout_ms: 5000 }), step("b", { timeout_ms: 90_000 })]));

  test("asks for all of its steps at once, and waits for all of them", () => {
    const cast = both();
    const [a, b] = commandsOf(cast);
    expect([a?.argv, b?.argv]).toEqual([
      ["echo", "a"],
      ["echo", "b"],
    ]);
    expect([a?.timeout_ms, b?.timeout_ms]).toEqual([5000, 60_000]);
    ends(cast, { status: "failed", exit_code: 1 }, b);
    expect(cast.state.current_state).toBe("WORK");
    ends(cast, {}, a);
    expect(cast.result).toMatchObject({
      status: "failed",
      overall_success: false,
      completion: "all_succeed",
      succeeded: 1,
      failed: 1,
      results: [
        { name: "a", status: "success" },
        { name: "b", status: "failed", exit_code: 1 },
      ],
      output: { a: { exit_code: 0, stdout: "out", stderr: "", duration_ms: 12 }, b: { exit_code: 1 } },
    });
    expect(cast.types.filter((type) => type.startsWith("ContainerRun"))).toEqual([
      "ContainerRunStarted",
      "ContainerRunStarted",
      "ContainerRunCompleted",
      "ContainerRunCompleted",
    ]);
  });

  test.each<["all_succeed" | "any_succeed" | "best_effort", string[], boolean]>([
    ["all_succeed", ["success", "success"], true],
    ["all_succeed", ["success", "failed"], false],
    ["any_succeed", ["failed", "success"], true],
    ["any_succeed", ["failed", "failed"], false],
    ["best_effort", ["failed", "failed"], true],
  ])("%s of %j: %p", (completion, statuses, wanted) => {
    const result = resultOf(
      completion,
      statuses.map((status, at) => ({ name: `s${at}`, status })),
    );
    expect(result.overall_success).toBe(wanted);
    expect(result.status).toBe(wanted ? "success" : "failed");
  });

  test("gives up what is still at work, and nothing else", () => {
    const cast = both();
    const [a, b] = commandsOf(cast);
    ends(cast, {}, a);
    cast.ask("cancel", { reason: null });
    expect([...cast.sim.abandoned]).toEqual([`command:${b?.instance_id}`]);
    expect(cast.event("ContainerRunFailed").details).toMatchObject({ step: "b", error: "cancelled" });
  });

  test("runs nothing when two names become one", () => {
    const cast = Cast.of(parallel([step("{{input.a}}"), step("x")]), { input: { a: "x" } });
    expect(cast.result).toMatchObject({ status: "failed", error: "template_value_invalid" });
    expect(commandsOf(cast)).toEqual([]);
  });

  test("keeps the ends of long outputs", () => {
    const cast = Cast.of(parallel(Array.from({ length: 20 }, (_, at) => step(`s${at}`))));
    for (const command of commandsOf(cast))
      ends(cast, { stdout: `${"\u0001é".repeat(400_000)}end`, stderr: "e".repeat(1_000_000) }, command);
    const results = cast.result.results as readonly { stdout: string; truncated: boolean }[];
    expect(results).toHaveLength(20);
    for (const { stdout, truncated } of results)
      expect([stdout.endsWith("end"), stdout.length > 1000, truncated]).toEqual([true, true, true]);
  });
});
