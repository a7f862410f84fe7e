/** System, ContainerRun, ParallelContainerRun: what is asked for, and what the ends come to. */
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { ContainerRunState, State, Step } from "../../../../actors/workflow/definition.ts";
import { CommandRun } from "../../../../actors/workflow/run/activities.ts";
import { resultOf } from "../../../../actors/workflow/run/kinds/parallel-container-run.ts";
import { sampleAttachment } from "../../execution/fixture.ts";
import { Cast } from "../cast.ts";
import { system, ways, writes } from "../fixture.ts";

type Values = Record<string, Json>;
const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);
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

const commandsOf = (cast: Cast): CommandRun[] =>
  cast.sim.performed
    .filter(({ activity }) => activity === "workflow.command")
    .map(({ input }) => {
      expect([...Value.Errors(CommandRun, input)]).toEqual([]);
      return input as unknown as CommandRun;
    });
function commandOf(cast: Cast): CommandRun {
  const [only, ...others] = commandsOf(cast);
  if (only === undefined || others.length > 0) throw new Error(`${others.length} commands too many`);
  return only;
}
const endOf = (change: Values = {}): Values => ({
  status: "success",
  exit_code: 0,
  stdout: "out",
  stderr: "",
  duration_ms: 12,
  timed_out: false,
  truncated: false,
  attempts: 1,
  error: null,
  warnings: [],
  ...change,
});
function ends(cast: Cast, change: Values = {}, command = commandOf(cast)): Cast {
  cast.sim.succeed(`command:${command.instance_id}`, endOf(change));
  return cast.settle();
}
const failure = (state: State, input: Json = {}) => Cast.of(state, { input }).result;
const volume = (name: string, mount_path: string) => ({
  name,
  volume_id: `v-${name}`,
  mount_path,
  storage_class: "ephemeral" as const,
  access_mode: "read-write" as const,
  size_limit_bytes: 1024,
  ttl_ms: 1000,
});

