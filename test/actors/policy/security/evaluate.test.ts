/** docs/reference/security-contexts.md: which calls a context allows, and how it refuses the others. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import { callFacts } from "../../../../actors/policy/security/call-facts.ts";
import { type Binding, boundsOf, byName, evaluate } from "../../../../actors/policy/security/evaluate.ts";
import { pathAllowed } from "../../../../actors/policy/security/paths.ts";
import type { Capability } from "../../../../actors/policy/security/spec.ts";
import { patternCovers } from "../../../../actors/tool/catalog.ts";

const binding = (capabilities: readonly Capability[], deny_list: string[] = [], name = "build"): Binding => ({
  name,
  version: 3,
  spec: { capabilities: [...capabilities], deny_list },
});
const all: Capability = { tool_pattern: "*" };
const ask = (tool: string, given: { [name: string]: Json }, ...bindings: Binding[]) =>
  evaluate(callFacts(tool, given), bindings);
/** The code of the refusal, or the index of the capability that governs. */
const told = (tool: string, given: { [name: string]: Json }, ...bindings: Binding[]): string | number | undefined => {
  const verdict = ask(tool, given, ...bindings);
  return verdict.allowed ? verdict.governing[0]?.index : verdict.code;
};

test("fs.* does not match fsx.read; a deny list beats *; no capabilities refuse all", () => {
  expect(ask("fsx.read", {}, binding([{ tool_pattern: "fs.*" }]))).toMatchObject({
    error_code: 2000,
    code: "tool_not_allowed",
    violation_type: "tool_not_allowed",
  });
  expect(ask("fs.delete", { path: "a" }, binding([all], ["fs.delete"]))).toMatchObject({
    error_code: 2001,
    code: "tool_denied",
    violation_type: "tool_explicitly_denied",
    details: { security_context: "build", context_version: 3, capability_index: null, constraint: "deny_list" },
  });
  expect(ask("fs.read", {}, binding([]))).toMatchObject({ error_code: 2000 });
});

test("a path that leaves /workspace through .. is refused as 2002", () => {
  const within = binding([{ tool_pattern: "fs.*", path_allowlist: ["/workspace"] }]);
  expect(ask("fs.read", { path: "/workspace/../etc/passwd" }, within)).toMatchObject({
    error_code: 2002,
    code: "path_not_allowed",
    violation_type: "path_traversal_attempt",
  });
  expect(ask("fs.read", { path: "/etc/passwd" }, within)).toMatchObject({
    error_code: 2002,
    message: "fs.read may not touch /etc/passwd",
    violation_type: "path_outside_boundary",
    details: {
      tool: "fs.read",
      violation_type: "path_outside_boundary",
      security_context: "build",
      context_version: 3,
      capability_index: 0,
      constraint: "path_allowlist",
      attempted: "/etc/passwd",
      allowed: ["/workspace"],
    },
  });
});

test.each([
  [["/workspace/a"], "/workspace/a", true],
  [["/workspace/a"], "/workspace/a/b/c", true],
  [["/workspace/a"], "/workspace/ab", false],
  [["/workspace/a/*"], "/workspace/a/b/c", true],
  [["/workspace/a/**"], "/workspace/a", true],
  [["/workspace/a/**"], "/workspace/ab", false],
  [["/workspace/*.md"], "/workspace/n.md", true],
  [["/workspace/*.md"], "/workspace/n.md/x", false],
  [["/workspace/*.md"], "/workspace/a/n.md", false],
  [["/workspace/a*b*b"], "/workspace/ab", false],
  [["/workspace/a*b*b"], "/workspace/axbxb", true],
  [["/workspace/*/src/**"], "/workspace/one/src/deep/x", true],
  [["/workspace/*/src/**"], "/workspace/one/two/src/x", false],
  [["a"], "a/b", true],
  [["/"], "/etc/passwd", true],
  [[], "/workspace/a", false],
  [["/workspace/../etc"], "/etc/passwd", false],
  [["/workspace/a"], "a/./../a//b", true],
])("paths %p over %p: %p", (path_allowlist, path, allowed) => {
  expect(ask("fs.read", { path }, binding([{ tool_pattern: "*", path_allowlist }])).allowed).toBe(allowed);
});

test("a shell line is refused where only git may run; git push where only status may", () => {
  const onlyGit = binding([{ tool_pattern: "cmd.run", command_allowlist: ["git"] }]);
  expect(ask("cmd.run", { command: "ls; rm -rf x" }, onlyGit)).toMatchObject({
    error_code: 2003,
    code: "command_not_allowed",
    details: { constraint: "shell_syntax", attempted: "sh", allowed: ["git"] },
  });
  const onlyStatus = binding([{ tool_pattern: "cmd.run", subcommand_allowlist: { git: ["status"] } }]);
  expect(ask("cmd.run", { command: "git push" }, onlyStatus)).toMatchObject({
    error_code: 2003,
    code: "subcommand_not_allowed",
    violation_type: "subcommand_not_allowed",
  });
});

