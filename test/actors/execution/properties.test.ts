/** Whatever is delivered, in whatever order and however often: the rules of an execution hold. */
import { test } from "bun:test";
import fc from "fast-check";
import type { JudgeValidator, OutputHandler, Validator } from "../../../actors/agent/manifest/execution/results.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { cleared, fromContext, fromManifest } from "./loop/asked-calls.ts";
import { Story } from "./scenario.ts";

interface Step {
  readonly act: string;
  readonly pick: number;
  readonly other: number;
}

const acts = [
  "start",
  "picked_up",
  "stale_picked_up",
  "spawned",
  "console",
  "generate",
  "generate",
  "generate_other",
  "generate_stale",
  "judge_call",
  "result",
  "result",
  "result_altered",
  "result_unknown",
  "model_text",
  "model_calls",
  "model_calls",
  "model_calls",
  "model_retriable",
  "model_fatal",
  "model_broken",
  "tool_ok",
  "tool_ok",
  "tool_failed",
  "tool_refused",
  "tool_broken",
  "model_asks",
  "model_asks",
  "gathered",
  "gathered",
  "gathered",
  "gathered_full",
  "approved",
  "approved",
  "approved_edited",
  "rejected",
  "unanswered",
  "cleared",
  "cleared",
  "clear_refused",
  "outside",
  "exit_ok",
  "exit_ok",
  "exit_bad",
  "exit_lost",
  "exit_memory",
  "run_failed",
  "queue_timeout",
  "validate_pass",
  "validate_reject",
  "validate_broken",
  "child_started",
  "child_started",
  "child_refused",
  "child_judged",
  "child_judged",
  "child_judged",
  "child_silent",
  "child_failed",
  "child_stale",
  "child_unknown",
  "handled",
  "unhandled",
  "recalled",
  "delivered",
  "timer",
  "timer_early",
  "stale_outcome",
  "stale_timer",
  "cancel",
  "erase",
  "wait",
] as const;

const rare = new Set(["cancel", "erase", "timer", "exit_memory", "run_failed", "model_fatal", "model_broken"]);
const step = fc.record({
  act: fc.oneof(...acts.map((act) => ({ weight: rare.has(act) ? 1 : 6, arbitrary: fc.constant<string>(act) }))),
  pick: fc.nat(7),
  other: fc.nat(7),
});

const passing = { min_score: 0.7, min_confidence: 0 };
const one: JudgeValidator = { type: "semantic", judge_agent: "one", criteria: "ok", timeout_ms: 5000, ...passing };
const three: JudgeValidator = {
  type: "multi_judge",
  judges: [
    { agent: "a", weight: 1 },
    { agent: "b", weight: 3 },
    { agent: "c", weight: 2 },
  ],
  criteria: "ok",
  consensus: "weighted_average",
  threshold: 0.7,
  n: null,
  min_judges_required: 2,
  timeout_ms: 400_000,
  ...passing,
};

const rules: Validator[][] = [
  [one],
  [three, { type: "regex", pattern: "ok", target: "stdout", flags: "", min_score: 1, min_confidence: 0 }, one],
  [],
  [{ type: "exit_code", expected: 0, min_score: 0.7, min_confidence: 0 }],
  [
    { type: "regex", pattern: "ok", target: "stdout", flags: "", min_score: 1, min_confidence: 0 },
    { type: "exit_code", expected: 0, min_score: 0.7, min_confidence: 0 },
  ],
];

const target = { url: "https://a.example/", method: "POST", headers: {} };
const deliveries = (["on_success", "on_failure", "always"] as const).map((condition) => ({
  name: condition,
  condition,
  ...target,
  secret: null,
}));

const setting = fc.record({
  iterative: fc.boolean(),
  max: fc.integer({ min: 1, max: 4 }),
  rounds: fc.integer({ min: 1, max: 3 }),
  parallel: fc.integer({ min: 1, max: 3 }),
  rules: fc.constantFrom(...rules),
  toolJudges: fc.constantFrom<JudgeValidator[]>([], [], [one], [three, one]),
  swarm: fc.boolean(),
  handler: fc.constantFrom<OutputHandler | null>(
    null,
    { type: "agent", agent: "tidy", input_template: "{{output}}", timeout_ms: 5000, required: true },
    { type: "webhook", ...target, body_template: null, timeout_ms: 5000, max_attempts: 3, required: false },
  ),
  shortTime: fc.boolean(),
  inline: fc.boolean(),
  /** Most of what can go wrong needs a loop under way. */
  head: fc.constantFrom(
    [],
    ["generate"],
    ["generate", "model_calls"],
    ["generate", "model_asks", "gathered"],
    ["generate", "model_asks", "gathered", "approved_edited"],
    ["generate", "model_calls", "result", "tool_ok"],
  ),
});

