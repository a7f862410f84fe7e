/** Whether an image that is on the host may be used without asking its registry (docs/reference/sandboxes.md). */
import { expect, test } from "bun:test";
import { type ImageOnHost, type ImageUse, imageUse } from "../../../actors/policy/image-use.ts";

const openToAll: ImageOnHost = { isPrivate: false, isHolders: false };
const ones: ImageOnHost = { isPrivate: true, isHolders: true };
const anothers: ImageOnHost = { isPrivate: true, isHolders: false };

test("a private image is used by its holder, others ask the registry", () => {
  const table: ["Always" | "IfNotPresent" | "Never", ImageOnHost | null, ImageUse][] = [
    ["Always", null, "ask"],
    ["Always", openToAll, "ask"],
    ["Always", ones, "ask"],
    ["Always", anothers, "ask"],
    ["IfNotPresent", null, "ask"],
    ["IfNotPresent", openToAll, "use"],
    ["IfNotPresent", ones, "use"],
    ["IfNotPresent", anothers, "ask"],
    ["Never", null, "refuse"],
    ["Never", openToAll, "use"],
    ["Never", ones, "use"],
    ["Never", anothers, "refuse"],
  ];
  for (const [policy, onHost, use] of table)
    expect([policy, onHost, imageUse(policy, onHost)]).toEqual([policy, onHost, use]);
});
