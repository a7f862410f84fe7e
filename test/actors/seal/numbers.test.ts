/** What tools get of the numbers received, and which payloads are requests (docs/reference/seal.md). */
import { expect, test } from "bun:test";
import { attestationError, invocationError } from "../../../actors/seal/errors.ts";
import { type Members, readJsonText } from "../../../actors/seal/json-text.ts";
import { NotRepresentable, objectOf } from "../../../actors/seal/numbers.ts";
import { idText, readRpc } from "../../../actors/seal/rpc.ts";

const members = (text: string): Members => {
  const node = readJsonText(new TextEncoder().encode(text), 64);
  if (!(node instanceof Map)) throw new Error("no object");
  return node;
};

test.each([
  ["1.0", 1],
  ["-0.0", -0],
  ["1e16", 1e16],
  ["0.1", 0.1],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992],
  ["1e-400", 0],
  ["1234567890.125", 1234567890.125],
])("the number %s reaches a tool as %p", (text, value) => {
  expect(objectOf(members(`{"n":${text}}`), "arguments")).toEqual({ n: value });
});

test.each(["9007199254740993", "-9007199254740993", "1e400", "123456789012345678901", "1e999999999999"])(
  "the number %s cannot be passed on",
  (text) => {
    expect(() => objectOf(members(`{"a":[{"n":${text}}]}`), "arguments")).toThrow(
      new NotRepresentable("arguments.a.0.n"),
    );
  },
);

test("a number of a million characters is answered at once", () => {
  const long = `0.${"0".repeat(500_000)}1${"0".repeat(500_000)}`;
  expect(objectOf(members(`{"n":${long}}`), "arguments")).toEqual({ n: 0 });
});

test("a name like __proto__ is a member as any other", () => {
  const value = objectOf(members('{"__proto__":{"a":1}}'), "arguments");
  expect(Object.keys(value)).toEqual(["__proto__"]);
});

test.each([
  ["tools/call", '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fs.read"}}', "fs.read"],
  ["a tool as method", '{"jsonrpc":"2.0","id":"a","method":"fs.read","params":{"path":"n"}}', "fs.read"],
])("a request: %s", (_what, text, tool) => {
  expect(readRpc(members(text))).toMatchObject({ method: "tools/call", tool });
});

test("the id of a request comes back character by character", () => {
  const request = readRpc(members('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'));
  expect(request.id === null ? null : idText(request.id)).toBe("9007199254740993");
});

test.each([
  ["another version", '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
  ["a notification", '{"jsonrpc":"2.0","method":"ping"}'],
  ["an id of null", '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
  ["an id with a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'],
  ["no method", '{"jsonrpc":"2.0","id":1}'],
  ["params in a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'],
  ["a call without a name", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}'],
  ["arguments of null", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null}}'],
])("no request: %s", (_what, text) => {
  expect(readRpc(members(text))).toHaveProperty("fault");
});

test("refusals have the numbers of their table, also those of other steps", () => {
  expect(invocationError("replay_detected", 401).number).toBe(1007);
  expect(invocationError("method_not_allowed", 405)).toEqual({
    number: 1000,
    name: "MALFORMED_ENVELOPE",
    code: "method_not_allowed",
  });
  expect(invocationError("mailbox_full", 503).number).toBe(-32010);
  expect(invocationError("too_many_checks", 429)).toMatchObject({ number: 2005, code: "rate_limited" });
  expect(invocationError("internal_error", 500).number).toBe(-32603);
  expect(attestationError("workload_not_verified").number).toBe(3000);
  expect(attestationError("security_context_forbidden").number).toBe(3001);
  expect(attestationError("not_found").number).toBe(3002);
});
