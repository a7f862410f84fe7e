/** Getting an agent's image onto this host, by its pull policy. */
import { qualified, registryOf, repositoryOf } from "../../../../../actors/manifest/images/image.ts";
import { imageUse } from "../../../../../actors/policy/image-use.ts";
import { withTimeout } from "../../../../lib/timers.ts";
import { EngineError, type InstanceSpec, LaunchFailure, type LaunchNews, type RegistryLogin } from "../../instance.ts";
import type { Engine, ImageFacts } from "../engine.ts";
import type { PrivateImages } from "./private-images.ts";

/** How long a pull may take. */
const pullMs = 180_000;

type Wanted = NonNullable<InstanceSpec["image"]>;

export class Images {
  /** One pull per image at a time; later callers without a credential wait for the same pull. */
  readonly #pulling = new Map<string, Promise<ImageFacts>>();
  /** The end of the latest pull of an image, with a credential or without: what a pull gave is looked at before the next. */
  readonly #turns = new Map<string, Promise<unknown>>();

  /**
   * @param mayReach asked before anything is pulled: whether the registry, `host` or `host:port`, lies where it may
   */
  constructor(
    readonly engine: Pick<Engine, "image" | "pull" | "answers">,
    readonly privates: Pick<PrivateImages, "of" | "during">,
    readonly mayReach: (registry: string) => Promise<boolean>,
    readonly limitMs: number = pullMs,
  ) {}

  /**
   * @throws LaunchFailure `image_pull_failed`
   * @throws EngineError when the engine does not answer
   */
  async get(wanted: Wanted, report: (news: LaunchNews) => void): Promise<ImageFacts> {
    const { reference, login = null } = wanted;
    const found = await this.#look(wanted);
    if (typeof found === "object") return found;
    const began = performance.now();
    try {
      // The same words for what is not here and for what is another's.
      if (found === "refuse") throw new NotPulled("it is not on this host, and the pull policy is Never");
      report({ stage: "image_pull_started", image: reference });
      if (!(await this.mayReach(registryOf(reference)))) {
        throw new EngineError("the registry's name leads to an address that is not public", 403);
      }
      const pulled = login === null ? await this.#pull(reference) : await this.#pullWith(wanted, login);
      const durationMs = Math.round(performance.now() - began);
      report({ stage: "image_pull_completed", image: reference, durationMs });
      return pulled;
    } catch (error) {
      if (!(error instanceof EngineError || error instanceof NotPulled)) throw error;
      // The engine did not answer: the pull was not refused, and may be tried again.
      if (error instanceof EngineError && error.status === null && !(await this.engine.answers())) throw error;
      // What a registry answered, or that none did, would tell of the networks that the engine reaches.
      const reason = error instanceof NotPulled ? error.message : refusedBy(login);
      report({ stage: "image_pull_failed", image: reference, error: reason });
      throw new LaunchFailure("image_pull_failed", `The image ${reference} cannot be had: ${reason}`, { cause: error });
    }
  }

  /** What the host has, where it may be used without asking the registry; null where it may not. */
  async here(wanted: Wanted): Promise<ImageFacts | null> {
    const found = await this.#look({ ...wanted, pullPolicy: wanted.pullPolicy === "Never" ? "Never" : "IfNotPresent" });
    return typeof found === "object" ? found : null;
  }

  async #look({ reference, pullPolicy, login }: Wanted): Promise<ImageFacts | "ask" | "refuse"> {
    if (pullPolicy === "Always") return "ask";
    // What a registry could give has a name there: an engine would take a short text for the beginning of an id as well.
    const image = await this.engine.image(pullPolicy === "Never" ? reference : qualified(reference));
    const use = imageUse(pullPolicy, image === null ? null : await this.privates.of(image, login?.holder ?? null));
    return use === "use" && image !== null ? image : use === "refuse" ? use : "ask";
  }

  #pull(reference: string): Promise<ImageFacts> {
    const running = this.#pulling.get(reference);
    if (running !== undefined) return running;
    const pull = this.#inTurn(reference, () => this.#pullOnce(reference, null)).finally(() =>
      this.#pulling.delete(reference),
    );
    this.#pulling.set(reference, pull);
    return pull;
  }

  #pullWith(wanted: Wanted, login: RegistryLogin): Promise<ImageFacts> {
    const { reference } = wanted;
    return this.#inTurn(reference, async () => {
      // The pull that was waited for may have been for the same credential.
      const found = await this.#look(wanted);
      if (typeof found === "object") return found;
      const repository = repositoryOf(qualified(reference));
      return this.privates.during(repository, login.holder, () => this.#pullOnce(reference, login));
    });
  }

  async #inTurn<T>(reference: string, work: () => Promise<T>): Promise<T> {
    const name = qualified(reference);
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work, work);
    const end = turn.catch(() => {});
    this.#turns.set(name, end);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(name) === end) this.#turns.delete(name);
    }
  }

  /** @returns what the registry gave */
  async #pullOnce(reference: string, login: RegistryLogin | null): Promise<ImageFacts> {
    const stop = new AbortController();
    const pull = this.engine.pull(qualified(reference), stop.signal, login);
    pull.catch(() => {});
    await withTimeout(pull, this.limitMs, () => {
      stop.abort();
      return new NotPulled(`it was not pulled within ${Math.round(this.limitMs / 1_000)} s`);
    });
    // Not the text itself: an engine reads one that looks like an id as an id.
    const pulled = await this.engine.image(qualified(reference));
    if (pulled === null) throw new EngineError("the pull left no image", 404);
    return pulled;
  }
}

const refusedBy = (login: RegistryLogin | null): string =>
  login === null
    ? "the registry or the container engine refused it"
    : "the registry refused the credential or has no such image, or the container engine refused it";

/** Why an image is not here, in words that anyone may read. */
class NotPulled extends Error {
  override readonly name = "NotPulled";
}
