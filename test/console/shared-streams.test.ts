/** Streams that the tabs of a browser share: each is opened with a token of the person who asked for it. */
import { afterAll, expect, test } from "bun:test";
import { type Answer, openShares, type Port, type Request } from "../../src/console/app/streams/shared-streams.ts";
import { until } from "../harness/until.ts";

/** Tells who opened it, and stays open. */
const service = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const person = request.headers.get("Authorization")?.replace("Bearer ", "") ?? null;
    opened.push(person);
    if (person === null)
      return Response.json({ error: { code: "unauthorized", message: "no token" } }, { status: 401 });
    const body = new ReadableStream<string>({
      start: (controller) => controller.enqueue(`event: change\nid: 1\ndata: {"of":"${person}"}\n\n`),
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  },
});
const opened: (string | null)[] = [];
afterAll(() => service.stop(true));

/** A tab with a person in it. @param lends false: it answers with the token of the person whom it was asked for */
function openTab(shares: ReturnType<typeof openShares>, person: string) {
  const heard: string[] = [];
  const asked: string[] = [];
  const tab = {
    person: person as string | null,
    heard,
    asked,
    send: (request: Request) => port.onmessage?.({ data: request } as MessageEvent<Request>),
    follow: (id: number, path = "/v1/events") =>
      tab.send({
        type: "open",
        id,
        url: service.url.origin,
        identity: tab.person ?? "",
        path,
        after: null,
        replays: true,
      }),
    lends: true,
  };
  const port: Port = {
    onmessage: null,
    postMessage(answer: Answer) {
      if (answer.type === "event") heard.push(`${answer.id} ${(answer.event.data as { of: string }).of}`);
      else if (answer.type === "end") heard.push(`${answer.id} ended ${answer.status}`);
      else if (answer.type === "token") {
        asked.push(answer.identity);
        if (!tab.lends) return;
        queueMicrotask(() => tab.send({ type: "token", ask: answer.ask, identity: tab.person, token: tab.person }));
      }
    },
  };
  shares.join(port);
  return tab;
}

test("one connection serves the tabs of one person, and another person has another", async () => {
  const shares = openShares();
  opened.length = 0;
  const [first, second, other] = [openTab(shares, "ann"), openTab(shares, "ann"), openTab(shares, "bob")];
  first.follow(1);
  second.follow(2);
  other.follow(3);
  await until(() => first.heard.length + second.heard.length + other.heard.length === 3);
  expect([first.heard, second.heard, other.heard]).toEqual([["1 ann"], ["2 ann"], ["3 bob"]]);
  expect(opened.toSorted()).toEqual(["ann", "bob"]);
  for (const tab of [first, second, other]) tab.send({ type: "leave" });
});

test("a tab of another person lends its token to no stream of the first", async () => {
  const shares = openShares();
  opened.length = 0;
  const [changed, second] = [openTab(shares, "ann"), openTab(shares, "ann")];
  changed.follow(1);
  await until(() => changed.heard.length === 1);
  // It does not even say that it leaves.
  changed.person = "bob";
  second.follow(2, "/v1/runs/r/stream");
  await until(() => second.heard.length === 1);
  expect(second.heard).toEqual(["2 ann"]);
  expect(opened).toEqual(["ann", "ann"]);
  // The worker knows it no more: the next stream asks the other tab at once.
  changed.asked.length = 0;
  second.follow(3, "/v1/runs/s/stream");
  await until(() => second.heard.length === 2);
  expect(changed.asked).toEqual([]);
  second.send({ type: "leave" });
});

test("after a change of person a tab hears the new one's changes, and no old ones", async () => {
  const shares = openShares();
  opened.length = 0;
  const [tab, stays] = [openTab(shares, "ann"), openTab(shares, "ann")];
  tab.follow(1);
  stays.follow(2);
  await until(() => tab.heard.length + stays.heard.length === 2);
  tab.person = "bob";
  tab.follow(3);
  await until(() => tab.heard.length === 2);
  expect(tab.heard).toEqual(["1 ann", "3 bob"]);
  // What the other tab follows goes on, without the one that left.
  const late = openTab(shares, "ann");
  late.follow(4);
  await until(() => late.heard.length === 1);
  expect(opened).toEqual(["ann", "bob"]);
  expect(tab.heard).toHaveLength(2);
  for (const each of [tab, stays, late]) each.send({ type: "leave" });
});

test("a tab that leaves while it is asked is not waited for", async () => {
  const shares = openShares();
  opened.length = 0;
  const [silent, second] = [openTab(shares, "ann"), openTab(shares, "ann")];
  silent.lends = false;
  silent.follow(1);
  await until(() => silent.asked.length === 1);
  second.follow(2);
  silent.send({ type: "leave" });
  await until(() => second.heard.length === 1);
  expect(second.heard).toEqual(["2 ann"]);
  expect(opened).toEqual(["ann"]);
  second.send({ type: "leave" });
});
