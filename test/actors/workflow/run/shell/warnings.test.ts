import { expect, test } from "bun:test";
import type { Command } from "../../../../../actors/workflow/definition/states.ts";
import { commandWarnings } from "../../../../../actors/workflow/run/shell/warnings.ts";

const text = (source: string): Command => ({ form: "text", text: source });
const list = (...elements: string[]): Command => ({ form: "list", list: elements });

test.each<[Command, RegExp]>([
  [text("eval echo {{a}}"), /^eval/],
  [text("x=1 eval $y"), /^eval/],
  [text("if true; then eval x; fi"), /^eval/],
  [text("echo $(eval x)"), /^eval/],
  [text("sh -c 'echo {{a}}'"), /^sh reads/],
  [text("/usr/bin/python3 -c 'print(1)'"), /^python3 reads/],
  [text("echo {{a}} | bash"), /^bash reads/],
  [text("env X=1 timeout 5 perl -e 1"), /^perl reads/],
  [text("find . -exec sh -c 'x' \\;"), /^sh reads/],
  [text("awk '{print}' {{a}}"), /^awk reads/],
  [text("trap {{a}} EXIT"), /^trap evaluates/],
  [text("{{a}} --help"), /name of the program/],
  [text("true && '{{a}}'"), /name of the program/],
  [text("exec {{a}}"), /name of the program/],
  [list("{{a}}", "x"), /name of the program/],
  [list("sh", "-c", "eval {{a}}"), /^eval/],
  [list("env", "bash", "-c", "echo {{a}}"), /^bash reads/],
  [list("node", "-e", "{{a}}"), /^node reads/],
])("%j is warned of", (command, warning) => {
  expect(commandWarnings(command)).toEqual([expect.stringMatching(warning)]);
});

test.each<Command>([
  text("grep -c {{a}} '{{b}}'"),
  text("printf %s {{input.invoice}} | wc -c"),
  text("python3 run.py {{a}}"),
  text("echo eval sh -c; ls > {{a}}"),
  text("for x in {{a}} eval; do echo $x; done"),
  text("sed s/a/b/ file"),
  list("grep", "eval", "{{a}}"),
  list("sh", "-c", "echo {{a}}"),
  list("bash", "run.sh", "{{a}}"),
])("%j is fine", (command) => {
  expect(commandWarnings(command)).toEqual([]);
});
