/** Agents and workflows as tools: their schemas and arguments (docs/reference/mcp.md). */
import { describe, expect, test } from "bun:test";
import { clientName, readRunArguments, runSchema } from "../../../actors/tool/run-tools.ts";

const members = (schema: ReturnType<typeof runSchema>) => Object.keys(schema.properties as object);

describe("the schema of a tool that runs an agent or a workflow", () => {
  test("is the input's, with what a client may ask of the call", () => {
    const schema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
    expect(runSchema(schema)).toMatchObject({ type: "object", required: ["topic"] });
    expect(members(runSchema(schema))).toEqual(["topic", "wait_seconds", "cancel_on_disconnect"]);
    expect(members(runSchema({ properties: {} }))).toEqual(["wait_seconds", "cancel_on_disconnect"]);
  });

  test.each([[null], [{ type: "string" }], [{ type: ["object", "null"] }], [true], [{ anyOf: [] }], [{}]])(
    "%j, which is no object, is wrapped as input",
    (schema) => {
      const wrapped = runSchema(schema);
      expect(members(wrapped)).toEqual(["input", "wait_seconds", "cancel_on_disconnect"]);
      expect(wrapped.required).toEqual(["input"]);
      expect(readRunArguments(schema, { input: 5, wait_seconds: 1 })).toEqual({
        input: 5,
        waitSeconds: 1,
        cancelOnDisconnect: false,
      });
      expect(readRunArguments(schema, {})).toBe("input is missing");
    },
  );

  test("a wrapped schema's references mean its own parts", () => {
    const schema = { type: "array", items: { $ref: "#/$defs/one" }, $defs: { one: { type: "string" } } };
    expect(runSchema(schema).properties).toMatchObject({ input: { $id: "urn:svc:input", type: "array" } });
  });
});

describe("the arguments of such a tool", () => {
  test("members of the input stay, what is asked of the call is taken out", () => {
    const schema = { type: "object", properties: { wait_seconds: { type: "string" } } };
    const given = { wait_seconds: "long", cancel_on_disconnect: true, more: null };
    expect(readRunArguments(schema, given)).toEqual({
      input: { wait_seconds: "long", more: null },
      waitSeconds: 50,
      cancelOnDisconnect: true,
    });
  });

  test.each([
    [{ wait_seconds: 301 }],
    [{ wait_seconds: -1 }],
    [{ wait_seconds: 1.5 }],
    [{ wait_seconds: "1" }],
    [{ cancel_on_disconnect: 1 }],
  ])("%j is refused", (given) => {
    expect(readRunArguments({ type: "object" }, given)).toBeString();
  });
});

test("tools of the service have names that clients take", () => {
  expect(["svc.workflow.run", "aegis.workflow.wait", "svc.edge.fleet.invoke"].map(clientName)).toEqual([
    "svc_workflow_run",
    "svc_workflow_wait",
    "svc_edge_fleet_invoke",
  ]);
});
