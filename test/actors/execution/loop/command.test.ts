import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readCommand } from "../../../../actors/execution/loop/command.ts";
import { argvOf } from "../../../../actors/tool/argv.ts";

const shell = (line: string) => ({ command: "/bin/sh", args: ["-c", line] });

describe("argv", () => {
  test.each<[string, string[]]>([
    ["make check", ["make", "check"]],
    ["  make \t check  ", ["make", "check"]],
    ["echo 'a b' c", ["echo", "a b", "c"]],
    ['echo "a b" "c\\"d" "\\n"', ["echo", "a b", 'c"d', "\\n"]],
    ["echo \"$HOME\" '$HOME'", ["echo", "$HOME", "$HOME"]],
    ["echo a\\ b \\$x", ["echo", "a b", "$x"]],
    ["echo a'b'\"c\"", ["echo", "abc"]],
    ["echo '' \"\"", ["echo", "", ""]],
    ["echo a~ 'x*' \"a;b\"", ["echo", "a~", "x*", "a;b"]],
    ["git commit -m 'it''s'", ["git", "commit", "-m", "its"]],
  ])("splits %p", (line, [command = "", ...args]) => {
    expect(argvOf(line)).toEqual({ command, args });
  });

  test.each([
    "a; b",
    "a & b",
    "a | b",
    "a < b",
    "a > b",
    "(a)",
    "echo $X",
    "echo `x`",
    "a\nb",
    "ls *",
    "ls a?",
    "ls [a]",
    "cd ~",
    "~/x",
    "echo 'open",
    "echo \\",
  ])("%p goes to a shell as it is", (line) => {
    expect(argvOf(line)).toEqual(shell(line));
  });

  test("with args nothing is split, even without any", () => {
    expect(argvOf("a b", [])).toEqual({ command: "a b", args: [] });
    expect(argvOf("sh", ["-c", "echo $X; y"])).toEqual({ command: "sh", args: ["-c", "echo $X; y"] });
  });

  test("no program is no command", () => {
    for (const line of ["", "   ", "''"]) expect(argvOf(line)).toBeNull();
  });

  test("quoted words come back as they were", () => {
    const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (words) => {
        fc.pre(words[0] !== "");
        const [command = "", ...args] = words;
        expect(argvOf(words.map(quoted).join(" "))).toEqual({ command, args });
      }),
    );
  });

  test("any line is split or given to a shell", () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(..."ab '\"\\$;~\n*") }), (line) => void argvOf(line)));
  });
});

describe("arguments", () => {
  test("defaults, and nulls count as absent", () => {
    expect(readCommand({ command: "ls", args: null, cwd: null })).toEqual({
      command: "ls",
      args: [],
      cwd: "/workspace",
      env_additions: {},
      timeout_secs: 600,
      timeout_asked: false,
      max_output_bytes: 1_048_576,
      dropped_env: [],
      notice: null,
    });
  });

  test("dropped additions are named", () => {
    const ofPrograms = ["GIT_SSH_COMMAND", "BASH_ENV", "ENV", "PYTHONPATH", "PERL5OPT", "NODE_OPTIONS"];
    const env_additions = {
      MODE: "ci",
      PATH: "/x",
      HOME: "/",
      SVC_X: "1",
      AEGIS_X: "1",
      CI_JOB: "1",
      LD_PRELOAD: "x",
      GITHUB_TOKEN_2: "x",
      GIT_SSH_COMMAND: "x",
      BASH_ENV: "x",
      ENV: "x",
      ENVIRONMENT: "x",
      PYTHONPATH: "x",
      PERL5OPT: "x",
      NODE_OPTIONS: "x",
      CITY: "x",
      "a=b": "x",
    };
    expect(readCommand({ command: "ls", env_additions })).toMatchObject({
      env_additions: { MODE: "ci", ENVIRONMENT: "x", CITY: "x" },
      dropped_env: ["PATH", "HOME", "SVC_X", "AEGIS_X", "CI_JOB", "LD_PRELOAD", "GITHUB_TOKEN_2", ...ofPrograms, "a=b"],
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no command", {}, "command"],
    ["an empty one", { command: "" }, "command"],
    ["blank", { command: "  " }, "command"],
    ["NUL", { command: "a", args: ["\0"] }, "command"],
    ["a number among args", { command: "a", args: [1] }, "args.0"],
    ["too long a timeout", { command: "a", timeout_secs: 3601 }, "timeout_secs"],
    ["no output at all", { command: "a", max_output_bytes: 0 }, "max_output_bytes"],
    ["env that is no map", { command: "a", env_additions: "MODE=ci" }, "env_additions"],
  ])("refuses %s", (_, given, path) => {
    expect(readCommand(given)).toMatchObject({ issues: expect.arrayContaining([expect.objectContaining({ path })]) });
  });
});
