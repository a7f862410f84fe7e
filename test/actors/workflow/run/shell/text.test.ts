// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's variables
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { compile } from "../../../../../actors/template/template.ts";
import { StateFault } from "../../../../../actors/workflow/run/kind.ts";
import {
  checkCommand,
  checkCommandText,
  renderShell,
  type ShellText,
} from "../../../../../actors/workflow/run/shell/text.ts";
import { cpuTimeOf } from "../../../../harness/cpu-time.ts";

const values = { a: "A", b: "B", list: ["x", "y"], no: "", yes: "1" };

function render(template: string, variables: Record<string, unknown> = values): ShellText {
  return renderShell(compile(template).renderParts(variables as typeof values, 2_000_000));
}

/** The shells of this machine, each as it is given a script. */
const shells = [["/bin/sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"]].filter(
  ([program]) => Bun.which(program ?? "") !== null,
);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shell-text-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What each shell prints, and which files lie in its directory afterwards. */
async function ran({ script, env }: ShellText): Promise<string[]> {
  const path = process.env.PATH ?? "";
  return await Promise.all(
    shells.map(async ([program = "", ...options]) => {
      const child = Bun.spawn([program, ...options, "-c", script], {
        cwd: folder,
        env: { PATH: path, ...env },
        stdin: new Blob([""]),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
      await child.exited;
      return out ?? "";
    }),
  );
}

describe("the script of a command", () => {
  test.each<[string, string]>([
    ["grep -c {{a}} '{{b}}'", `grep -c "\${SVC_ARG_1}" ''"\${SVC_ARG_2}"''`],
    ['echo "{{a}} and {{b}}"', 'echo "${SVC_ARG_1} and ${SVC_ARG_2}"'],
    ["echo {{a}}{{b}}", 'echo "${SVC_ARG_1}""${SVC_ARG_2}"'],
    ["echo it\\'s {{a}}", `echo it\\'s "\${SVC_ARG_1}"`],
    ['echo "it\'s {{a}}" \'"{{b}}"\'', `echo "it's \${SVC_ARG_1}" '"'"\${SVC_ARG_2}"'"'`],
    ["echo a#{{a}}", 'echo a#"${SVC_ARG_1}"'],
    ["echo \\\n {{a}}", 'echo \\\n "${SVC_ARG_1}"'],
    ['echo "\\"{{a}}\\""', 'echo "\\"${SVC_ARG_1}\\""'],
    ["cat <<EOF\nx ' y\nEOF\necho {{a}}", 'cat <<EOF\nx \' y\nEOF\necho "${SVC_ARG_1}"'],
    [
      "cat <<-'E' <<F {{a}}\n\tx \"\n\tE\n'\nF\necho '{{b}}'",
      `cat <<-'E' <<F "\${SVC_ARG_1}"\n\tx "\n\tE\n'\nF\necho ''"\${SVC_ARG_2}"''`,
    ],
    ["echo $(echo '(' \")\" # )'\n) {{a}}", `echo $(echo '(' ")" # )'\n) "\${SVC_ARG_1}"`],
    ["echo $((1 + (2 * 3))) ${HOME} ${x:-y} {{a}}", 'echo $((1 + (2 * 3))) ${HOME} ${x:-y} "${SVC_ARG_1}"'],
    ["echo `date '+%Y'` {{a}}", `echo \`date '+%Y'\` "\${SVC_ARG_1}"`],
    ["case {{a}} in x) echo {{b}};; esac", 'case "${SVC_ARG_1}" in x) echo "${SVC_ARG_2}";; esac'],
    ['f() { echo "$1"; }; f {{a}}', 'f() { echo "$1"; }; f "${SVC_ARG_1}"'],
    ["echo {{#each list}}'{{this}}' {{/each}}", `echo ''"\${SVC_ARG_1}"'' ''"\${SVC_ARG_2}"'' `],
    ['echo {{#if yes}}"{{/if}}{{a}}{{#if yes}}"{{/if}}', 'echo "${SVC_ARG_1}"'],
    ['echo {{#if no}}"{{/if}}{{a}}{{#if no}}"{{/if}}', 'echo "${SVC_ARG_1}"'],
    ["( cd / && ls {{a}} ) > {{b}}", '( cd / && ls "${SVC_ARG_1}" ) > "${SVC_ARG_2}"'],
    ["echo $# $$ $? {{a}}", 'echo $# $$ $? "${SVC_ARG_1}"'],
    ["X={{a}} env", 'X="${SVC_ARG_1}" env'],
    ["echo <<'A'B; echo {{a}}\n'\nAB\necho {{b}}", `echo <<'A'B; echo "\${SVC_ARG_1}"\n'\nAB\necho "\${SVC_ARG_2}"`],
  ])("%j", (template, script) => {
    expect(render(template).script).toBe(script);
    expect(checkCommandText(template)).toBeNull();
  });

  test("its variables are the values in order, empty ones too", () => {
    expect(render("echo {{a}} {{missing}} {{b}}").env).toEqual({ SVC_ARG_1: "A", SVC_ARG_2: "", SVC_ARG_3: "B" });
    expect(render("echo {{list}}").env).toEqual({ SVC_ARG_1: '["x","y"]' });
  });
});

describe("a value", () => {
  const refused: readonly [string, string][] = [
    ["in a here-document", "cat <<EOF\n{{a}}\nEOF"],
    ["in a quoted here-document", "cat <<'EOF'\n{{a}}\nEOF"],
    ["in an indented here-document", "cat <<-EOF\n\t{{a}}\n\tEOF"],
    ["in the second of two here-documents", "cat <<A <<B\nx\nA\n{{a}}\nB"],
    ["in a here-document without end", "cat <<EOF\nx\nEOF \n{{a}}"],
    ["as the end of a here-document", "cat <<{{a}}\nx\n"],
    ["in backticks", "echo `cat {{a}}`"],
    ["in backticks in quotes", 'echo "`cat {{a}}`"'],
    ["in a substitution", "echo $(cat {{a}})"],
    ["in a quoted substitution", 'echo "$(cat "{{a}}")"'],
    ["in quotes in a substitution", "echo $(echo '{{a}}')"],
    ["in arithmetic", "echo $((1 + {{a}}))"],
    ["in an arithmetic command", "((x = {{a}}))"],
    ["in an expansion", "echo ${x:-{{a}} }"],
    ["in an expansion's name", "echo ${ {{~a}} }"],
    ["in ANSI-C quotes", "echo $'{{a}}'"],
    ["in locale quotes", 'echo $"{{a}}"'],
    ["in a comment", "echo x # {{a}}"],
    ["in a comment at the beginning", "#{{a}}"],
    ["in a comment behind an operator", "echo x;#{{a}}"],
    ["behind a dollar", "echo ${{a}}"],
    ["behind a dollar in quotes", 'echo "${{a}}"'],
    ["behind a backslash", "echo \\\\{{a}}"],
    ["behind a backslash in quotes", 'echo "\\\\{{a}}"'],
    ["behind a dollar whose line goes on, in quotes", 'echo "$\\\n{{a}}"'],
    ["in old arithmetic", "echo $[{{a}}]"],
    ["in a conditional", "[[ {{a}} -eq 1 ]]"],
    ["in a subscript", "x[{{a}}]=1"],
    ["in an array", "x=({{a}})"],
    ["in a process substitution", "cat <(echo {{a}})"],
    ["behind backticks with quotes of their own", 'echo "`echo "x"` {{a}}"'],
    ["behind a here-document begun beside a substitution", "cat <<EOF $(\necho x\nEOF\n) {{a}}"],
    ["behind a here-document begun beside quotes", "cat <<EOF 'a\nb'\nEOF\necho {{a}}"],
    ["behind the case of a substitution", "echo $(case x in x) echo y;; esac) {{a}}"],
  ];
  test.each(refused)("%s is refused at registration and when rendered", (_, template) => {
    expect(checkCommandText(template)).toMatchObject({ code: "unsafe_template_position" });
    expect(() => render(template)).toThrow(expect.objectContaining({ code: "unsafe_template_position" }));
  });

  test("whose place depends on blocks is refused when it is rendered there", () => {
    const template = "echo {{#if on}}`{{/if}} {{a}} {{#if on}}`{{/if}}";
    expect(checkCommandText(template)).toBeNull();
    expect(render(template, { a: "x" }).script).toBe('echo  "${SVC_ARG_1}" ');
    expect(() => render(template, { a: "x", on: true })).toThrow(
      expect.objectContaining({ code: "unsafe_template_position" }),
    );
  });

  test("that is unsafe wherever its blocks lead is refused at registration", () => {
    expect(checkCommandText("{{#if x}}echo `{{a}}`{{else}}echo {{b}}{{/if}}")).toMatchObject({
      code: "unsafe_template_position",
    });
    expect(checkCommandText("{{#each x}}{{#if y}}$({{else}}`{{/if}}{{a}}{{/each}}")).not.toBeNull();
  });

  test.each<[string, string, Record<string, unknown>]>([
    ["NUL", "echo {{v}}", { v: "a\0b" }],
    ["more than a variable holds", "echo {{v}}", { v: "x".repeat(131_072) }],
    ["too many", "echo {{#each v}}{{this}}{{/each}}", { v: Array(257).fill("x") }],
  ])("is invalid: %s", (_, template, variables) => {
    expect(() => render(template, variables)).toThrow(expect.objectContaining({ code: "template_value_invalid" }));
  });

  test("cannot hide behind a NUL of the author's", () => {
    expect(() => renderShell([{ by: "author", text: "echo \0" }])).toThrow(
      expect.objectContaining({ code: "template_value_invalid" }),
    );
  });

  test("may be as long as a variable can be, and as many as 256", async () => {
    const long = "x".repeat(131_000);
    expect(await ran(render("printf %s {{v}} | wc -c", { v: long }))).toEqual(
      shells.map(() => expect.stringMatching(/^\s*131000\n$/)),
    );
    expect(Object.keys(render("echo {{#each v}}{{this}}{{/each}}", { v: Array(256).fill("x") }).env)).toHaveLength(256);
  });
});

describe("a list", () => {
  const checked = (...list: string[]) => checkCommand({ form: "list", list });
  test.each<[readonly string[], boolean]>([
    [["sh", "-c", "echo {{a}}"], true],
    [["/bin/bash", "-eu", "-o", "pipefail", "-c", "echo {{a}}"], true],
    [["sh", "-c", "echo `{{a}}`"], false],
    [["busybox", "sh", "-c", "echo $({{a}})"], false],
    [["bash", "--norc", "-c", "echo $({{a}})"], false],
    [["bash", "-norc", "-c", "echo $({{a}})"], false],
    [["sh", "-ec", "echo $({{a}})"], false],
    [["sh", "-c", "-e", "echo $({{a}})"], false],
    [["sh", "+c", "echo $({{a}})"], false],
    [["sh", "-{{a}}", "{{b}}"], false],
    [["bash", "--odd", "-c", "echo {{a}}"], false],
    [["sh", "script.sh", "-c", "`{{a}}`"], true],
    [["grep", "-c", "`{{a}}`"], true],
    [["busybox", "grep", "-c", "`{{a}}`"], true],
  ])("%j", (list, isFine) => {
    expect(checked(...list) === null).toBe(isFine);
  });
});

/** Texts that would do harm if a shell ever read them. */
const hostile = fc.oneof(
  fc.constantFrom(
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "\ntouch pwned\n",
    "' ; touch pwned ; '",
    '" ; touch pwned ; "',
    "'\"",
    "a b  c",
    "*",
    "~",
    "\\",
    "$HOME",
    "${SVC_ARG_1}",
    "-n",
    "",
    "\nEOF\ntouch pwned\n",
    "a[$(touch pwned)]",
    "$((a[$(touch pwned)]))",
    "\u{1F600}é",
    "#",
    "\r\n\t",
  ),
  fc.string({
    unit: fc.constantFrom("'", '"', "\\", "$", "`", "(", ")", "{", "}", "\n", " ", ";", "#", "&", "|", "x"),
    maxLength: 12,
  }),
);
/** What may stand before a command without changing what it does. */
const before = fc.constantFrom(
  "",
  "true; ",
  "# it's a comment\n",
  ": 'a \"b' \"c 'd\" ; ",
  ": \\' \\\" ; ",
  ": `echo a` $(echo \")\" '(') ${HOME} $((1+2)); ",
  "cat <<EOF >/dev/null\nit's \"\nEOF\n",
  "cat <<-'E' <<\\F >/dev/null\n`\n\tE\n$(\nF\n",
  ": a#'b' ; ",
  "case x in x) : ;; esac\n",
  "f() { : ; } ; f \\\n x\n",
  ': "`echo a`$(echo b)" ; ',
  ": $'a' \"$HOME\"'x' ; ",
);
/** A word with one value in it, and what the word is without it. */
const word = fc.constantFrom<[string, string, string]>(
  ["{{v}}", "", ""],
  ["'{{v}}'", "", ""],
  ['"{{v}}"', "", ""],
  ["a{{v}}b", "a", "b"],
  ["'a{{v}}b'", "a", "b"],
  ["\"a'{{v}}'b\"", "a'", "'b"],
  ["'a\"{{v}}\"b'", 'a"', '"b'],
  ["\\'{{v}}\\\"", "'", '"'],
  ["'a'\"b\"{{v}}'c'", "ab", "c"],
  ['"\\"{{v}}\\`"', '"', "`"],
  ["a#{{v}}#b", "a#", "#b"],
  ['"$(echo a){{v}}"', "a", ""],
  ["{{#if yes}}'{{v}}'{{/if}}", "", ""],
  ["'x\\\n{{v}}'", "x\\\n", ""],
  ["x\\\n{{v}}", "x", ""],
);

test("every value stays one word, and no part of it is run", async () => {
  await fc.assert(
    fc.asyncProperty(before, fc.array(fc.tuple(word, hostile), { minLength: 1, maxLength: 4 }), async (lead, words) => {
      const variables = { yes: true, ...Object.fromEntries(words.map(([, value], at) => [`v${at}`, value])) };
      const list = words.map(([[text]], at) => text.replace("{{v}}", `{{v${at}}}`)).join(" ");
      const wanted = words.map(([[, head, tail], value]) => `${head}${value}${tail}\0`).join("");
      const outputs = await ran(render(`${lead}printf '%s\\0' ${list}`, variables));
      expect(outputs).toEqual(shells.map(() => wanted));
      expect(readdirSync(folder)).toEqual([]);
    }),
    { numRuns: 120 },
  );
}, 60_000);

const piece = fc.constantFrom(
  ..."'|'|\"|\"|\\|$(|)|(|`|<<EOF|<<-'E'|\n|\nEOF\n|\n\tE\n|#| | |case a in |a)|esac|;;|${x:-|}|$x|$((1+|))|$'|$\"|[|]|((|;|&&|echo |printf %s, |a|=|f()|\\\n|<|if |then |fi|[[ | ]]|$[|cat".split(
    "|",
  ),
);

test("in place of plain text a value means what it would mean spliced in", async () => {
  const plain = ".q7.";
  const parts = fc.array(fc.oneof(piece, piece, piece, fc.constant(null)), { minLength: 2, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(parts, async (pieces) => {
      const list = pieces.map((text) => ({
        by: text === null ? ("value" as const) : ("author" as const),
        text: text ?? plain,
      }));
      let text: ShellText;
      try {
        text = renderShell([{ by: "author", text: "printf '<%s>' " }, ...list]);
      } catch (error) {
        expect(error).toBeInstanceOf(StateFault);
        return;
      }
      const spliced = `printf '<%s>' ${list.map((part) => part.text).join("")}`;
      expect(await ran(text)).toEqual(await ran({ script: spliced, env: {} }));
    }),
    { numRuns: 150 },
  );
}, 60_000);

test("without blocks, registration and rendering find the same", () => {
  const parts = fc.array(fc.oneof(piece, piece, piece, fc.constant(null)), { maxLength: 14 });
  fc.assert(
    fc.property(parts, (pieces) => {
      const source = pieces.map((text) => text ?? " {{a}}").join("");
      // Braces of the shell's that Handlebars would read.
      fc.pre(!/\{\{(?!a\}\})|\{\{\{|\}\}\}/.test(source));
      let rendered: string | null = null;
      try {
        render(source);
      } catch (error) {
        if (!(error instanceof StateFault)) throw error;
        rendered = error.code;
      }
      expect(checkCommandText(source)?.code ?? null).toBe(rendered);
    }),
    { numRuns: 3000 },
  );
});

test("a long command is examined in a moment", () => {
  for (const text of ["'", "$(", "((", "`", '"$x', "${a", "<<A\n", "a[", "$((1+", "{{#if a}}'{{/if}}{{b}}", "{{a}} "]) {
    // As long as one text may be, of which its tags may take a part.
    const long = text.repeat(Math.floor((text.includes("{{") ? 8_000 : 90_000) / text.length));
    expect(cpuTimeOf(() => checkCommandText(long))).toBeLessThan(3000);
  }
});
