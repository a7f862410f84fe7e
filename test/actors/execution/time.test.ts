/** What time, images, consoles and cancellations do to an execution (docs/reference/executions.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { iterative, lanes } from "./lifecycle-fixture.ts";
import { Story } from "./scenario.ts";

describe("time", () => {
  test("past its timeout", () => {
    const story = new Story({ header: { timeout_ms: 5000 } }).start().launch();
    expect(story.sim.fireNext()).toBe(true);
    expect(story.events.at(-1)).toBe("execution_timed_out");
    expect(story.event("execution_timed_out")).toMatchObject({ timeout_seconds: 5, total_iterations: 1 });
    expect(story.record()).toMatchObject({ status: "timed_out", error_code: "execution_timeout" });
    expect(story.record().iterations[0]?.status).toBe("cancelled");
    expect(story.sim.abandoned.has(`run:${story.instance}`)).toBe(true);
  });

  test("a deadline that fires early is set again", () => {
    const story = new Story({ header: { timeout_ms: 5000, iteration_timeout_ms: 1000 } }).start().launch();
    story.sim.timers.clear();
    story.sim.tell("deadline", {});
    story.sim.tell("iteration_deadline", { instance_id: story.instance });
    expect(story.state.status).toBe("running");
    expect([...story.sim.timers.keys()].sort()).toEqual(["deadline", `iteration:${story.instance}`]);
  });

  test("an iteration past its own time is killed and counts as failed", () => {
    const story = new Story({ header: { ...iterative(2), iteration_timeout_ms: 1000 } }).start().launch();
    const first = story.instance;
    story.sim.fireNext();
    expect(story.sim.abandoned.has(`run:${first}`)).toBe(true);
    expect(story.record().iterations[0]).toMatchObject({ status: "failed", error: { code: "iteration_timeout" } });
    expect(story.sim.underWay("iteration.run")[0]?.input).toMatchObject({ iteration: 2, replaces: first });
  });

  test("an iteration that may take as long as the execution needs no timer of its own", () => {
    const story = new Story({ header: { timeout_ms: 5000, iteration_timeout_ms: 5000 } }).start().launch();
    expect([...story.sim.timers.keys()]).toEqual(["deadline"]);
  });

  test("no slot in time fails a pending execution, and only a pending one", () => {
    const story = new Story({ header: iterative(2) }).start();
    story.sim.fail(`run:${story.instance}`, "queue_timeout");
    expect(story.events).toEqual(["execution_failed"]);
    expect(story.record()).toMatchObject({ status: "failed", error_code: "start_timeout", total_iterations: 0 });

    const later = new Story({ header: iterative(2) }).start().launch().exit("", 1);
    later.sim.fail(`run:${later.instance}`, "queue_timeout");
    expect(later.state).toMatchObject({ status: "running", iteration: { number: 2, attempt: 1, phase: "waiting" } });
  });
});

describe("images", () => {
  const pull = (story: Story, news: Record<string, Json>, instance = story.instance) =>
    story.sim.tell("image_pull", { instance_id: instance, news: { image: "docker.io/library/python:3.12", ...news } });

  test("a pull is told from its beginning to its end, between pick-up and spawn", () => {
    const story = new Story().start();
    story.pickUp();
    pull(story, { stage: "image_pull_started" });
    pull(story, { stage: "image_pull_completed", duration_ms: 1200 });
    story.launch();
    expect(story.events).toEqual([
      "execution_started",
      "iteration_started",
      "image_pull_started",
      "image_pull_completed",
      "instance_spawned",
    ]);
    expect(story.event("image_pull_completed")).toMatchObject({
      image: "docker.io/library/python:3.12",
      duration_ms: 1200,
    });
  });

  test("a failed pull is an event, then the end, with a bounded part of the error", () => {
    const story = new Story().start();
    story.pickUp();
    pull(story, { stage: "image_pull_failed", error: "x".repeat(100_000) });
    story.sim.fail(`run:${story.instance}`, "image_pull_failed");
    expect(String(story.event("image_pull_failed").error).length).toBeLessThan(5_000);
    expect(story.event("execution_failed")).toMatchObject({ error_code: "image_pull_failed" });
  });

  test("what another instance says of its image does not count", () => {
    const story = new Story().start();
    pull(story, { stage: "image_pull_started" });
    story.pickUp();
    pull(story, { stage: "image_pull_started" }, "0190f3c4-0000-7000-8000-00000000dead");
    expect(story.events).not.toContain("image_pull_started");
  });
});

describe("console", () => {
  const chunk = (story: Story, offset: number, content: string, stream = "stdout") =>
    story.sim.tell("console", {
      instance_id: story.instance,
      stream,
      offset,
      bytes: Buffer.byteLength(content),
      content,
    });
  const shown = (story: Story) =>
    story.sim.log().flatMap((entry) => {
      const { console_output: output } = entry as { console_output?: { content: string; truncated?: true } };
      return output === undefined ? [] : [output];
    });

  test("repeats and overlaps are told by their offset", () => {
    const story = new Story().start().launch();
    chunk(story, 0, "one ");
    chunk(story, 0, "one ");
    chunk(story, 2, "e two");
    chunk(story, 0, "err", "stderr");
    expect(shown(story).map(({ content }) => content)).toEqual(["one ", "two", "err"]);
  });

  test("1 MiB is stored per iteration, then one truncated", () => {
    const story = new Story().start().launch();
    const block = "x".repeat(600_000);
    for (let number = 0; number < 4; number++) chunk(story, number * block.length, block);
    const lengths = shown(story).map(({ content, truncated }) => [content.length, truncated]);
    expect(lengths).toEqual([
      [600_000, undefined],
      [448_576, true],
    ]);
  });
});

describe("cancel and erase", () => {
  const stages: Record<string, (story: Story) => void> = {
    pending: () => {},
    running: (story) => void story.launch(),
    generating: (story) => void story.launch().generate(),
    "running tools": (story) => {
      story.launch().generate();
      story.modelSays({ calls: [{ name: "fs.read" }] });
    },
    "awaiting a result": (story) => {
      story.launch().generate();
      story.modelSays({ calls: [{ name: "cmd.run", arguments: { command: "make" } }] });
    },
    validating: (story) => void story.launch().exit("x"),
    "between iterations": (story) => void story.launch().exit("x", 1),
  };

  test.each(Object.keys(stages))("cancel while %s", (stage) => {
    const story = new Story({ header: iterative(3), plan: { validators: [lanes] } }).start();
    stages[stage]?.(story);
    story.sim.now += 10;
    const reply = story.sim.askNow("cancel", { reason: "enough" });
    expect(reply).toMatchObject({ outcome: "cancelled", execution_id: story.sim.key, reason: "enough" });
    expect(story.state.status).toBe("cancelled");
    expect(story.event("execution_cancelled").reason).toBe("enough");
    expect(story.events[0]).toBe(stage === "pending" ? "execution_cancelled" : "execution_started");
    story.checkInvariants();
    story.sim.now += 10;
    expect(story.sim.askNow("cancel", { reason: "other" })).toEqual(reply);
  });

  test.each(Object.keys(stages))("erase while %s leaves nothing", (stage) => {
    const story = new Story({ header: iterative(3), plan: { validators: [lanes] } }).start();
    stages[stage]?.(story);
    expect(story.sim.askNow("erase", {})).toEqual({ outcome: "erased" });
    expect(story.sim.state).toBeNull();
    expect([...story.sim.activities.values()].map(({ activity }) => activity)).toEqual(["workspace.remove"]);
    expect([...story.sim.timers.keys()]).toEqual([]);
    expect(story.sim.waiting).toEqual([]);
    story.sim.succeed(`workspace:${story.sim.key}`, null);
    expect(story.sim.askNow("erase", {})).toEqual({ outcome: "unknown" });
    expect(story.sim.askNow("cancel", { reason: null })).toEqual({ outcome: "unknown" });
  });

  test("erased after its end it leaves work only where a person asked", () => {
    const actor = { kind: "operator", realm: "svc-system", user_id: "u", role: null, key_id: null, name: null };
    const by = { actor, ip: null, user_agent: null, request_id: null };
    const leftBy = (message: { by?: typeof by }) => {
      const story = new Story().start().launch().exit("x");
      expect(story.sim.askNow("erase", message)).toEqual({ outcome: "erased" });
      return [...story.sim.activities.values()].map(({ activity }) => activity);
    };
    expect(leftBy({})).toEqual([]);
    expect(leftBy({ by })).toEqual(["workspace.remove"]);
  });

  test("an ended execution cannot be cancelled", () => {
    const story = new Story().start().launch().exit("x");
    expect(story.sim.askNow("cancel", { reason: null })).toEqual({ outcome: "already_terminal", status: "completed" });
  });
});

test("cancelled between two iterations, the rejected one stays rejected", () => {
  const story = new Story({ header: iterative(3), plan: { validators: [lanes] } }).start().launch().exit("{}");
  story.validated("{}", 0).sim.ask("cancel", { reason: null });
  expect(story.record().iterations.map(({ status }) => status)).toEqual(["rejected"]);
});
