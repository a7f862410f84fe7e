/** A node that is killed while it changes volumes leaves nothing half done, and no wrong figures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { until } from "../../harness/until.ts";
import { VolumeFixture } from "./fixture.ts";

let at: VolumeFixture;
beforeAll(async () => {
  at = await VolumeFixture.open();
});
afterAll(() => at.close());

/** What lies on the disk: each file by its path. */
function filesOn(id: string, path = ""): string[] {
  return readdirSync(at.hostOf(id, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesOn(id, `${path}/${entry.name}`) : [`${path}/${entry.name}`],
  );
}

test("kill -9 amid uploads, moves and deletions: nothing half, the figures right", async () => {
  const { node, stores } = at.executions;
  const who = await at.newUser("business");
  const id = await at.made(who);
  const textOf = (n: number) => `${n} `.repeat(20_000 + n);
  /** Where a file is for sure; null: its last change has no answer yet, so it may be before or after it. */
  const sure = new Map<number, string | null>();
  let next = 0;

  async function work(): Promise<void> {
    for (;;) {
      const n = next++;
      const steps: (readonly [path: string, act: () => Promise<{ readonly status: number }>])[] = [
        [`/up/${n}/file`, () => at.put(who, id, textOf(n), `?path=/up/${n}/file`)],
        [`/moved/${n}/file`, () => at.call(who, "POST", `/${id}/files/move`, { from: `/up/${n}`, to: `/moved/${n}` })],
        ["gone", () => at.call(who, "DELETE", `/${id}/files?path=/moved/${n}`)],
      ];
      for (const [path, act] of steps.slice(0, 1 + (n % 3))) {
        sure.set(n, null);
        const { status } = await act();
        if (status !== 200) throw new Error(String(status));
        sure.set(n, path);
      }
    }
  }

  async function allListed(path: string): Promise<string[]> {
    const { items } = (await at.call(who, "GET", `/${id}/files?path=${path}`)).body as {
      items: { path: string; is_dir: boolean }[];
    };
    return (await Promise.all(items.map((entry) => (entry.is_dir ? allListed(entry.path) : [entry.path])))).flat();
  }

  for (let round = 1; round <= 2; round++) {
    const enough = next + 24 * round;
    const slow = new ReadableStream({
      pull: async (controller) => {
        controller.enqueue(new Uint8Array(100_000));
        await until(() => next >= enough);
      },
    });
    const cut = [...Array.from({ length: 6 }, work), at.put(who, id, slow, "?path=/slow")].map((one) =>
      one.catch(() => {}),
    );
    await until(() => next >= enough);
    await node.kill();
    await Promise.all(cut);
    await node.restart();
    // As if the time had passed that no change takes.
    await stores.sql`update volume_changes set created_at = created_at - interval '1 minute'`;
    await until(async () => {
      const [row] = await stores.sql<{ settled: boolean }[]>`
        select indexed and not exists (select from volume_changes) as settled from volumes where volume_id = ${id}`;
      return row?.settled;
    });

    const there = filesOn(id).sort();
    for (const path of there) {
      const n = Number(/^\/(?:up|moved)\/(\d+)\/file$/.exec(path)?.[1]);
      expect([path, readFileSync(at.hostOf(id, path), "utf8") === textOf(n)]).toEqual([path, true]);
    }
    for (const [n, path] of sure) {
      const held = there.filter((one) => one.endsWith(`/${n}/file`));
      if (path !== null) expect([n, ...held]).toEqual(path === "gone" ? [n] : [n, path]);
      expect(held.length).toBeLessThanOrEqual(1);
    }
    expect((await allListed("/")).sort()).toEqual(there);
    const bytes = there.reduce((sum, path) => sum + readFileSync(at.hostOf(id, path)).length, 0);
    expect((await at.call(who, "GET", `/${id}`)).body).toMatchObject({ used_bytes: bytes, file_count: there.length });
  }
}, 60_000);
