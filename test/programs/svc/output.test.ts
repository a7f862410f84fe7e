/** What the command line prints, and how it reads its words; no service is asked. */
import { expect, test } from "bun:test";
import { parse } from "yaml";
import { eventText } from "../../../src/programs/svc/groups/executions/events.ts";
import { graphLines, statesOf } from "../../../src/programs/svc/groups/workflows/graph.ts";
import { ago, bytes, cell, duration } from "../../../src/programs/svc/output/cells.ts";
import { coloursFor } from "../../../src/programs/svc/output/colours.ts";
import { fitted, inline, lines, Safe, say } from "../../../src/programs/svc/output/inert.ts";
import { createOutput } from "../../../src/programs/svc/output/output.ts";
import { tableLines } from "../../../src/programs/svc/output/table.ts";
import { allVerbs, svc, testIo } from "./harness.ts";

const hostile = "a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\r\u202ec\u009b2Jd\ne";
const plain = coloursFor({ env: {} }, false, true);

test("text from elsewhere cannot steer the terminal, wherever it stands", async () => {
  for (const text of [say`x ${hostile} y`.text, lines(hostile).text, inline(hostile), cell(hostile, "text", null)]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(text).toContain("red");
  }
  expect(say`one ${hostile} line`.text).not.toContain("\n");
  const console_output = { content: hostile, stream: "stdout" };
  expect(eventText({ name: "console_output", body: console_output }, plain)?.text).not.toContain("\u001b");
});

