import { expect, test } from "bun:test";
import type { MountPlan } from "../../../actors/execution/start/plan.ts";
import { mountsOf } from "../../../actors/workflow/run/blackboard/mounts.ts";

const volume = (name: string, mount_path = ""): MountPlan => ({
  name,
  volume_id: `id-of-${name}`,
  mount_path,
  storage_class: "ephemeral",
  access_mode: "read-write",
  size_limit_bytes: 1,
  ttl_ms: 1,
});
const workspace = volume("workspace", "/workspace");
const data = volume("data");
const mount = (name: string, mount_path: string, read_only = false) => ({ name, mount_path, read_only });
const shown = (volumes: MountPlan[], wanted: ReturnType<typeof mount>[]) =>
  mountsOf(volumes, wanted).map(({ name, mount_path, access_mode }) => [name, mount_path, access_mode]);

test.each([
  ["the workspace is always there", [workspace, data], [], [["workspace", "/workspace", "read-write"]]],
  ["a run may have none", [data], [], []],
  [
    "a shared volume goes where the state wants it",
    [workspace, data],
    [mount("data", "/workspace/d", true)],
    [
      ["workspace", "/workspace", "read-write"],
      ["data", "/workspace/d", "read-only"],
    ],
  ],
  [
    "another one may take the place of the workspace",
    [workspace, data],
    [mount("data", "/workspace")],
    [["data", "/workspace", "read-write"]],
  ],
  [
    "the workspace may be mounted once more, and read-only",
    [workspace],
    [mount("workspace", "/workspace", true), mount("workspace", "/workspace/again")],
    [
      ["workspace", "/workspace", "read-only"],
      ["workspace", "/workspace/again", "read-write"],
    ],
  ],
  [
    "a name that is no volume mounts nothing",
    [workspace],
    [mount("nobody", "/x")],
    [["workspace", "/workspace", "read-write"]],
  ],
] as const)("%s", (_, volumes, wanted, expected) => {
  expect(shown([...volumes], [...wanted])).toEqual(expected.map((row) => [...row]));
});

test("a volume that may only be read stays so, wherever it is mounted", () => {
  const fixed = { ...workspace, access_mode: "read-only" as const };
  expect(shown([fixed], [mount("workspace", "/workspace/again")])).toEqual([
    ["workspace", "/workspace", "read-only"],
    ["workspace", "/workspace/again", "read-only"],
  ]);
});
