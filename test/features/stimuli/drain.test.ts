import { expect, test } from "bun:test";
import { createDrain } from "../../../src/features/stimuli/intake/processing/drain.ts";

test("after a while a draining node refuses those who wait, and answers all others", async () => {
  const leaving = new AbortController();
  const answeredInTime = createDrain(20);
  const slow = Promise.withResolvers<string>();
  const quick = Promise.withResolvers<string>();
  const endless = answeredInTime(() => slow.promise, leaving.signal).catch((error: unknown) => error);
  const ending = answeredInTime(() => quick.promise, leaving.signal);
  expect(await answeredInTime(async () => "before", leaving.signal)).toBe("before");
  leaving.abort();
  quick.resolve("meanwhile");
  expect(await ending).toBe("meanwhile");
  expect(await endless).toMatchObject({ code: "stimulus_service_unavailable", status: 503 });
  slow.reject(new Error("nobody waits for it"));
  expect(await answeredInTime(async () => "after", leaving.signal)).toBe("after");
});
