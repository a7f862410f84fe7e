/** Getting an agent's image onto this host, by its pull policy. */
import { registryOf } from "../../../../actors/manifest/image.ts";
import { withTimeout } from "../../../lib/timers.ts";
import { EngineError, type InstanceSpec, LaunchFailure, type LaunchNews } from "../instance.ts";
import type { Engine, ImageFacts } from "./engine.ts";

/** How long a pull may take. */
const pullMs = 180_000;

type Wanted = NonNullable<InstanceSpec["image"]>;

export class Images {
  /** One pull per image at a time; later callers wait for the same pull. */
  readonly #pulling = new Map<string, Promise<void>>();

  /**
   * @param mayReach asked before anything is pulled: whether the registry, `host` or `host:port`, lies where it may
   */
  constructor(
    readonly engine: Engine,
    readonly mayReach: (registry: string) => Promise<boolean>,
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
      if (pullPolicy === "Never") throw new NotPulled("it is not on this host, and the pull policy is Never");
      report({ stage: "image_pull_started", image: reference });
      if (!(await this.mayReach(registryOf(reference)))) {
        throw new EngineError("the registry's name leads to an address that is not public", 403);
      }
      await this.#pull(reference);
      const pulled = (await this.engine.image(reference)) ?? (await this.engine.image(qualified(reference)));
      if (pulled === null) throw new EngineError("the pull left no image", 404);
      const durationMs = Math.round(performance.now() - began);
      report({ stage: "image_pull_completed", image: reference, durationMs });
      return pulled;
    } catch (error) {
      if (!(error instanceof EngineError || error instanceof NotPulled)) throw error;
      // The engine did not answer: the pull was not refused, and may be tried again.
      if (error instanceof EngineError && error.status === null && !(await this.engine.answers())) throw error;
      // What a registry answered, or that none did, would tell of the networks that the engine reaches.
      const reason = error instanceof NotPulled ? error.message : "the registry or the container engine refused it";
      report({ stage: "image_pull_failed", image: reference, error: reason });
      throw new LaunchFailure("image_pull_failed", `The image ${reference} cannot be had: ${reason}`, { cause: error });
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
      return new NotPulled(`it was not pulled within ${Math.round(this.limitMs / 1_000)} s`);
    });
  }
}

/** Why an image is not here, in words that anyone may read. */
class NotPulled extends Error {
  override readonly name = "NotPulled";
}

/** A reference with the registry and the tag that Docker takes for granted and Podman may not. */
export function qualified(reference: string): string {
  const registry = registryOf(reference);
  const names = reference.split("/");
  const isNamed = names.length > 1 && (registry !== "docker.io" || /[.:]/.test(names[0] ?? ""));
  const path = isNamed ? names.slice(1) : names;
  const full = [registry, ...(registry === "docker.io" && path.length === 1 ? ["library"] : []), ...path].join("/");
  const name = full.slice(full.lastIndexOf("/") + 1);
  return /[:@]/.test(name) ? full : `${full}:latest`;
}
