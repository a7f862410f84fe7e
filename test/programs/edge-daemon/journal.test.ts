/** The journal: what is on disk counts, whatever happened to the rest (docs/reference/edge-daemon.md). */
import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Result } from "../../../actors/edge/frames.ts";
import { Journal } from "../../../src/programs/edge-daemon/journal/journal.ts";
import { Outbox } from "../../../src/programs/edge-daemon/link/outbox.ts";
import { prepare, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { scratch } from "../../harness/scratch.ts";

const top = scratch("edge-journal");
let made = 0;
function fresh() {
  const state = stateAt(join(top, String(made++)));
  prepare(state);
  return state;
}
let now = 1_000;
const open = (state: ReturnType<typeof fresh>, slack?: number) =>
  Journal.open(state, { now: () => now, ...(slack === undefined ? {} : { slack }) });

const idOf = (index: number): string => `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`;
const started = (index: number) => ({ id: idOf(index), started_at: "2031-01-01T00:00:00.000Z", pid: 7, born: "b" });
const result = (index: number, text = ""): Result => ({
  command_id: idOf(index),
  status: "ok",
  exit_code: 0,
  duration_ms: 1,
  started_at: null,
  stdout_tail: text,
  stderr_tail: "",
  stdout_bytes: 0,
  stderr_bytes: 0,
  truncated: false,
  structured: null,
  error_kind: null,
  error_message: null,
});

test("what was written is there after a restart, with the same id and number", async () => {
  const state = fresh();
  const journal = await open(state);
  expect(journal.seq).toBe(0);
  expect(await Promise.all([1, 2, 3].map((index) => journal.started(started(index))))).toEqual([true, true, true]);
  await Promise.all([1, 2].map((index) => journal.finished(result(index, `out ${index}`))));
  await journal.acknowledged(idOf(1));
  const { id, seq } = journal;
  expect(seq).toBe(5);
  await journal.close();
  for (const again of [await open(state), await open(state)]) {
    expect([again.id, again.seq]).toEqual([id, seq]);
    expect(again.unfinished().map((command) => command.id)).toEqual([idOf(3)]);
    expect(again.unacknowledged()).toEqual([idOf(2)]);
    expect(again.listed()).toEqual([
      { command_id: idOf(3), state: "running" },
      { command_id: idOf(2), state: "finished" },
    ]);
    expect((await again.resultOf(idOf(1)))?.stdout_tail).toBe("out 1");
    expect([again.stateOf(idOf(2)), again.stateOf(idOf(3)), again.stateOf(idOf(4))]).toEqual([
      "finished",
      "started",
      null,
    ]);
    await again.close();
  }
});

test("results are kept a day after their ack, and the file stays small", async () => {
  const state = fresh();
  now = 1_000;
  const journal = await open(state, 2_000);
  for (let index = 0; index < 40; index++) {
    await journal.finished(result(index, "x".repeat(200)));
    await journal.acknowledged(idOf(index));
    now += 86_400_000 / 10;
  }
  expect(await journal.resultOf(idOf(39))).not.toBeNull();
  expect(await journal.resultOf(idOf(31))).not.toBeNull();
  expect(await journal.resultOf(idOf(5))).toBeNull();
  expect(journal.seq).toBe(40);
  expect(readFileSync(state.journal).length).toBeLessThan(20_000);
  await journal.close();
  const again = await open(state);
  expect(again.seq).toBe(40);
  await again.close();
});

test("a write torn at any byte loses that write and nothing else", async () => {
  const state = fresh();
  const journal = await open(state);
  await journal.started(started(1));
  const sound = readFileSync(state.journal).length;
  await Promise.all([journal.started(started(2)), journal.started(started(3))]);
  await journal.close();
  const whole = readFileSync(state.journal);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: sound, max: whole.length - 1 }), fc.boolean(), async (length, zeros) => {
      writeFileSync(state.journal, whole);
      truncateSync(state.journal, length);
      if (zeros) appendFileSync(state.journal, Buffer.alloc(whole.length - length));
      const again = await open(state);
      expect(again.id).toBe(journal.id);
      expect(again.unfinished().map(({ id }) => id)).toEqual([idOf(1)]);
      expect(again.seq).toBe(1);
      expect(await again.started(started(4))).toBe(true);
      await again.close();
    }),
    { numRuns: 25 },
  );
});

