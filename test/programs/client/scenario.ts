/** What the client does against the bad service: run on Bun, and in a browser, where it must come to the same. */
import { answer, createClient } from "../../../src/programs/client/client.ts";
import { ApiError, Unreachable } from "../../../src/programs/client/errors.ts";
import { type FollowOptions, follow } from "../../../src/programs/client/events.ts";
import { items } from "../../../src/programs/client/pages.ts";
import { upload } from "../../../src/programs/client/upload.ts";

const failure = (error: unknown) => {
  if (error instanceof ApiError) {
    const { status, code, message, issues, requestId, retryAfter } = error;
    return {
      status,
      code,
      message,
      issues,
      requestId,
      waits: retryAfter !== null && retryAfter > 60 && retryAfter < 120,
    };
  }
  return error instanceof Unreachable ? "unreachable" : String(error);
};

async function scenario(url: string) {
  let token = "old";
  const client = createClient({
    url,
    // As a session does: the old one until it is refused.
    token: async (refused) => {
      if (refused === token) token = "new";
      return token;
    },
  });
  const never = new AbortController();
  const states: string[] = [];
  const read = async (path: string, options: Partial<FollowOptions> = {}) => {
    const seen: unknown[] = [];
    const signal = never.signal;
    for await (const { id, event, data } of follow(client, path, { signal, ...options })) {
      seen.push([id, event, data]);
      if (path === "/broken") await client.send(`/seen/${id}`);
    }
    return seen;
  };
  const refusals: Record<string, unknown> = {};
  for (const path of ["/refused", "/proxy", "/signed", "/later"])
    refusals[path] = await client.send(path).catch(failure);

  const broken = await read("/broken", { connection: (state) => states.push(state) });
  const silent = await read("/silent", { silenceMs: 300 });
  const ended = await read("/ended");
  const refused = await read("/refused").catch(failure);

  // Left early, by the reader and by the signal: both close the connection.
  const first: unknown[] = [];
  for await (const { data } of follow(client, "/open", { signal: never.signal })) {
    first.push(data);
    break;
  }
  const leaving = new AbortController();
  const aborted: unknown[] = [];
  for await (const { data } of follow(client, "/open", { signal: leaving.signal })) {
    aborted.push(data);
    if (aborted.length === 2) leaving.abort();
  }
  const last = await read("/open", { isLast: ({ data }) => data === "second" });

  token = "old";
  const renewed = await answer(client.GET("/v1/models"));
  token = "old";
  const progress: number[] = [];
  const file = new File(["x".repeat(70_000)], "räport.txt");
  const uploaded = await upload(client, "/v1/volumes/v/files/upload?path=/r.txt", file, {
    onProgress: (sent) => progress.push(sent),
  });
  const names: string[] = [];
  for await (const { id } of items((cursor) => answer(client.GET("/v1/agents", { params: { query: { cursor } } })), 5))
    names.push(id);
  const impatient = createClient({ url, token: async () => null, timeoutMs: 50 });
  return {
    refusals,
    streams: { broken, silent, ended, refused, first, aborted, last },
    states: states.filter((state, index) => state !== states[index - 1]),
    calls: { renewed, names, hung: await impatient.send("/hangs").catch(failure) },
    upload: {
      size: uploaded.size,
      ordered: progress.every((sent, at) => sent >= (progress[at - 1] ?? 0) || sent < 70_000),
      sent: progress.at(-1),
    },
  };
}

Object.assign(globalThis, { scenario });
export type Scenario = typeof scenario;
