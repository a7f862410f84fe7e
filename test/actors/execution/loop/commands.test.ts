/** Commands of tool calls as events tell them: their output while they run, their exit codes, the end of their time. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { commandBytesPerSecond } from "../../../../actors/execution/console.ts";
import { wireEvent } from "../../../../actors/execution/events.ts";
import type { CommandOutput } from "../../../../actors/execution/messages.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Story } from "../scenario.ts";

/** Up to a command that is under way. */
function dispatched(given: Record<string, Json> = {}, header = {}) {
  const story = new Story({ header }).start().launch();
  const asked = story.generate();
  story.modelSays({ calls: [{ id: "c7", name: "cmd.run", arguments: { command: "make check", ...given } }] });
  return { story, dispatch: story.dispatchOf(asked) };
}
const says = (story: Story, dispatch: string, ...chunks: CommandOutput[]) =>
  story.sim.tell("command_output", { instance_id: story.instance, dispatch_id: dispatch, chunks });
const out = (offset: number, content: string): CommandOutput => ({ stream: "stdout", offset, content });

interface Shown {
  readonly stream: string;
  readonly content: string;
  readonly call_id: string | null;
  readonly truncated?: true;
}
const shown = (story: Story): Shown[] =>
  story.sim.log().flatMap((entry) => {
    const { console_output: output } = entry as { console_output?: Shown };
    return output === undefined ? [] : [output];
  });
const textOf = (story: Story) =>
  shown(story)
    .map(({ content }) => content)
    .join("");

describe("a command that eats the time", () => {
  test("of the execution: step and execution are timed_out, the model is not asked again", () => {
    const { story, dispatch } = dispatched({ command: "sleep 600", timeout_secs: 600 }, { timeout_ms: 30_000 });
    story.sim.now += 29_900;
    story.result(dispatch, { timed_out: true, exit_code: -1, stdout: "", stderr: "[svc] command timed out after 30s" });
    expect(story.sim.underWay("model.call")).toEqual([]);
    expect(story.event("tool_call_completed")).toMatchObject({ call_id: "c7", status: "timed_out", exit_code: null });
    const record = story.record();
    expect(record).toMatchObject({ status: "timed_out", error_code: "execution_timeout", output: null });
    expect(record.iterations[0]?.trajectory[0]).toMatchObject({
      status: "timed_out",
      error: "The command timed out after 30 s: the time of the execution was up",
    });
    story.checkInvariants();
  });

  test("of the iteration: the step is timed_out, the iteration fails", () => {
    const header = { mode: "iterative" as const, max_iterations: 2, iteration_timeout_ms: 20_000 };
    const { story, dispatch } = dispatched({ command: "sleep 600", timeout_secs: 600 }, header);
    story.sim.now += 19_900;
    story.result(dispatch, { timed_out: true, exit_code: -1, stdout: "", stderr: "" });
    const [first] = story.record().iterations;
    expect(first).toMatchObject({ status: "failed", error: { code: "iteration_timeout" } });
    expect(first?.trajectory[0]).toMatchObject({ status: "timed_out" });
    expect(story.state).toMatchObject({ status: "running", iteration: { number: 2, phase: "waiting" } });
    story.checkInvariants();
  });

  test("of its own only: the step is timed_out, and the model goes on", () => {
    const { story, dispatch } = dispatched({ command: "sleep 600", timeout_secs: 5 });
    story.result(dispatch, { timed_out: true, exit_code: -1 });
    expect(story.event("tool_call_completed")).toMatchObject({ status: "timed_out", exit_code: null });
    expect(story.sim.underWay("model.call")).toHaveLength(1);
  });

  test("without ever reporting back: the deadline ends the execution and its step", () => {
    const { story } = dispatched({ command: "sleep 600", timeout_secs: 600 }, { timeout_ms: 30_000 });
    story.sim.now += 30_000;
    story.sim.tell("deadline", {});
    expect(story.record()).toMatchObject({ status: "timed_out", iterations: [{ status: "cancelled" }] });
    expect(story.record().iterations[0]?.trajectory[0]).toMatchObject({ status: "timed_out" });
  });

  test("an output that comes at the deadline or after it does not complete the execution", () => {
    const story = new Story({ header: { timeout_ms: 5000, iteration_timeout_ms: 5000 } }).start().launch();
    story.sim.now += 5000;
    story.exit("Done.");
    expect(story.record()).toMatchObject({ status: "timed_out", output: null });
    story.checkInvariants();
  });
});

test.each([0, 1, 137])("exit code %i of a command is in its event", (exit_code) => {
  const { story, dispatch } = dispatched();
  story.result(dispatch, { exit_code });
  expect(story.event("tool_call_completed")).toMatchObject({ status: "succeeded", exit_code });
});

