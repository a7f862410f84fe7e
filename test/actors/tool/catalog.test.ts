import { expect, test } from "bun:test";
import { builtinTools, findTool, patternCovers, selectTools } from "../../../actors/tool/catalog.ts";

test.each<[string, string, boolean]>([
  ["*", "cmd.run", true],
  ["fs.*", "fs.read", true],
  ["fs.*", "fsx.read", false],
  ["fs.*", "fs", false],
  ["fs.read", "fs.read", true],
  ["fs.read", "fs.read2", false],
  ["aegis.agent.*", "svc.agent.list", true],
  ["svc.workflow.wait", "aegis.workflow.wait", true],
  ["svc.*", "fs.read", false],
])("%p covers %p: %p", (pattern, name, covers) => {
  expect(patternCovers(pattern, name)).toBe(covers);
});

test("selecting keeps the catalogue's order and names what matches nothing", () => {
  const { tools, unmatched } = selectTools(["fs.r*", "fs.list", "cmd.*", "tickets.search"]);
  expect(tools.map(({ name }) => name)).toEqual(["cmd.run", "fs.list"]);
  expect(unmatched).toEqual(["fs.r*", "tickets.search"]);
  expect(selectTools([]).tools).toEqual([]);
});

test("both spellings find the same tool", () => {
  const tools = [{ name: "aegis.workflow.wait", runs: "service" as const, read_only: true }];
  expect(findTool(tools, "svc.workflow.wait")?.name).toBe("aegis.workflow.wait");
  expect(findTool([...builtinTools], "fs_read")).toBeUndefined();
});