test("JSON and YAML mean the same text, and hold none of it that steers", async () => {
  for (const format of ["json", "yaml"] as const) {
    const texts = { out: "", err: "" };
    await createOutput(testIo({}, texts), { format, isColourWanted: true }).data({ name: hostile });
    expect(format === "json" ? JSON.parse(texts.out) : parse(texts.out)).toEqual({ name: hostile });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(texts.out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
});

test("a text of a record is as it is for a pipe, and inert on a terminal", () => {
  for (const columns of [80, undefined]) {
    const texts = { out: "", err: "" };
    const io = testIo(columns === undefined ? {} : { columns }, texts);
    createOutput(io, { format: "text", isColourWanted: true }).content(hostile);
    expect(texts.out === hostile).toBe(columns === undefined);
    expect(texts.out.includes("\u001b")).toBe(columns === undefined);
  }
});

test("a table fits the terminal: the widest columns give way, wide signs count double", () => {
  const style = (text: string) => new Safe(text);
  const wide = tableLines(["ID", "TEXT"], [["1", "日本".repeat(40)]], 40, style).map(({ text }) => text);
  for (const line of wide) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40);
  expect(wide[1]).toEndWith("…");
  const whole = tableLines(["ID", "TEXT"], [["1", "x".repeat(200)]], null, style);
  expect(whole[1]?.text).toEndWith("x".repeat(200));
  expect(fitted("abcdef", 4)).toBe("abc…");
});

test("times, durations and sizes are told shortly", () => {
  expect([ago(-90_000), ago(7_200_000), ago(10)]).toEqual(["1m ago", "in 2h", "now"]);
  expect([duration(12), duration(1_500), duration(125_000)]).toEqual(["12 ms", "1.5 s", "2 m 5 s"]);
  expect([bytes(10), bytes(1_536), bytes(5 * 1024 ** 3)]).toEqual(["10 B", "1.5 KiB", "5.0 GiB"]);
  expect(cell("2026-01-01T00:00:00.000Z", "time", null)).toBe("2026-01-01T00:00:00.000Z");
});

test("colours are for terminals, and never there with NO_COLOR or --no-color", async () => {
  const colour = "\u001b[";
  expect((await svc(["--help"], { columns: 80 })).out).toContain(colour);
  expect((await svc(["--help"], { columns: 80, env: { NO_COLOR: "1" } })).out).not.toContain(colour);
  expect((await svc(["--help"])).out).not.toContain(colour);
  const nowhere = ["agents", "list", "--url", "http://127.0.0.1:1"];
  expect((await svc(nowhere, { columns: 80 })).err).toContain(colour);
  expect((await svc([...nowhere, "--no-color"], { columns: 80 })).err).not.toContain(colour);
});

test.each([
  [[], 2, ""],
  [["nonsense"], 2, "unknown command"],
  [["agents"], 2, ""],
  [["agents", "lst"], 2, "Did you mean"],
  [["agents", "list", "--limit", "0"], 2, "--limit"],
  [["agents", "list", "--json", "--yaml"], 2, "do not go together"],
  [["agents", "get"], 2, "missing required argument"],
  [["executions", "list", "--status", "odd"], 2, "Allowed choices"],
  [["executions", "get", "no-id"], 2, "not the id"],
  [["run", "no-such-file.yaml"], 2, "there is no such file"],
  [["run", "x", "a", "--input", "b=1"], 4, ""],
  [["agents", "list", "--context", "unknown"], 2, "no context"],
  [["agents", "list", "--url", "http://svc.example"], 2, "--allow-plaintext"],
  [["agents", "list", "--url", "http://127.0.0.1:1"], 5, "nothing listens there"],
  [["edge", "fleet", "run"], 2, "usage"],
  [["edge", "status", "--json", "--yaml"], 2, "do not go together"],
  [["edge", "ls", "--status", "odd"], 2, "Allowed choices"],
  [["completion", "powershell"], 2, "bash, zsh and fish"],
] as const)("words that lead nowhere: %p ends with %d", async (words, code, told) => {
  const isAsked = code === 4;
  const said = await svc(words, isAsked ? { env: { SVC_API_URL: "http://127.0.0.1:1" } } : {});
  expect(said.code).toBe(isAsked ? 5 : code);
  expect(said.err).toContain(told);
  const json = await svc([...words, "--json"]);
  if (told !== "" && !isAsked && words[0] !== "edge") expect(JSON.parse(json.err).error.exit).toBe(code);
});

test("help is there for every command, wherever the word stands, with examples", async () => {
  const verbs = await allVerbs();
  expect(verbs.length).toBeGreaterThan(60);
  for (const verb of verbs) {
    const words = verb.split(" ");
    const [behind, before] = [await svc([...words, "--help"]), await svc(["help", ...words])];
    expect([behind.code, behind.out]).toEqual([before.code, before.out]);
    expect([verb, behind.code]).toEqual([verb, 0]);
    expect(behind.out).toContain(`Usage: svc ${verb}`);
    if (words[0] !== "edge") expect([verb, behind.out.includes("Examples:")]).toEqual([verb, true]);
  }
});

test("the shells take the completions, and they lead to every command", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { out, code } = await svc(["completion", shell]);
    expect(code).toBe(0);
    for (const word of ["executions", "schedules", "--compensate", "fleet"])
      expect(out).toContain(word.replace("--", ""));
    const program = Bun.which(shell);
    if (program !== null) expect(Bun.spawnSync([program, "-n"], { stdin: Buffer.from(out) }).exitCode).toBe(0);
  }
  const { out } = await svc(["completion", "bash"]);
  const completed = (line: string) => {
    const script = `${out}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc; echo "\${COMPREPLY[@]}"`;
    const words = line.endsWith(" ") ? script.replace(`(${line})`, `(${line}"")`) : script;
    return Bun.spawnSync(["bash", "-c", words]).stdout.toString().trim();
  };
  expect(completed("svc exec")).toBe("executions");
  expect(completed("svc executions fi")).toBe("files");
  expect(completed("svc --context x executions files ")).toContain("ls get");
  expect(completed("svc agents list --status ")).toBe("active paused archived");
});

test("a workflow is drawn from its beginning, with what undoes what", () => {
  const state = (transitions: readonly object[], more: object = {}) => ({ kind: "System", transitions, ...more });
  const states = statesOf({
    spec: {
      initial_state: "A",
      states: { END: state([]), UNDO: state([]), A: state([{ target: "END" }], { compensate: "UNDO" }) },
    },
  });
  expect(states.map(({ name, outcome }) => [name, outcome])).toEqual([
    ["A", null],
    ["END", "completed"],
    ["UNDO", null],
  ]);
  expect(graphLines(states, plain).map(({ text }) => text)).toContain("    always → END");
  expect(statesOf("no manifest")).toEqual([]);
});