const names = ["fs.read", "cmd.run", "fs.write", "fs.grep", "web.fetch", "fs.list", "cmd.run", "fs.glob"];

test("an execution keeps its rules under any messages", () => {
  fc.assert(
    fc.property(setting, fc.array(step, { minLength: 5, maxLength: 120, size: "max" }), (given, steps) => {
      const story = new Story({
        header: {
          mode: given.iterative ? "iterative" : "one-shot",
          max_iterations: given.iterative ? given.max : 1,
          iteration_timeout_ms: given.shortTime ? 20_000 : 600_000,
          ...(given.inline ? { inline: true } : {}),
          hierarchy: { parent_execution_id: "p", depth: 1, path: ["p"], swarm_id: given.swarm ? "s" : null },
          bounds: {
            max_rounds: given.rounds,
            dispatch_grace_ms: 1000,
            tool_parallelism: given.parallel,
            tool_message_bytes: 256,
            tool_wait_max_ms: 60_000,
          },
        },
        plan: {
          validators: given.rules,
          tool_judges: given.toolJudges,
          output_handler: given.handler,
          deliveries,
        },
      });
      story.start();
      if (given.head.length > 0) story.launch();
      for (const [index, act] of given.head.entries()) take(story, { act, pick: index, other: 2 });
      let before: readonly Json[] = [];
      for (const one of steps) {
        take(story, one);
        if (story.sim.state === null) return;
        const after = story.sim.log();
        // Events only append.
        if (JSON.stringify(after.slice(0, before.length)) !== JSON.stringify(before)) throw new Error("events changed");
        before = after;
        story.checkInvariants();
        story.checkModelInput();
      }
      for (let upto = 0; upto <= before.length; upto++) story.checkRecord(upto);
      finish(story);
    }),
    { numRuns: Number(process.env.RUNS ?? 400) },
  );
});

/** Whatever happened before, time alone brings every execution to its end. */
function finish(story: Story): void {
  for (let turns = 0; story.sim.state !== null && story.state.ending === null; turns++) {
    if (turns > 200) throw new Error("the execution does not end");
    if (story.state.status === "pending") story.sim.fail(`run:${story.instance}`, "queue_timeout");
    else if (story.state.watched === true) story.sim.fail(`run:${story.instance}`, "execution_timeout");
    else if (!story.sim.fireNext()) throw new Error(`nothing can end ${JSON.stringify(story.state)}`);
    story.checkInvariants();
  }
}

