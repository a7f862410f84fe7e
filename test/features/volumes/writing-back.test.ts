/** A node that is killed while it writes back what an execution left in a volume of an object store. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { say, shell } from "../../harness/manifests.ts";
import { type Asked, type S3Store, startS3 } from "../../harness/outside/s3.ts";
import { until } from "../../harness/until.ts";
import { VolumeFixture } from "./fixture.ts";

let s3: S3Store;
let at: VolumeFixture;
beforeAll(async () => {
  s3 = await startS3();
  at = await VolumeFixture.open(s3.environment);
});
afterAll(async () => {
  await at.close();
  await s3.stop();
});

test("kill -9 amid a write-back: the next node writes back, once", async () => {
  const { node, stores } = at.executions;
  const who = { Authorization: `Bearer ${await node.token()}` };
  const id = await at.made(who);
  await at.put(who, id, "old", "?path=/changed");
  const isSent = ({ method, path }: Asked) => method === "PUT" && path.includes(id);
  s3.asked.length = 0;
  // Of the two files that go one arrives; the other one's answer never comes.
  s3.failing((asked) => (isSent(asked) && s3.asked.filter(isSent).length > 1 ? "hang" : null));
  const running = at.executions.run({
    spec: {
      volumes: [{ name: "data", mount_path: "/workspace/data", access_mode: "read-write", source: { volume_id: id } }],
    },
    script: [shell("cd data; printf x >> runs; printf new > changed"), say("done")],
  });
  running.catch(() => {});
  await until(() => s3.asked.filter(isSent).length > 1, { what: "the write-back" });
  await node.kill();
  s3.failing(null);
  const [left] = await stores.sql`select count(*)::int as count from volume_stagings where volume_id = ${id}`;
  expect(left).toEqual({ count: 1 });
  // As if the time had passed after which a process is taken for dead.
  await stores.sql`update volume_copies set busy_until = now()`;
  await node.restart();
  expect(await (await at.get(who, `/${id}/files/download?path=changed`)).text()).toBe("old");
  const textOf = async (path: string) => (await at.get(who, `/${id}/files/download?path=${path}`)).text();
  await until(async () => (await textOf("changed")) === "new", { timeoutMs: 30_000, what: "the rest" });
  expect(await textOf("runs")).toBe("x");
  expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: 4, file_count: 2 });
  expect((await stores.sql`select from volume_stagings where volume_id = ${id}`).count).toBe(0);
}, 60_000);