test.each([
  [{ command_allowlist: ["git"] }, { command: "/workspace/git", args: [] }, "command_not_allowed"],
  [{ command_allowlist: ["/usr/bin/git"] }, { command: "git", args: [] }, "command_not_allowed"],
  [{ command_allowlist: ["/usr/bin/git"] }, { command: "/usr/bin/git", args: [] }, 0],
  [{ command_allowlist: [] }, { command: "git" }, "command_not_allowed"],
  [{ subcommand_allowlist: { make: [] } }, { command: "make" }, 0],
  [{ subcommand_allowlist: { make: [] } }, { command: "make check" }, 0],
  [{ subcommand_allowlist: { make: [] } }, { command: "git status" }, "command_not_allowed"],
  [{ subcommand_allowlist: { git: ["status"] } }, { command: "git" }, "subcommand_not_allowed"],
  [{ subcommand_allowlist: { git: [""] } }, { command: "git" }, 0],
  [{ subcommand_allowlist: { git: [""] } }, { command: "git", args: [""] }, "subcommand_not_allowed"],
  [{ subcommand_allowlist: ["status"] }, { command: "hg status" }, 0],
  [{ subcommand_allowlist: [] }, { command: "hg status" }, "subcommand_not_allowed"],
  [{ subcommand_allowlist: { constructor: [] } }, { command: "toString" }, "command_not_allowed"],
  [{ command_allowlist: ["ls", "git"], subcommand_allowlist: { git: ["status"] } }, { command: "ls -la" }, 0],
  [{ command_allowlist: ["sh"] }, { command: "ls | wc" }, 0],
  [{ command_allowlist: ["sh"], subcommand_allowlist: ["x"] }, { command: "ls | wc" }, "subcommand_not_allowed"],
])("commands %p, call %p: %p", (constraint, given, expected) => {
  expect(told("cmd.run", given, binding([{ tool_pattern: "cmd.run", ...constraint } as Capability]))).toBe(expected);
});

test.each([
  ["x.org", "https://x.org/a", true],
  ["x.org", "https://a.x.org:8443/", true],
  ["x.org", "https://ax.org/", false],
  ["x.org", "https://x.org.evil.com/", false],
  ["x.org", "https://x.org@evil.com/", false],
  ["X.org.", "https://x.ORG./", true],
  ["*.x.org", "https://a.x.org/", true],
  ["*.x.org", "https://x.org/", false],
  ["bücher.example", "https://xn--bcher-kva.example/", true],
  ["10.0.0.1", "http://10.0.0.1/", true],
  ["10.0.0.1", "http://0x0a000001/", true],
  ["0.0.1", "http://10.0.0.1/", false],
  ["::1", "http://[::1]/", true],
  ["x.org", "no url", false],
])("the domain %s over %s: %p", (entry, url, allowed) => {
  const verdict = ask("web.fetch", { url }, binding([{ tool_pattern: "web.*", domain_allowlist: [entry] }]));
  expect(verdict.allowed || verdict.error_code).toBe(allowed || 2004);
});

test("the first capability that fits governs; different failures are told together", () => {
  const context = binding([
    { tool_pattern: "fs.*", path_allowlist: ["/workspace/a"], max_timeout_secs: 5 },
    { tool_pattern: "fs.*", path_allowlist: ["/workspace"], max_response_size: 100 },
  ]);
  expect(told("fs.read", { path: "a/x" }, context)).toBe(0);
  expect(told("fs.read", { path: "b" }, context)).toBe(1);
  expect(told("fs.read", { path: "/etc" }, context)).toBe("path_not_allowed");
  const various = binding([
    { tool_pattern: "cmd.run", command_allowlist: ["git"] },
    { tool_pattern: "cmd.*", path_allowlist: ["/other"] },
  ]);
  expect(ask("cmd.run", { command: "ls" }, various)).toMatchObject({
    error_code: 2006,
    code: "no_matching_capability",
    details: {
      failures: [
        { code: "command_not_allowed", capability_index: 0 },
        { code: "path_not_allowed", capability_index: 1 },
      ],
    },
  });
});

test("a deleted ceiling refuses every call; what ceilings leave is the least of each", () => {
  const own = binding([{ tool_pattern: "*", max_timeout_secs: 60 }]);
  const ceiling = binding([{ tool_pattern: "fs.*", max_timeout_secs: 90, max_response_size: 10 }], [], "outer");
  expect(ask("fs.read", {}, own, { name: "gone", version: 1, spec: null })).toMatchObject({
    error_code: 2000,
    details: { security_context: "gone", constraint: "context_deleted" },
  });
  const verdict = ask("fs.read", {}, own, ceiling);
  expect(verdict.allowed && boundsOf(verdict.governing)).toEqual({ maxTimeoutSecs: 60, maxResponseBytes: 10 });
  expect(told("web.fetch", {}, own, ceiling)).toBe("tool_not_allowed");
});