function take(story: Story, { act, pick, other }: Step): void {
  const { sim } = story;
  if (sim.state === null) return;
  sim.now += 1 + other * 100;
  const { iteration } = story.state;
  const instance = pick === 7 ? "former" : pick === 6 ? null : iteration.instance_id;
  const runtime = { isolation: "process", image: null, sandbox: "none", egress_enforced: false };
  const choose = <T>(list: readonly T[]): T | undefined => list[pick % Math.max(1, list.length)];
  const end = (activity: string, finish: (id: string) => void) => {
    const chosen = choose(sim.underWay(activity));
    if (chosen !== undefined) finish(chosen.id);
  };
  const run = story.header.inline === true ? "iteration.run.inline" : "iteration.run.1";
  const exits = (reason: string, exit_code: number | null) =>
    end(run, (id) =>
      sim.succeed(id, { reason, exit_code, stdout: "ok\n", stdout_truncated: pick === 1, stderr: "[BOOTSTRAP x\n" }),
    );
  const dispatches = sim.log(`loop:${iteration.instance_id}`).flatMap((entry) => {
    const { dispatch } = entry as { dispatch?: { dispatch_id: string } };
    return dispatch === undefined ? [] : [dispatch.dispatch_id];
  });
  const answer = (stdout: string) => {
    const id = other < 5 ? dispatches.at(-1) : choose(dispatches);
    if (id !== undefined)
      story.result(id, { stdout, instance_id: instance, exit_code: other - 2, timed_out: other === 1 });
  };
  const generate = (prompt: string, change: Record<string, Json> = {}) =>
    story.generate(prompt, { instance_id: instance, ...change });
  const speak = (count: number) => {
    if (sim.underWay("model.call").length === 0) return;
    const calls = Array.from({ length: count }, (_, index) => ({
      id: other === 0 ? "same" : `c${index}`,
      name: names[(pick + index * (1 + other)) % names.length] ?? "cmd.run",
      arguments: other === 3 ? { command: 7 } : { command: "make check", path: "n.md" },
    }));
    story.modelSays({ calls, content: pick === 2 ? "" : "text" });
  };
  const asks = [
    fromContext({ editable: true, remember: "tool" }),
    fromManifest({ on_timeout: pick < 2 ? "fail" : "reject", editable: true }),
  ].slice(0, 1 + (other % 2));
  const speakAsked = () => {
    if (sim.underWay("model.call").length === 0) return;
    const tools = ["cmd.run", "fs.write", "fs.read", "cmd.run"].slice(0, 1 + (pick % 4));
    const calls = tools.map((name, index) => ({ id: `c${index}`, name, arguments: { command: "make", path: "n.md" } }));
    const asked = (index: number) => (index % 2 === 0 || other > 4 ? asks : []);
    story.modelSays({ calls, content: "text", clearances: tools.map((name, index) => cleared(name, asked(index))) });
  };
  const gather = (full: Json, judged: Json) =>
    end("call.gather", (id) => {
      const arguments_ = { given: { command: "make" }, redacted: { command: "make" }, sha256: `${pick}` };
      const told = { arguments: arguments_, model_reason: null, full, mails: false, initiator_email: null };
      if (pick === 7) sim.fail(id, "internal_error");
      else sim.succeed(id, { ...told, ...(judged === null ? {} : { judged }) });
    });
  const decide = (status: string, more: Record<string, Json> = {}) => {
    const opened = sim.coCommitted.filter(({ kind, message }) => kind === "approval" && message.type === "open");
    const key = other < 6 ? opened.at(-1 - (pick % 3))?.key : choose(opened)?.key;
    const at = { via: "approve", decided_at: new Date(sim.now).toISOString(), result: {} };
    sim.tell("approval_decided", { approval_id: key ?? "former", status, ...at, ...more });
  };
  const refused = { error_code: 2001, code: "tool_denied", violation_type: "tool_explicitly_denied", message: "no" };
  const fates: Record<string, () => void> = {
    model_asks: speakAsked,
    gathered: () =>
      gather(
        null,
        pick < 5
          ? { status: "cleared", approvals: asks }
          : pick < 6
            ? { status: "refused", ...refused, attempted: "x" }
            : null,
      ),
    gathered_full: () => gather(pick < 4 ? "execution" : "tenant", { status: "cleared", approvals: asks }),
    approved: () => decide("approved", { remember: pick < 1 ? "tool" : pick < 3 ? "execution" : "none" }),
    approved_edited: () =>
      decide("approved", {
        remember: "none",
        arguments: pick < 6 ? { command: "make all", path: "o.md" } : { command: 7 },
        arguments_sha256: `${pick}`,
      }),
    rejected: () => decide("rejected", { reason: "no" }),
    unanswered: () => decide("timed_out"),
    cleared: () => end("call.clear", (id) => sim.succeed(id, { status: "cleared", max_timeout_secs: 60 })),
    clear_refused: () =>
      end("call.clear", (id) =>
        pick < 4 ? sim.succeed(id, { status: "refused", ...refused, attempted: "x" }) : sim.fail(id, "broken"),
      ),
    outside: () =>
      sim.tell("asked_outside", {
        news: (["waiting", "approved", "rejected", "withdrawn"] as const)[pick % 4] ?? "waiting",
        ...{ invocation_id: `i${other}`, tool: "cmd.run", approval_id: "a", expires_at: sim.now + 1000, code: null },
        ...(pick === 7 ? { fails: true } : {}),
        ...(pick === 5 ? { grant: { from: "manifest", sha256: null } } : {}),
      }),
    start: () => void sim.ask("start", { header: story.header, plan: story.plan }),
    picked_up: () => void story.pickUp(),
    stale_picked_up: () => void sim.ask("picked_up", { instance_id: "former", runtime, warnings: [] }),
    spawned: () => sim.tell("instance_spawned", { instance_id: instance ?? "former" }),
    console: () =>
      sim.tell("console", {
        instance_id: iteration.instance_id,
        stream: pick % 2 === 0 ? "stdout" : "stderr",
        offset: other * 3,
        bytes: 4,
        content: "text",
      }),
    generate: () => void generate("first"),
    judge_call: () => void sim.ask("judge_call", { call_id: `beside-${pick % 4}`, tool: "fs.write", arguments: {} }),
    generate_other: () => void generate("second"),
    generate_stale: () => void generate("first", { iteration_number: 1, agent_id: pick === 0 ? "another" : "" }),
    result: () => answer("out"),
    result_altered: () => answer("another out"),
    result_unknown: () => void story.result("0f7a4f7e-6a0c-4a53-9a39-0e6f1d0b8a11"),
    model_text: () => speak(0),
    model_calls: () => speak(1 + (pick % 4)),
    model_retriable: () => end("model.call", () => story.modelFails("rate_limit")),
    model_fatal: () => end("model.call", () => story.modelFails("authentication")),
    model_broken: () => end("model.call", (id) => sim.fail(id, "crashed")),
    tool_ok: () =>
      end("tool.call", (id) => sim.succeed(id, { status: "succeeded", result: { content: "x".repeat(pick * 100) } })),
    tool_failed: () =>
      end("tool.call", (id) => sim.succeed(id, { status: "failed", code: "not_found", message: "no file" })),
    tool_refused: () =>
      end("tool.call", (id) =>
        sim.succeed(id, {
          status: "refused",
          error_code: 2002,
          code: "path_not_allowed",
          violation_type: "path_traversal_attempt",
          message: "no",
          attempted: "/etc",
        }),
      ),
    tool_broken: () => end("tool.call", (id) => sim.fail(id, "interrupted")),
    exit_ok: () => exits("exited", 0),
    exit_bad: () => exits("exited", 3),
    exit_lost: () => exits("lost", null),
    exit_memory: () => exits("out_of_memory", 137),
    run_failed: () => end(run, (id) => sim.fail(id, pick < 4 ? "image_pull_failed" : "odd")),
    queue_timeout: () => end(run, (id) => pick < 2 && sim.fail(id, "queue_timeout")),
    validate_pass: () => end("iteration.validate", () => story.validated("ok", 1, 1)),
    validate_reject: () => end("iteration.validate", () => story.validated("ok", ...(pick < 4 ? [0] : [1, 0]))),
    validate_broken: () => end("iteration.validate", (id) => sim.fail(id, "crashed")),
    child_started: () => end("child.start", (id) => sim.succeed(id, { agent_id: "judge" })),
    child_refused: () => end("child.start", (id) => sim.fail(id, "judge_not_found")),
    child_judged: () => {
      const child = choose(story.children);
      if (child !== undefined) story.childEnds(child.id, JSON.stringify({ score: other < 5 ? 0.9 : 0.1 }));
    },
    child_silent: () => {
      const child = choose(story.children);
      if (child !== undefined) story.childEnds(child.id, "no opinion");
    },
    child_failed: () => {
      const child = choose(story.children);
      if (child !== undefined) story.childEnds(child.id, null, pick < 4 ? "failed" : "cancelled");
    },
    child_stale: () => {
      const begun = sim.performed.filter(({ activity }) => activity === "child.start");
      const former = choose(begun)?.id.slice("child:".length);
      if (former !== undefined) story.childEnds(former, '{"score":1}');
      sim.tell("panel_overdue", { panel_id: "former" });
    },
    child_unknown: () => void story.childEnds("0f7a4f7e-6a0c-4a53-9a39-0e6f1d0b8a11", '{"score":1}'),
    handled: () => end("output.handle", (id) => sim.succeed(id, { output: "tidy", truncated: pick === 1 })),
    unhandled: () => end("output.handle", (id) => sim.fail(id, "webhook_failed")),
    recalled: () => end("output.recall", (id) => (pick < 6 ? sim.succeed(id, { output: "ok" }) : sim.fail(id, "gone"))),
    delivered: () => end("delivery.send", (id) => (pick < 4 ? sim.succeed(id, { status: 204 }) : sim.fail(id, "gone"))),
    timer: () => void sim.fireNext(),
    timer_early: () => void sim.tell("deadline", {}),
    stale_outcome: () => {
      const done = choose(sim.performed.filter(({ id }) => !sim.activities.has(id)));
      if (done !== undefined) sim.tell(done.then, { id: done.id, ok: false, code: "late", message: "late" });
    },
    stale_timer: () => {
      sim.tell("iteration_deadline", { instance_id: instance ?? "former" });
      sim.tell("dispatch_lost", { dispatch_id: "0f7a4f7e-6a0c-4a53-9a39-0e6f1d0b8a11" });
    },
    cancel: () => void sim.ask("cancel", { reason: pick === 0 ? null : "enough" }),
    erase: () => void (pick === 0 && sim.ask("erase", {})),
    wait: () => {
      sim.now += 30_000;
    },
  };
  fates[act]?.();
}
