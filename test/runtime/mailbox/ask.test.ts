/** ask and tell (G1, G5): across nodes, deadlines, deferred replies, tenants, order. */
import { expect, test } from "bun:test";
import { AskTimeout, MessageRejected, RuntimeUnavailable } from "../../../src/runtime/index.ts";
import { Calls } from "../../../src/runtime/mailbox/calls.ts";
import { until } from "../../harness/until.ts";
import { at, Harness, manyKeys, stateOf } from "../harness.ts";

const harness = new Harness();

test("ask reaches every actor from either node", async () => {
  const nodes = await harness.pair();
  for (const { runtime } of nodes) await Promise.all(manyKeys.map((key) => runtime.ask(at(key), "add", {})));
  const replies = await Promise.all(manyKeys.map((key) => nodes[0].runtime.ask(at(key), "add", {})));
  expect(replies).toEqual(manyKeys.map(() => 3));
});

test("messages of one sender to one actor keep their order", async () => {
  const [{ runtime }] = await harness.pair();
  const labels = Array.from({ length: 300 }, (_, index) => String(index));
  await Promise.all(
    labels.flatMap((label) => manyKeys.slice(0, 4).map((key) => runtime.tell(at(key), "add", { label }))),
  );
  for (const key of manyKeys.slice(0, 4)) {
    expect((await runtime.ask(at(key), "get", {})) as object).toMatchObject({ seen: labels });
  }
});

test("no answer in time is a typed timeout, and the late reply is dropped", async () => {
  const [{ runtime }, other] = await harness.pair();
  for (const key of manyKeys.slice(0, 4)) {
    await expect(runtime.ask(at(key), "hold", {}, { deadlineMs: 50 })).rejects.toBeInstanceOf(AskTimeout);
    expect(await other.runtime.ask(at(key), "release", {})).toBe(1);
  }
  expect(await runtime.ask(at("key-0"), "add", {})).toBe(1);
});

test("a call ends when its caller leaves, and its answer is dropped", async () => {
  const [{ runtime }] = await harness.pair();
  for (const key of manyKeys.slice(0, 4)) {
    const leaving = new AbortController();
    const asked = runtime.ask(at(key), "hold", {}, { signal: leaving.signal, repeatable: true });
    leaving.abort(new Error("left"));
    await expect(asked).rejects.toThrow("left");
    await expect(runtime.ask(at(key), "hold", {}, { signal: leaving.signal })).rejects.toThrow("left");
  }
  expect(await runtime.ask(at("key-0"), "add", {})).toBe(1);
});

test("calls that may come twice are sent again once a store is back", async () => {
  const calls = new Calls("node");
  const sent: string[] = [];
  const open = (name: string, way: { repeatable?: boolean; acknowledged?: boolean } = {}) => {
    const again = () => void sent.push(name);
    const opened = calls.open(60_000, 0, { byMailbox: true, repeatable: true, acknowledged: false, again, ...way });
    opened.answer.catch(() => {});
    return opened;
  };
  open("repeatable");
  open("once", { repeatable: false });
  open("told", { acknowledged: true });
  calls.settle(open("answered").replyTo.call, { value: 1 });
  calls.storeBack();
  expect(sent).toEqual(["repeatable"]);
  expect(calls.size).toBe(3);
  calls.close();
});

test("calls end at their deadlines, whichever was opened first", async () => {
  const calls = new Calls("node");
  const ended: number[] = [];
  const open = (deadlineMs: number) => {
    const { replyTo, answer } = calls.open(deadlineMs, 0, {
      byMailbox: true,
      repeatable: false,
      acknowledged: false,
      again: null,
    });
    return { call: replyTo.call, ended: answer.catch(() => ended.push(deadlineMs)) };
  };
  const all = [120, 30, 90, 60, 30_000, 40].map(open);
  calls.settle(all[5]?.call ?? "", { value: 1 });
  await Promise.all(all.slice(0, 4).map((one) => one.ended));
  expect(ended.toSorted((one, other) => one - other)).toEqual([30, 60, 90, 120]);
  calls.close();
  await all[4]?.ended;
  expect(ended.at(-1)).toBe(30_000);
});

test("a deferred reply finds its caller, on the actor's node and on the other", async () => {
  const nodes = await harness.pair();
  for (const key of manyKeys.slice(0, 4)) {
    const held = nodes.map(({ runtime }) => runtime.ask(at(key), "hold", {}));
    await until(
      async () => ((await nodes[0].runtime.read(at(key)))?.state as { waiting?: unknown[] })?.waiting?.length === 2,
    );
    expect(await nodes[1].runtime.ask(at(key), "release", {})).toBe(2);
    expect(await Promise.all(held)).toEqual(["released", "released"]);
  }
});

test("the actor of another tenant is unknown, and nothing happens to it", async () => {
  const [{ runtime }] = await harness.pair();
  for (const key of manyKeys.slice(0, 4)) {
    await runtime.ask(at(key), "add", { label: "ours" });
    await expect(runtime.ask(at(key, "umbrella"), "get", {})).rejects.toThrow("no such actor");
    await runtime.tell(at(key, "umbrella"), "add", { label: "theirs" });
    expect(await runtime.read(at(key, "umbrella"))).toBeNull();
    expect(await runtime.readMany("counter", "umbrella", [key])).toEqual([]);
    expect(await runtime.ask(at(key), "get", {})).toMatchObject({ seen: ["ours"] });
  }
  expect(await runtime.deadLetters.list({})).toEqual([]);
});

test("names that cannot be stored are refused at the door", async () => {
  const { runtime } = await harness.node();
  for (const address of [at("a\0b"), at("a", "t\0"), { ...at("a"), kind: "\0" }, at("\ud800")]) {
    await expect(runtime.ask(address, "get", {})).rejects.toBeInstanceOf(MessageRejected);
    await expect(runtime.tell(address, "get", {})).rejects.toBeInstanceOf(MessageRejected);
  }
  await expect(runtime.tell(at("a"), "g\0t", {})).rejects.toBeInstanceOf(MessageRejected);
});

test("tells from actor to actor arrive exactly once", async () => {
  const [{ runtime }, other] = await harness.pair();
  const labels = Array.from({ length: 40 }, (_, index) => `l${index}`);
  await Promise.all(
    labels.map((label, index) =>
      (index % 2 === 0 ? runtime : other.runtime).tell(at(`hub-${index % 3}`), "spread", { to: [...manyKeys], label }),
    ),
  );
  for (const key of manyKeys) {
    await until(async () => ((await stateOf(runtime, key))?.seen.length ?? 0) >= labels.length, { what: "all labels" });
    expect([...((await stateOf(runtime, key))?.seen ?? [])].sort()).toEqual([...labels].sort());
  }
});

test("a draining node takes nothing any more", async () => {
  const node = await harness.node();
  const held = node.runtime.ask(at("a"), "hold", {});
  held.catch(() => {});
  await until(async () => (await node.runtime.read(at("a"))) !== null);
  await harness.stop(node);
  await expect(held).rejects.toBeInstanceOf(RuntimeUnavailable);
  await expect(node.runtime.ask(at("a"), "get", {})).rejects.toBeInstanceOf(RuntimeUnavailable);
  await expect(node.runtime.tell(at("a"), "get", {})).rejects.toBeInstanceOf(RuntimeUnavailable);
});
