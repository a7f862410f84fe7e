/** Templates, context, output handlers and deliveries (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { manifestWith, reading, specOf } from "./offer.ts";

const faults = (path: string, rows: readonly (readonly [value: Json, below: string, code?: string])[]) =>
  test.each(rows)(`${path} = %j`, (value, below, code = "invalid") => {
    const where = below === "" ? path : `${path}.${below}`;
    expect(reading(manifestWith(path, value)).issues).toContainEqual([where, code]);
  });

describe("templates", () => {
  test("are kept as written", () => {
    const task = { instruction: "Go", prompt_template: "{{#each agentskills}}{{this}}{{/each}}", agentskills: ["a"] };
    expect(specOf(manifestWith("spec.task", task)).task).toEqual({ ...task, input_data: null });
  });
  faults("spec.task.prompt_template", [
    ["{{#if x}}", "", "invalid_template"],
    ["{{nohelper 1}}", "", "invalid_template"],
    ["{{> partial}}", "", "invalid_template"],
    ["{{#if a}}".repeat(40) + "{{/if}}".repeat(40), "", "invalid_template"],
    ["x".repeat(100_001), ""],
    [7, ""],
  ]);
});

describe("context", () => {
  test("every type", () => {
    const items = [
      { type: "text", content: "hello", description: "greeting" },
      { type: "file", path: "notes/./a.md" },
      { type: "directory", path: "/workspace/docs/" },
      { type: "url", url: "https://Docs.example/a b" },
    ];
    expect(specOf(manifestWith("spec.context", items)).context).toEqual([
      { type: "text", content: "hello", description: "greeting" },
      { type: "file", path: "/workspace/notes/a.md", description: null },
      { type: "directory", path: "/workspace/docs", description: null },
      { type: "url", url: "https://docs.example/a%20b", description: null },
    ]);
  });
  faults("spec.context", [
    ["x", ""],
    [["x"], "0"],
    [[{}], "0.type"],
    [[{ type: "video" }], "0.type"],
    [[{ type: "text" }], "0.content"],
    [[{ type: "text", content: "€".repeat(22_000) }], "0.content"],
    [[{ type: "file" }], "0.path"],
    [[{ type: "file", path: "../secret" }], "0.path"],
    [[{ type: "file", path: "/workspace/../etc/passwd" }], "0.path"],
    [[{ type: "directory", path: "x".repeat(4097) }], "0.path"],
    [[{ type: "url" }], "0.url"],
    [[{ type: "url", url: "file:///etc/passwd" }], "0.url"],
    [[{ type: "url", url: "https://user@x.example" }], "0.url"],
    [[{ type: "url", url: "https://:pass@x.example" }], "0.url"],
    [[{ type: "url", url: "not an address" }], "0.url"],
    [Array(65).fill({ type: "text", content: "" }), ""],
  ]);
});

describe("output handlers", () => {
  const handler = (value: Json) => specOf(manifestWith("spec.output_handler", value)).output_handler;
  test("an agent", () => {
    expect(handler({ type: "agent", agent_id: "polisher" })).toEqual({
      type: "agent",
      agent: "polisher",
      input_template: "{{output}}",
      timeout_ms: 300_000,
      required: false,
    });
    const id = "0190F3C2-6D1E-7A55-9C1F-2F6D0C5B8E11";
    expect(handler({ type: "agent", agent_id: id, required: true })).toMatchObject({
      agent: id.toLowerCase(),
      required: true,
    });
  });
  test("a webhook", () => {
    expect(handler({ type: "webhook", url: "https://x.example/in" })).toEqual({
      type: "webhook",
      url: "https://x.example/in",
      method: "POST",
      headers: {},
      body_template: null,
      timeout_ms: 30_000,
      max_attempts: 3,
      required: false,
    });
    const written = { method: "PUT", headers: { "X-Key": "v" }, body_template: "{{output}}", timeout_seconds: 5 };
    expect(handler({ type: "webhook", url: "http://x.example", ...written, retry: { max_attempts: 1 } })).toMatchObject(
      { method: "PUT", headers: { "X-Key": "v" }, timeout_ms: 5000, max_attempts: 1 },
    );
  });
  test("none", () => {
    expect(handler(null)).toBeNull();
  });
  const webhook = { type: "webhook", url: "https://x.example" };
  faults("spec.output_handler", [
    ["agent", ""],
    [{}, "type"],
    [{ type: "pigeon" }, "type"],
    [{ type: "container", image: "a/b" }, "type", "unsupported_output_handler"],
    [{ type: "mcp_tool" }, "type", "unsupported_output_handler"],
    [{ type: "agent" }, "agent_id"],
    [{ type: "agent", agent_id: "Not A Name" }, "agent_id"],
    [{ type: "agent", agent_id: "a", input_template: "{{#if" }, "input_template", "invalid_template"],
    [{ type: "agent", agent_id: "a", timeout_seconds: 3601 }, "timeout_seconds"],
    [{ type: "agent", agent_id: "a", required: "yes" }, "required"],
    [{ type: "webhook" }, "url"],
    [{ ...webhook, url: "ftp://x.example" }, "url"],
    [{ ...webhook, method: "GET" }, "method"],
    [{ ...webhook, headers: { "a b": "x" } }, "headers.a b"],
    [{ ...webhook, headers: { a: "x\r\nEvil: 1" } }, "headers.a"],
    [{ ...webhook, headers: { Host: "x" } }, "headers.Host"],
    [{ ...webhook, headers: { "content-length": "1" } }, "headers.content-length"],
    [{ ...webhook, headers: { "X-Svc-Signature": "forged" } }, "headers.X-Svc-Signature"],
    [{ ...webhook, body_template: "{{/x}}" }, "body_template", "invalid_template"],
    [{ ...webhook, retry: { max_attempts: 0 } }, "retry.max_attempts"],
    [{ ...webhook, retry: 3 }, "retry"],
  ]);
});

describe("deliveries", () => {
  const deliveries = (destinations: Json) =>
    specOf(manifestWith("spec.execution.delivery", { destinations })).execution.deliveries;
  test("defaults, and what is written", () => {
    expect(
      deliveries([
        { type: "webhook", url: "https://x.example" },
        { name: "all", type: "rest", url: "https://y.example/v1", method: "PATCH", condition: "always", secret: "s" },
      ]),
    ).toEqual([
      {
        name: "webhook-1",
        condition: "on_success",
        url: "https://x.example/",
        method: "POST",
        headers: {},
        secret: null,
      },
      {
        name: "all",
        condition: "always",
        url: "https://y.example/v1",
        method: "PATCH",
        headers: {},
        secret: "s",
      },
    ]);
  });
  faults("spec.execution.delivery", [
    [[], ""],
    [{ destinations: {} }, "destinations"],
    [{ destinations: ["x"] }, "destinations.0"],
    [{ destinations: [{}] }, "destinations.0.type"],
    [{ destinations: [{ type: "fax" }] }, "destinations.0.type"],
    ...["email", "sms", "transform"].map(
      (type) => [{ destinations: [{ type }] }, "destinations.0.type", "unsupported_destination"] as const,
    ),
    [{ destinations: [{ type: "rest" }] }, "destinations.0.url"],
    [{ destinations: [{ type: "rest", url: "https://x.example", condition: "maybe" }] }, "destinations.0.condition"],
    [{ destinations: [{ type: "rest", url: "https://x.example", secret: "" }] }, "destinations.0.secret"],
    [{ destinations: Array(17).fill({ type: "rest", url: "https://x.example" }) }, "destinations"],
  ]);
});
