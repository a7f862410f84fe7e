/** What the tests of models share: calls, configurations, and a timing that does not wait. */

import { type ModelCall, ModelError, type ModelReply, type Models } from "../../../src/adapters/models/call.ts";
import { type ModelsConfig, readModelsConfig } from "../../../src/adapters/models/config.ts";
import type { Timing } from "../../../src/adapters/models/retries.ts";

export function aCall(changes: Partial<ModelCall> = {}): ModelCall {
  return {
    alias: "default",
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    budgetMs: 60_000,
    signal: new AbortController().signal,
    agentName: "tester",
    iteration: 1,
    ...changes,
  };
}

/** A configuration that must be valid. */
export function configOf(document: unknown, files: Record<string, string> = {}): ModelsConfig {
  const result = readModelsConfig(document, {
    development: true,
    environment: (name) => (name === "TEST_KEY" ? "sk-test-1234567890" : undefined),
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`no file ${path}`);
      return text;
    },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.config;
}

/** A timing whose pauses pass at once; they are kept, and the clock jumps over them. */
export function quickTiming(): Timing & { readonly pauses: number[] } {
  const pauses: number[] = [];
  let skipped = 0;
  return {
    pauses,
    now: () => Date.now() + skipped,
    random: () => 0,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      pauses.push(ms);
      skipped += ms;
    },
  };
}

/** The reply, or the failure as a value. */
export async function outcome(models: Models, call: ModelCall): Promise<ModelReply | ModelError> {
  try {
    return await models.generate(call);
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}

export async function failureOf(models: Models, call: ModelCall): Promise<ModelError> {
  const result = await outcome(models, call);
  if (result instanceof ModelError) return result;
  throw new Error(`expected a failure, got ${JSON.stringify(result)}`);
}