test("a journal damaged elsewhere is put aside; the next has another id", async () => {
  const state = fresh();
  const journal = await open(state);
  for (const index of [1, 2, 3]) await journal.started(started(index));
  await journal.close();
  const bytes = readFileSync(state.journal);
  const at = bytes.indexOf(idOf(2));
  bytes[at] = 0x39;
  writeFileSync(state.journal, bytes);
  const again = await open(state);
  expect(again.id).not.toBe(journal.id);
  expect([again.seq, again.listed()]).toEqual([0, []]);
  expect(readdirSync(state.archive)).toHaveLength(1);
  await again.close();
});

test("a damaged journal that cannot be put aside is not gone on with", async () => {
  const state = fresh();
  const journal = await open(state);
  for (const index of [1, 2, 3]) await journal.started(started(index));
  await journal.close();
  const bytes = readFileSync(state.journal);
  bytes[bytes.indexOf(idOf(2))] = 0x39;
  writeFileSync(state.journal, bytes);
  rmSync(state.archive, { recursive: true });
  writeFileSync(state.archive, "");
  const again = await open(state);
  expect(again.id).not.toBe(journal.id);
  expect([again.failure, again.seq, again.listed()]).toEqual([null, 0, []]);
  await again.close();
});

test("an end that is not on disk is told to no one, and a refusal that is not may be", async () => {
  const state = fresh();
  const journal = await open(state);
  await journal.started(started(1));
  const finished = journal.finished(result(1));
  expect([journal.stateOf(idOf(1)), journal.unacknowledged(), await journal.resultOf(idOf(1))]).toEqual([
    "ending",
    [],
    null,
  ]);
  expect(journal.listed()).toEqual([{ command_id: idOf(1), state: "running" }]);
  await finished;
  expect(journal.unacknowledged()).toEqual([idOf(1)]);
  journal.remember(result(2));
  expect(journal.unacknowledged()).toEqual([idOf(1), idOf(2)]);
  await journal.close();
});

test("an outbox sends a result once, and waits for what is not acknowledged", async () => {
  const state = fresh();
  const journal = await open(state);
  await journal.finished(result(1, "one"));
  const sent: string[] = [];
  const outbox = new Outbox(journal, (t) => sent.push(t));
  await Promise.all([outbox.result(idOf(1)), outbox.result(idOf(1)), outbox.result(idOf(2))]);
  outbox.started(idOf(3), "2031-01-01T00:00:00.000Z");
  expect(sent).toEqual(["result", "started"]);
  expect(outbox.waitingMs(performance.now() + 31_000)).toBeGreaterThan(30_000);
  outbox.acknowledged(1);
  expect(journal.unacknowledged()).toEqual([]);
  expect(outbox.waitingMs(performance.now() + 31_000)).toBeGreaterThan(30_000);
  outbox.acknowledged(2);
  expect(outbox.waitingMs(performance.now() + 31_000)).toBe(0);
  // Asked for again, it goes out again.
  await outbox.result(idOf(1));
  expect(sent).toEqual(["result", "started", "result"]);
  // A connection that is gone keeps nothing waiting.
  const gone = new Outbox(journal, () => null);
  await gone.result(idOf(1));
  expect(gone.waitingMs(performance.now() + 31_000)).toBe(0);
  await journal.close();
});

test("a result that ended before its connection was welcomed goes out once it is", async () => {
  const journal = await open(fresh());
  await journal.finished(result(1, "one"));
  let isWelcomed = false;
  const sent: string[] = [];
  const outbox = new Outbox(journal, (t) => (isWelcomed ? sent.push(t) : null));
  await outbox.result(idOf(1));
  isWelcomed = true;
  await outbox.result(idOf(1));
  expect(sent).toEqual(["result"]);
  await journal.close();
});

