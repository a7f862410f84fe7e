/** Getting an agent's image onto this host, by its pull policy. */
import { withTimeout } from "../../../lib/timers.ts";
import { EngineError, type InstanceSpec, LaunchFailure, type LaunchNews } from "../instance.ts";
import type { Engine, ImageFacts } from "./engine.ts";

/** How long a pull may take. */
const pullMs = 180_000;

type Wanted = NonNullable<InstanceSpec["image"]>;

export class Images {
  /** One pull per image at a time; later callers wait for the same pull. */
  readonly #pulling = new Map<string, Promise<void>>();

  constructor(
    readonly engine: Engine,
    readonly limitMs: number = pullMs,
  ) {}

  /**
   * @throws LaunchFailure `image_pull_failed`
   * @throws EngineError when the engine does not answer
   */
  async get({ reference, pullPolicy }: Wanted, report: (news: LaunchNews) => void): Promise<ImageFacts> {
    const local = pullPolicy === "Always" ? null : await this.engine.image(reference);
    if (local !== null) return local;
    const began = performance.now();
    try {
      if (pullPolicy === "Never") throw new EngineError("not on this host, and the pull policy is Never", 404);
      report({ stage: "image_pull_started", image: reference });
      await this.#pull(reference);
      const pulled = (await this.engine.image(reference)) ?? (await this.engine.image(qualified(reference)));
      if (pulled === null) throw new EngineError("the pull left no image", 404);
      const durationMs = Math.round(performance.now() - began);
      report({ stage: "image_pull_completed", image: reference, durationMs });
      return pulled;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // The engine did not answer: the pull was not refused, and may be tried again.
      if (error.status === null && !(await this.engine.answers())) throw error;
      report({ stage: "image_pull_failed", image: reference, error: error.message });
      throw new LaunchFailure("image_pull_failed", `The image ${reference} cannot be had: ${error.message}`);
    }
  }

  #pull(reference: string): Promise<void> {
    const running = this.#pulling.get(reference);
    if (running !== undefined) return running;
    const pull = this.#pullOnce(reference).finally(() => this.#pulling.delete(reference));
    this.#pulling.set(reference, pull);
    return pull;
  }

  async #pullOnce(reference: string): Promise<void> {
    const stop = new AbortController();
    const pull = this.engine.pull(qualified(reference), stop.signal);
    pull.catch(() => {});
    await withTimeout(pull, this.limitMs, () => {
      stop.abort();
      return new EngineError(`not pulled within ${Math.round(this.limitMs / 1_000)} s`, 504);
    });
  }
}

/** A reference with the registry and the tag that Docker takes for granted and Podman may not. */
export function qualified(reference: string): string {
  const [first = "", ...rest] = reference.split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const full = hasRegistry ? reference : `docker.io/${rest.length === 0 ? "library/" : ""}${reference}`;
  const name = full.slice(full.lastIndexOf("/") + 1);
  return /[:@]/.test(name) ? full : `${full}:latest`;
}