describe("a System state", () => {
  test("asks for one command, rendered, its values in variables", () => {
    const state = system("grep -c {{input.word}} '{{input.file}}'", followed, {
      env: { TOKEN: "t {{input.word}}" },
      workdir: "/workspace/{{input.sub}}",
      timeout_ms: 2000,
    });
    const input = { word: "a; touch x", file: "$(id)", sub: "s" };
    const cast = Cast.of(state, { input, header: { volumes: [volume("workspace", "/workspace")] } });
    const command = commandOf(cast);
    expect(command).toMatchObject({
      workflow_name: "sample",
      state_name: "WORK",
      kind: "system",
      argv: ["/bin/sh", "-c", `grep -c "\${SVC_ARG_1}" ''"\${SVC_ARG_2}"''`],
      workdir: "/workspace/s",
      image: null,
      network: "none",
      timeout_ms: 2000,
      read_only_root: true,
      run_as_user: null,
      retry: { max_attempts: 1 },
      mounts: [{ name: "workspace", mount_path: "/workspace" }],
    });
    expect(command.env).toEqual({
      SVC_ARG_1: "a; touch x",
      SVC_ARG_2: "$(id)",
      TOKEN: "t a; touch x",
      SVC_WORKFLOW_EXECUTION_ID: cast.sim.key,
      SVC_WORKFLOW_NAME: "sample",
      SVC_STATE_NAME: "WORK",
      INTENT_INPUTS: JSON.stringify(input),
    });
    expect(cast.sim.timers.size).toBe(0);
  });

  test("comes to its command's end, mirrored under output", () => {
    const cast = ends(Cast.of(system("date", followed)));
    const shown = { exit_code: 0, stdout: "out", stderr: "", duration_ms: 12, timed_out: false, truncated: false };
    expect(cast.result).toEqual({ status: "success", ...shown, output: { status: "success", ...shown } });
    expect(cast.way).toEqual(["WORK", "DONE"]);
    const late = ends(Cast.of(system("date", followed)), {
      status: "failed",
      exit_code: -1,
      timed_out: true,
      error: "timed_out",
    });
    expect(late.result).toMatchObject({ status: "failed", exit_code: -1, timed_out: true, error_code: "timed_out" });
    expect(late.way).toEqual(["WORK", "SORRY"]);
  });

  test("keeps what has room of an output that takes much of it", () => {
    const cast = ends(Cast.of(system("date", followed)), {
      stdout: `${'\n"'.repeat(524_000)}end`,
      stderr: "\u0001".repeat(1_000_000),
    });
    expect(cast.result).toMatchObject({ status: "success", truncated: true, stdout: expect.stringMatching(/end$/) });
  });

  test("fails when the service could not run it", () => {
    const cast = Cast.of(system("date", followed));
    cast.sim.fail(`command:${commandOf(cast).instance_id}`, "queue_timeout", "No slot came free");
    expect(cast.settle().result).toMatchObject({
      status: "failed",
      exit_code: null,
      error: "The command of WORK did not come to an end (queue_timeout: No slot came free)",
      error_code: "queue_timeout",
    });
  });

  test("that failed says its state, exit code and last lines, and so does the run", () => {
    const noise = Array.from({ length: 500 }, (_, line) => `line ${line}`).join("\n");
    const cast = ends(Cast.of(system("make", ways(["on_success", "DONE"]))), {
      status: "failed",
      exit_code: 2,
      stderr: `${noise}\nmake: *** no rule for all\n`,
    });
    const { error } = cast.result;
    expect(error).toStartWith("The command of WORK exited with code 2:\n");
    expect(error).toEndWith("\nline 499\nmake: *** no rule for all");
    expect(String(error).length).toBeLessThan(1200);
    expect(cast.result).toMatchObject({ error_code: "command_failed" });
    expect(cast.state.ending).toMatchObject({ error, error_code: "command_failed" });
    expect(cast.state.ending?.summary).toStartWith("The command of WORK exited with code 2");
  });

  test("gives its command up when the run is cancelled, and hears no more of it", () => {
    const cast = Cast.of(system("date", followed));
    const id = `command:${commandOf(cast).instance_id}`;
    cast.ask("cancel", { reason: null });
    expect(cast.sim.abandoned.has(id)).toBe(true);
    expect(cast.state.status).toBe("cancelled");
  });

  test.each<[string, State, Json, string]>([
    ["a blank command", system(" {{input.a}} ", followed), {}, "template_resolved_empty"],
    [
      "a blank program",
      system("", followed, { command: { form: "list", list: ["{{input.a}}", "x"] } }),
      {},
      "template_resolved_empty",
    ],
    ["a blank image", system("date", followed, { image: "{{input.a}}" }), {}, "template_resolved_empty"],
    [
      "an image that is an option",
      system("date", followed, { image: "{{input.a}}" }),
      { a: "--privileged" },
      "template_value_invalid",
    ],
    [
      "a value in backticks",
      system("{{#if input.a}}`{{/if}}{{input.a}}{{#if input.a}}`{{/if}}", followed),
      { a: "x" },
      "unsafe_template_position",
    ],
    [
      "an option of a shell",
      system("", followed, { command: { form: "list", list: ["sh", "{{input.a}}", "id"] } }),
      { a: "-c" },
      "unsafe_template_position",
    ],
    ["a workdir elsewhere", system("date", followed, { workdir: "/etc" }), {}, "template_value_invalid"],
    ["a workdir beside", system("date", followed, { workdir: "/workspaces" }), {}, "template_value_invalid"],
    [
      "a workdir that climbs",
      system("date", followed, { workdir: "/tmp/{{input.a}}" }),
      { a: "../etc" },
      "template_value_invalid",
    ],
    ["a relative workdir", system("date", followed, { workdir: "{{input.a}}" }), { a: "x" }, "template_value_invalid"],
    [
      "a long variable",
      system("date", followed, { env: { X: "{{input.a}}" } }),
      { a: "x".repeat(131_072) },
      "template_value_invalid",
    ],
    [
      "a large environment",
      system("date", followed, {
        env: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`X${at}`, "{{input.a}}"])),
      }),
      { a: "x".repeat(100_000) },
      "template_value_invalid",
    ],
    ["a value too long", system("echo {{input.a}}", followed), { a: "x".repeat(131_072) }, "template_value_invalid"],
    [
      "an argument too long",
      system("", followed, { command: { form: "list", list: ["echo", "{{input.a}}"] } }),
      { a: "x".repeat(131_072) },
      "template_value_invalid",
    ],
  ])("fails at %s, and nothing is run", (_, state, input, code) => {
    const cast = Cast.of(state, { input });
    expect(cast.result).toMatchObject({ status: "failed", error: code });
    expect(commandsOf(cast)).toEqual([]);
    expect(cast.way).toEqual(["WORK", "SORRY"]);
  });

  test("leaves an input out that no variable could hold; one that is set stays", () => {
    const large = Cast.of(system("date", followed), { input: { a: "x".repeat(200_000) } });
    expect(commandOf(large).env).not.toHaveProperty("INTENT_INPUTS");
    const set = Cast.of(system("date", followed, { env: { INTENT_INPUTS: "mine" } }), { input: { a: 1 } });
    expect(commandOf(set).env.INTENT_INPUTS).toBe("mine");
    const attachments = [sampleAttachment];
    const attached = Cast.of(system("date", followed), { input: { a: 1 }, header: { attachments } });
    expect(JSON.parse(commandOf(attached).env.INTENT_INPUTS ?? "")).toEqual({ a: 1, attachments });
  });

  test("of a list runs without a shell, unless the program is one", () => {
    const of = (...list: string[]) => {
      const cast = Cast.of(system("", followed, { command: { form: "list", list } }), {
        input: { a: "$(id) x", e: "" },
      });
      const { argv, env } = commandOf(cast);
      return { argv, value: env.SVC_ARG_1 };
    };
    expect(of("echo", "{{input.a}}", "", "{{input.e}}")).toEqual({
      argv: ["echo", "$(id) x", "", ""],
      value: undefined,
    });
    expect(of("/bin/bash", "-euc", "echo '{{input.a}}'", "{{input.a}}")).toEqual({
      argv: ["/bin/bash", "-euc", `echo ''"\${SVC_ARG_1}"''`, "$(id) x"],
      value: "$(id) x",
    });
    expect(of("sh", "run.sh", "-c", "{{input.a}}").argv).toEqual(["sh", "run.sh", "-c", "$(id) x"]);
  });

  test("noop and update_blackboard need no activity", () => {
    expect(Cast.of(system(" noop\n", followed)).result).toMatchObject({ status: "success", exit_code: 0 });
    const cast = Cast.of(writes({ a: "{{input.x}}", b: "" }, ["on_success", "DONE"]), { input: { x: 1 } });
    expect(cast.result).toEqual({ status: "success", exit_code: 0, updated: ["a", "b"] });
    expect(cast.blackboard).toMatchObject({ a: 1, b: "" });
    expect(commandsOf(cast)).toEqual([]);
  });

  test("update_blackboard keeps the type of a sole path and of json; all else is text", () => {
    const input = { n: 1, flag: false, none: null, list: [1, { a: "é" }], text: "7" };
    const env = {
      number: "{{input.n}}",
      flag: "{{{input.flag}}}",
      none: "{{input.none}}",
      list: "{{input.list}}",
      json: "{{json input.list}}",
      sub: "{{json (keys input)}}",
      text: "{{input.text}}",
      absent: "{{input.absent}}",
      nothing: "{{json input.absent}}",
      mixed: "n={{input.n}}",
      padded: " {{input.n}}",
      called: "{{length input.list}}",
      literal: "1",
    };
    const cast = Cast.of(writes(env, ["on_success", "DONE"]), { input });
    expect(cast.blackboard).toMatchObject({
      number: 1,
      flag: false,
      none: null,
      list: input.list,
      json: input.list,
      sub: Object.keys(input),
      text: "7",
      absent: "",
      nothing: null,
      mixed: "n=1",
      padded: " 1",
      called: "2",
      literal: "1",
    });
  });

  test.each(["input", "state_output", "human", "DONE", "WORK", "blackboard"])(
    "update_blackboard writes no %s",
    (key) => {
      const cast = Cast.of(writes({ fine: "x", [key]: "y" }, ["on_failure", "SORRY"]));
      expect(cast.result).toMatchObject({ status: "failed", error: "reserved_blackboard_key", updated: [] });
      expect(cast.blackboard).not.toHaveProperty("fine");
    },
  );
});

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
