/** Words of the edge command line: verbs, flags, values, and what they mean (docs/reference/edge-cli.md). */
import { expect, test } from "bun:test";
import { Failure, usageFailure } from "../../../src/programs/svc/edge/command/exit.ts";
import { type FlagTable, readWords } from "../../../src/programs/svc/edge/command/flags.ts";
import { createOutput, plain, tableOf } from "../../../src/programs/svc/edge/command/output.ts";
import { orderOf } from "../../../src/programs/svc/edge/fleet/order.ts";
import { policyFlags, policyOf } from "../../../src/programs/svc/edge/fleet/policy.ts";
import { exitOfRun } from "../../../src/programs/svc/edge/fleet/result.ts";
import { refusal } from "../../../src/programs/svc/edge/service/refusal.ts";
import { verbs } from "../../../src/programs/svc/edge/verbs.ts";
import { serviceAddress } from "../../../src/programs/svc/session/address.ts";
import { edge } from "./harness.ts";

const table = {
  name: { kind: "text", meaning: "" },
  tag: { kind: "list", meaning: "" },
  json: { kind: "switch", meaning: "" },
  connected: { kind: "choice", meaning: "" },
} as const satisfies FlagTable;

test("flags may stand anywhere, with = or a blank; after -- there are none", () => {
  const words = ["a", "--name=x=y", "--tag", "1", "--json", "b", "--tag=2", "--connected", "c", "--", "--name", "z"];
  expect(readWords(words, table)).toEqual({
    flags: { name: "x=y", tag: ["1", "2"], json: true, connected: "true" },
    positions: ["a", "b", "c"],
    rest: ["--name", "z"],
  });
  expect(readWords(["-", "--connected=false", "--name", "--json"], table)).toEqual({
    flags: { name: "--json", tag: [], json: false, connected: "false" },
    positions: ["-"],
    rest: null,
  });
});

test.each([
  [["--nam", "x"]],
  [["-n", "x"]],
  [["--name"]],
  [["--tag"]],
  [["--json=yes"]],
  [["--json=true=1"]],
  [["--name=1", "--name=2"]],
  [["--json", "--json"]],
  [["--toString"]],
])("the words %j are refused", (words) => {
  expect(() => readWords(words, table)).toThrow(Failure);
});

const policy = (words: readonly string[], tool: string | null = "cmd.run") =>
  policyOf(readWords(words, policyFlags).flags, tool);

test.each([
  [[], "cmd.run", { mode: "Parallel", failure_policy: "FailFast" }],
  [[], "fs.write", { mode: "Parallel", failure_policy: "FailFast" }],
  [[], "fs.read", { mode: "Parallel", failure_policy: "ContinueOnError" }],
  [[], null, {}],
  [["--mode", "rolling=25%"], null, { mode: { Rolling: { batch: "25%" } } }],
  [["--mode=ROLLING=3"], null, { mode: { Rolling: { batch: 3 } } }],
  [["--mode=sequential"], null, { mode: "Sequential" }],
  [["--on-error=fail-fast"], "fs.read", { mode: "Parallel", failure_policy: "FailFast" }],
  [["--on-error", "stop-after=2"], null, { failure_policy: { StopAfter: 2 } }],
  [["--on-error", "stop-after=20%"], null, { failure_policy: { StopAfterPercent: 20 } }],
  [["--canary=10%", "--require-min", "3"], null, { canary: "10%", require_min_targets: 3 }],
  [["--deadline=15m", "--retries=2"], null, { per_target_deadline_secs: 900, retries: 2 }],
  [["--offline-ttl", "7d", "--approval"], null, { offline_ttl_secs: 604_800, approval: true }],
  [["--retry-on=err,lost"], null, { retry_on: ["err", "lost"] }],
  [["--max-concurrency=9"], null, { max_concurrency: 9 }],
])("%j of %p is the policy %j", (words, tool, expected) => {
  expect(policy(words, tool)).toEqual(expected);
});

test.each([
  ["--mode=all"],
  ["--mode=rolling"],
  ["--mode=rolling=0"],
  ["--mode=rolling=101%"],
  ["--mode=parallel=2"],
  ["--on-error=stop"],
  ["--on-error=stop-after=0"],
  ["--canary=-1"],
  ["--deadline=0"],
  ["--deadline=1w"],
  ["--deadline=25h"],
  ["--retries=4"],
  ["--max-concurrency=1001"],
  ["--require-min=1.5"],
])("the policy %s is refused", (word) => {
  expect(() => policy([word])).toThrow(Failure);
});

const order = (positions: readonly string[], rest: readonly string[] | null = null, arg: readonly string[] = []) =>
  orderOf({ positions, rest, arg, args: null });

test("a run is a target and a tool, or a target and a command as it was typed", () => {
  expect(order(["all", "fs.read"], null, ["path=a b", "max_bytes=10", 'deep={"a":1}', "n=007"])).toEqual({
    target: { All: null },
    tool: "fs.read",
    args: { path: "a b", max_bytes: 10, deep: { a: 1 }, n: "007" },
  });
  const selected = order(["os=linux", "tags=web"], ["echo", "a; id", "--json"]);
  expect(selected.target).toMatchObject({ Selector: { os: "linux", tags: [{ Has: "web" }] } });
  expect([selected.tool, selected.args]).toEqual(["cmd.run", { command: "echo", args: ["a; id", "--json"] }]);
  expect(orderOf({ positions: ["all", "x"], rest: null, arg: ["b=2"], args: '{"a":1,"b":1}' }).args).toEqual({
    a: 1,
    b: 2,
  });
  const id = "9007199254740993";
  expect(order(["all", "x"], null, [`id=${id}`]).args).toEqual({ id });
});