const name = fc.constantFrom("fs.read", "fs.write", "cmd.run", "web.fetch", "svc.agent.list", "tickets.search");
const pattern = fc.constantFrom("*", "fs.*", "fs.read", "cmd.*", "web.*", "svc.*", "aegis.agent.*", "tickets.search");
const allowlist = fc.option(fc.subarray(["/workspace", "/workspace/a", "/", "/etc", "/workspace/*.md"]), { nil: null });
const capability: fc.Arbitrary<Capability> = fc.record({ tool_pattern: pattern, path_allowlist: allowlist });
const context = fc
  .tuple(fc.array(capability, { maxLength: 4 }), fc.array(pattern, { maxLength: 2 }))
  .map(([capabilities, denied]) => binding(capabilities, denied));
const path = fc
  .array(fc.constantFrom("..", ".", "", "a", "b", "n.md", "etc", "workspace"), { maxLength: 6 })
  .chain((parts) => fc.constantFrom("", "/").map((start) => `${start}${parts.join("/")}`));

test("a deny list is stronger than every capability", () => {
  fc.assert(
    fc.property(context, name, path, (bound, tool, to) => {
      const denying = { ...bound, spec: { capabilities: bound.spec?.capabilities ?? [], deny_list: [tool] } };
      expect(told(tool, { path: to }, denying)).toBe("tool_denied");
    }),
  );
});

test("ceilings only narrow: with one more, nothing becomes allowed", () => {
  fc.assert(
    fc.property(context, context, name, path, (own, ceiling, tool, to) => {
      const both = ask(tool, { path: to }, own, ceiling);
      expect(both.allowed).toBe(ask(tool, { path: to }, own).allowed && ask(tool, { path: to }, ceiling).allowed);
    }),
  );
});

test("both prefixes of a name mean the same in calls, patterns and deny lists", () => {
  const other = (text: string) => (text.startsWith("svc.") ? `aegis.${text.slice(4)}` : text);
  fc.assert(
    fc.property(context, name, (bound, tool) => {
      const spelled = binding(
        (bound.spec?.capabilities ?? []).map((one) => ({ ...one, tool_pattern: other(one.tool_pattern) })),
        bound.spec?.deny_list.map(other),
      );
      expect(ask(other(tool), {}, spelled).allowed).toBe(ask(tool, {}, bound).allowed);
    }),
  );
});

test("a later capability changes nothing about a call that an earlier one lets pass", () => {
  fc.assert(
    fc.property(context, capability, name, path, (bound, later, tool, to) => {
      const before = ask(tool, { path: to }, bound);
      fc.pre(before.allowed);
      const longer = binding([...(bound.spec?.capabilities ?? []), later], bound.spec?.deny_list);
      expect(ask(tool, { path: to }, longer)).toEqual(before);
    }),
  );
});

test("no spelling of a path leaves the directory that is allowed", () => {
  const within = binding([{ tool_pattern: "fs.*", path_allowlist: ["/workspace/a"] }]);
  fc.assert(
    fc.property(path, (to) => {
      const { paths } = callFacts("fs.read", { path: to });
      const [resolved = ""] = paths;
      expect(resolved.split("/")).not.toContain("..");
      const isWithin = resolved === "/workspace/a" || resolved.startsWith("/workspace/a/");
      expect(ask("fs.read", { path: to }, within).allowed).toBe(isWithin);
    }),
  );
});

test("patterns read together cover what each covers alone, and tell the first", () => {
  const part = fc.constantFrom("svc", "aegis", "fs", "read", "a", "");
  const dotted = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
  const anyPattern = fc.oneof(
    dotted,
    dotted.map((text) => `${text}.*`),
    fc.constant("*"),
  );
  fc.assert(
    fc.property(fc.array(anyPattern, { maxLength: 6 }), dotted, (deny_list, tool) => {
      const refused = byName(tool, [binding([all], deny_list)]);
      expect(refused?.details.pattern).toBe(deny_list.find((one) => patternCovers(one, tool)));
    }),
  );
});

test("one component with stars is matched as a regular expression would", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "*"), { minLength: 1, maxLength: 6 }).map((one) => one.join(""));
  const name = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 8 }).map((one) => one.join(""));
  fc.assert(
    fc.property(letters, name, (entry, given) => {
      fc.pre(!/^\*+$/.test(entry));
      const expected = new RegExp(`^${entry.replaceAll("*", ".*")}$`).test(given);
      expect(pathAllowed([`/d/${entry}`], `/d/${given}`)).toBe(expected);
    }),
  );
});

test("the longest entries and paths are compared within a moment's work", () => {
  const entry = `/workspace/${"*a".repeat(2000)}*b`;
  const allowlist = Array.from({ length: 60 }, (_, at) => `${entry}${at}`);
  expect(pathAllowed(allowlist, `/workspace/${"a".repeat(4000)}`)).toBe(false);
  expect(pathAllowed(["/"], `/${"a/".repeat(3000)}`)).toBe(false);
});

test("names that only look alike are other names", () => {
  const denied = binding([all], ["fs.delete"]);
  for (const alike of ["fs.delеte", "FS.DELETE", "fs.delete ", "fs．delete"]) {
    // What no tool is called is refused where tools are looked up; no capability that names a tool covers it.
    expect(byName(alike, [binding([{ tool_pattern: "fs.delete" }])])?.code).toBe("tool_not_allowed");
    expect(byName(alike, [denied], false)?.code).toBe("tool_not_allowed");
  }
});
