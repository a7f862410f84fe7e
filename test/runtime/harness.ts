/** Fresh stores and in-process nodes for one test file, put away after each test. */
import { afterEach, beforeEach } from "bun:test";
import type { Json } from "../../actors/kernel/json.ts";
import {
  type Activity,
  type ActivityOptions,
  type Address,
  implement,
  type RuntimeOptions,
  type RuntimeWork,
} from "../../src/runtime/index.ts";
import { jsonActivity } from "../harness/runtime/counter.ts";
import { startTestNode, type TestNode, type TestRuntime } from "../harness/runtime/runtime.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

export interface CounterState {
  readonly count: number;
  readonly seen: readonly string[];
  readonly outcomes: readonly string[];
}

/** The counter of this name, of the tenant that these tests use. */
export function at(key: string, tenant = "acme"): Address {
  return { kind: "counter", key, tenant };
}

/** What is committed of a counter. */
export async function stateOf(runtime: TestRuntime, key: string): Promise<CounterState | null> {
  return ((await runtime.read(at(key)))?.state ?? null) as CounterState | null;
}

export class Harness {
  stores!: TestStores;
  private nodes: TestNode[] = [];

  constructor() {
    beforeEach(async () => {
      this.stores = await freshStores();
    });
    afterEach(async () => {
      await Promise.all(this.nodes.splice(0).map((node) => node.stop()));
      await this.stores.dispose();
    });
  }

  /** Starts a node; `way` is for one that reaches a store by way of something else. */
  async node(
    options: Partial<RuntimeOptions & RuntimeWork> = {},
    way: { readonly redisUrl?: string } = {},
  ): Promise<TestNode> {
    const node = await startTestNode({ ...this.stores, ...way }, options);
    this.nodes.push(node);
    return node;
  }

  /** Two nodes that hold four of the eight partitions each. */
  async pair(options: Partial<RuntimeOptions & RuntimeWork> = {}): Promise<[TestNode, TestNode]> {
    const first = await this.node(options);
    const second = await this.node(options);
    await until(
      async () =>
        (await Promise.all([first, second].map(({ runtime }) => runtime.status()))).every(
          (one) => one.partitions === 4,
        ),
      {
        what: "two fair shares",
      },
    );
    return [first, second];
  }

  /** Stops a node before the test ends. */
  async stop(node: TestNode): Promise<void> {
    this.nodes = this.nodes.filter((one) => one !== node);
    await node.stop();
  }
}

/** Keys enough that every node of a test owns some of them. */
export const manyKeys: readonly string[] = Array.from({ length: 16 }, (_, index) => `key-${index}`);

/** A promise that the test settles by hand. */
export function gate<T extends Json | undefined = undefined>(): { readonly passed: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { passed: promise, open: resolve };
}

/** An activity with three attempts, unless `options` say otherwise. */
export function activity(name: string, run: Activity["run"], options: Partial<ActivityOptions> = {}): Activity {
  return implement(jsonActivity(name), { concurrency: 4, retry: { attempts: 3, firstDelayMs: 20 }, ...options }, run);
}