describe("output of a command while it runs", () => {
  test("is told with the call's id; the result adds what was not seen yet", () => {
    const { story, dispatch } = dispatched();
    says(story, dispatch, out(0, "one\n"), { stream: "stderr", offset: 0, content: "careful\n" });
    says(story, dispatch, out(0, "one\n"), out(4, "two\n"));
    story.result(dispatch, { stdout: "one\ntwo\nthree\n", stderr: "careful\n" });
    expect(shown(story).map(({ stream, content, call_id }) => [stream, content, call_id])).toEqual([
      ["stdout", "one\n", "c7"],
      ["stderr", "careful\n", "c7"],
      ["stdout", "two\n", "c7"],
      ["stdout", "three\n", "c7"],
    ]);
    expect(story.events.lastIndexOf("console_output")).toBeLessThan(story.events.indexOf("tool_call_completed"));
    says(story, dispatch, out(14, "too late\n"));
    expect(textOf(story)).not.toContain("too late");
  });

  test("another instance's, an unknown dispatch's and an ended execution's is nothing", () => {
    const { story, dispatch } = dispatched();
    const before = story.sim.log().length;
    says(story, "0190f3c4-0000-7000-8000-00000000dead", out(0, "x"));
    story.sim.tell("command_output", { instance_id: "other", dispatch_id: dispatch, chunks: [out(0, "x")] });
    expect(story.sim.log()).toHaveLength(before);
  });

  test("64 KiB a second, 1 MiB an iteration, then one truncated", () => {
    const { story, dispatch } = dispatched();
    const piece = "x".repeat(60_000);
    for (let offset = 0; offset < 4 * piece.length; offset += piece.length) says(story, dispatch, out(offset, piece));
    expect(textOf(story)).toHaveLength(commandBytesPerSecond);
    expect(shown(story).map(({ truncated }) => truncated)).toEqual([undefined, true]);
    for (let second = 1; second < 40; second++) {
      story.sim.now += 1000;
      says(story, dispatch, out((3 + second) * piece.length, piece));
    }
    expect(textOf(story)).toHaveLength(1_048_576);
    expect(shown(story).at(-1)?.truncated).toBe(true);
  });

  test("of an output that was trimmed the end is told, marked truncated", () => {
    const { story, dispatch } = dispatched();
    says(story, dispatch, out(0, "head "));
    story.result(dispatch, { stdout: "head [trimmed 900 bytes] tail", stdout_bytes: 923, truncated: true });
    expect(shown(story).at(-1)).toMatchObject({ content: "head [trimmed 900 bytes] tail", truncated: true });
  });

  test.each<[string, number, true | undefined]>([
    ["its first 64 KiB", commandBytesPerSecond + 1, true],
    ["all of it where it fits", commandBytesPerSecond, undefined],
  ])("of a result that nothing was seen of before: %s", (_, length, isCut) => {
    const { story, dispatch } = dispatched();
    story.result(dispatch, { stdout: "x".repeat(length) });
    const [told] = shown(story);
    expect([told?.content.length, told?.truncated]).toEqual([commandBytesPerSecond, isCut]);
  });

  test("however it is cut, repeated and overtaken, it is told once and in order", () => {
    const step = fc.record({ upto: fc.nat(60), from: fc.nat(60), wait: fc.nat(1500) });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.array(step, { maxLength: 8 }), (text, steps) => {
        const { story, dispatch } = dispatched();
        const characters = [...text];
        let told = 0;
        for (const { upto, from, wait } of steps) {
          story.sim.now += wait;
          const begin = Math.min(from, told);
          const end = Math.min(upto, characters.length);
          if (end <= begin) continue;
          const offset = Buffer.byteLength(characters.slice(0, begin).join(""));
          says(story, dispatch, out(offset, characters.slice(begin, end).join("")));
          told = Math.max(told, end);
        }
        story.result(dispatch, { stdout: text });
        expect(textOf(story)).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});

test("arguments and results of calls are for readers who ask for them and may see them", () => {
  const { story, dispatch } = dispatched();
  story.result(dispatch, { stdout: "fine\n" });
  const told = (verbose: boolean) =>
    story.sim.log().map((entry) => Object.values(wireEvent(entry, verbose) as Record<string, Record<string, Json>>)[0]);
  const has = (verbose: boolean, member: string) => told(verbose).filter((event) => event && member in event);
  expect(has(true, "arguments")).toMatchObject([{ call_id: "c7", arguments: { command: "make check" } }]);
  expect(has(true, "result")).toMatchObject([{ call_id: "c7", result: { stdout: "fine\n", exit_code: 0 } }]);
  expect([...has(false, "arguments"), ...has(false, "result")]).toEqual([]);
});

test("arguments too long for an event are told in part", () => {
  const { story } = dispatched({ command: "x".repeat(100_000) });
  const told = JSON.stringify(wireEvent(story.sim.log().at(-1) ?? null, true));
  expect(told).toContain("trimmed");
  expect(told.length).toBeLessThan(20_000);
});