test("a hello lists what runs before all that has ended, and of that the newest", async () => {
  const state = fresh();
  const journal = await open(state);
  await Promise.all(Array.from({ length: 300 }, (_, index) => journal.finished(result(index))));
  await journal.started(started(998));
  await journal.started(started(999));
  await journal.finished(result(998));
  // As ends do that wait for the disk.
  const waiting = Promise.all(Array.from({ length: 300 }, (_, index) => journal.finished(result(1_000 + index))));
  const meanwhile = journal.listed();
  expect([meanwhile.length, meanwhile[0]]).toEqual([256, { command_id: idOf(999), state: "running" }]);
  await waiting;
  const listed = journal.listed();
  expect(listed.map(({ command_id }) => command_id).slice(0, 2)).toEqual([idOf(999), idOf(1_299)]);
  await journal.acknowledged(idOf(1_299));
  for (let index = 1_000; index < 1_299; index++) await journal.acknowledged(idOf(index));
  expect(journal.listed().slice(0, 3)).toEqual([
    { command_id: idOf(999), state: "running" },
    { command_id: idOf(998), state: "finished" },
    { command_id: idOf(299), state: "finished" },
  ]);
  await journal.close();
});

test("so many ends wait for the service, whether on disk or not, and no more", async () => {
  const journal = await open(fresh());
  const all = Array.from({ length: 1_024 }, (_, index) => journal.finished(result(index)));
  expect(journal.isFull).toBe(true);
  await Promise.all(all);
  expect(journal.isFull).toBe(true);
  await journal.acknowledged(idOf(7));
  expect(journal.isFull).toBe(false);
  journal.remember(result(2_000));
  expect(journal.isFull).toBe(true);
  await journal.close();
});

test("an outbox is full when a service that acknowledges nothing asks again and again", async () => {
  const journal = await open(fresh());
  let sent = 0;
  const outbox = new Outbox(journal, () => ++sent);
  while (!outbox.isFull && sent < 10_000) outbox.started(idOf(1), "2031-01-01T00:00:00.000Z");
  expect(sent).toBe(4_096);
  outbox.acknowledged(1);
  expect(outbox.isFull).toBe(false);
  await journal.close();
});

/** Opens the journal as a daemon does that starts: what an earlier one left has an end. */
async function boot(state: ReturnType<typeof fresh>) {
  const journal = await open(state);
  for (const { id } of journal.unfinished()) await journal.settled({ ...result(0), command_id: id, status: "lost" });
  return journal;
}

test.each([
  ["once", 1],
  ["thrice before its hello came through", 3],
])("an older image, started %s, shows by its number", async (_, boots) => {
  const state = fresh();
  let journal = await open(state);
  await journal.started(started(1));
  await journal.started(started(2));
  const image = readFileSync(state.journal);
  await journal.finished(result(3));
  const [{ id }, lastHello] = [journal, journal.seq];
  await journal.close();
  writeFileSync(state.journal, image);
  for (let count = 0; count < boots; count++) {
    journal = await boot(state);
    expect([journal.id, journal.seq]).toEqual([id, 2]);
    expect(journal.seq).toBeLessThan(lastHello);
    expect(journal.listed().map((one) => one.state)).toEqual(["finished", "finished"]);
    await journal.close();
  }
});

test("a killed daemon has the same journal, a restored one that is behind another", async () => {
  const step = fc.constantFrom("start", "start", "end", "refuse", "hello", "acknowledge", "restart", "image");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.integer({ min: 1, max: 2 }), async (steps, boots) => {
      const state = fresh();
      let journal = await boot(state);
      // As the service counts.
      const known = { seq: 0, reported: 0 };
      const isSame = () => journal.seq >= known.seq + known.reported;
      let image = { bytes: readFileSync(state.journal), seq: 0 };
      for (const [index, what] of steps.entries()) {
        if (what === "start" && (await journal.started(started(index)))) known.reported += 1;
        if (what === "refuse") {
          await journal.finished(result(index));
          known.reported += 1;
        }
        const running = journal.unfinished()[0];
        if (what === "end" && running) await journal.finished({ ...result(0), command_id: running.id });
        for (const id of what === "acknowledge" ? journal.unacknowledged() : []) await journal.acknowledged(id);
        if (what === "restart") {
          await journal.close();
          journal = await boot(state);
        }
        expect(isSame()).toBe(true);
        if (what === "hello") Object.assign(known, { seq: journal.seq, reported: 0 });
        if (what === "image") image = { bytes: readFileSync(state.journal), seq: journal.seq };
      }
      await journal.close();
      writeFileSync(state.journal, image.bytes);
      for (let count = 0; count < boots; count++) {
        journal = await boot(state);
        await journal.close();
      }
      expect(isSame()).toBe(image.seq >= known.seq + known.reported);
    }),
    { numRuns: 40 },
  );
});