test("a run without its target, its tool or with both kinds of command is refused", () => {
  for (const [positions, rest] of [
    [[], null],
    [["all"], null],
    [["all", "a", "b"], null],
    [["all", "cmd.run"], ["ls"]],
    [["all"], []],
    [["nonsense"], ["ls"]],
  ] as const)
    expect(() => order(positions, rest)).toThrow(Failure);
  expect(() => order(["all"], ["ls"], ["command=rm"])).toThrow(Failure);
  expect(() => order(["all", "x"], null, ["=1"])).toThrow(Failure);
  for (const args of ["[]", "1", "{", "null"])
    expect(() => orderOf({ positions: ["all", "x"], rest: null, arg: [], args })).toThrow(Failure);
});

test.each([
  ["complete", null, 0, "ok"],
  ["complete", null, 1, "failed"],
  ["halted", "failure_threshold", 1, "halted"],
  ["halted", "canary_failed", 1, "halted"],
  ["halted", "run_deadline", 0, "deadline"],
  ["halted", "min_targets_unmet", 0, "minimum"],
  ["halted", "no_targets", 0, "unavailable"],
  ["cancelled", "cancelled", 0, "cancelled"],
  ["cancelled", "approval_rejected", 0, "cancelled"],
])("a run that is %s by %p with %i failed ends as %s", (status, reason, failed, exit) => {
  expect(exitOfRun({ status, reason, summary: { ok: 0, failed } })).toBe(exit as "ok");
});

test.each([
  [400, "invalid_id", "usage"],
  [401, "invalid_token", "authentication"],
  [403, "insufficient_scope", "authentication"],
  [404, "host_not_found", "conflict"],
  [409, "invalid_state", "conflict"],
  [402, "quota_exceeded", "failed"],
  [410, "enrollment_token_expired", "authentication"],
  [422, "unknown_tool", "usage"],
  [429, "quota_exceeded", "failed"],
  [429, "rate_limited", "unavailable"],
  [503, "service_unavailable", "unavailable"],
  [500, "internal_error", "failed"],
])("the answer %i %s ends as %s", (status, code, exit) => {
  expect(refusal(status, { code, error: "x" })).toMatchObject({ exit: exit as "usage", code });
});

test("plain http leaves this machine only when that is said", () => {
  for (const url of ["https://a.test/x/", "http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1"])
    expect(serviceAddress(url, "it", false, usageFailure)).toBe(url.replace(/\/$/, ""));
  for (const url of ["http://a.test", "http://127.0.0.1.a.test", "http://localhost.a.test", "http://0.0.0.0"]) {
    expect(() => serviceAddress(url, "it", false, usageFailure)).toThrow(Failure);
    expect(serviceAddress(url, "it", true, usageFailure)).toBe(url);
  }
  for (const url of ["ftp://a", "a.test", "", "https://u:p@a.test", "file:///etc"])
    expect(() => serviceAddress(url, "it", true, usageFailure)).toThrow(Failure);
});

test("what hosts and users wrote does not steer the terminal", () => {
  expect(plain("a\u001b[2Jb\rc\u202ed\u0007\te\r\n")).toBe("a�[2Jb�c�d�\te\n");
  expect(
    tableOf(
      ["A", "B"],
      [
        ["x\n\u001b[0m", ["1", "2"]],
        [null, true],
      ],
    ),
  ).toEqual(["A       B", "x �[0m  1,2", "–       yes"]);
  let said = "";
  const output = createOutput(true, { out: (text) => (said += text), error: () => {} });
  output.json({ a: "\u001b" });
  output.line("not for programs");
  expect(said).toBe('{"a":"\\u001b"}\n');
});

test("the help names every verb and flag, and what is unknown ends with 2", async () => {
  const help = await edge([]);
  expect(help.code).toBe(0);
  expect(verbs.filter(({ name, isInternal }) => !isInternal && !help.out.includes(`  ${name} `))).toEqual([]);
  for (const { name, load } of verbs) {
    const one = await edge([...name.split(" "), "--help"]);
    expect([name, one.code]).toEqual([name, 0]);
    const flags = Object.keys((await load()).flags);
    expect(flags.filter((flag) => !one.out.includes(`--${flag}`))).toEqual([]);
  }
  for (const words of [
    ["nonsense"],
    ["fleet"],
    ["fleet", "nonsense"],
    ["ls", "--nonsense"],
    ["ls", "extra"],
    ["ls", "--", "x"],
  ])
    expect([words, (await edge(words)).code]).toEqual([words, 2]);
  expect((await edge(["--version"])).out).toBe("0.1.0\n");
  expect((await edge(["fleet", "help"])).code).toBe(2);
  expect((await edge(["help", "fleet"])).out).toContain("fleet retry");
});

test("without a token the service is not called; programs get failures as JSON", async () => {
  const { code, err } = await edge(["ls"], { env: { SVC_OUTPUT: "json" } });
  expect([code, JSON.parse(err).error.code]).toEqual([3, "authentication"]);
  const away = await edge(["ls"], { env: { SVC_USER_TOKEN: "t", SVC_API_URL: "http://a.test" } });
  expect([away.code, away.err]).toEqual([2, expect.stringContaining("--allow-plaintext")]);
});
