import { expect, test } from "bun:test";
import { withoutFence } from "../../../actors/kernel/text.ts";

test.each([
  ["```json\n{}\n```", "{}"],
  ["  ```\n a \n```  \n", " a "],
  ["```\n```", ""],
  ["```\n\n```", ""],
  ["```js\na\n```\nb\n```", "a\n```\nb"],
  ["```\na", "```\na"],
  ["a\n```\nb\n```", "a\n```\nb\n```"],
  ["```a```", "```a```"],
  ["``` `x`\na\n```", "``` `x`\na\n```"],
  ["```", "```"],
  ["````\na\n````", "````\na\n````"],
  ["", ""],
  [" plain ", " plain "],
])("%j without its fence is %j", (text, expected) => {
  expect(withoutFence(text)).toBe(expected);
});
