/** System, ContainerRun, ParallelContainerRun: what is asked for, and what the ends come to. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import { sampleAttachment } from "../../execution/fixture.ts";
import { Cast } from "../cast.ts";
import { system, ways, writes } from "../fixture.ts";
import { commandOf, commandsOf, ends, followed, volume } from "./command-states.ts";

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
