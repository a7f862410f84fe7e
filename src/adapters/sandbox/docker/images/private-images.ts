/**
 * Which images of this host came by pulls with credentials, and whose credentials these were. It outlives the node, and
 * all nodes on the data directory share it: every fact is a file of its own that is there or not.
 *
 *   images/private/<image>/<holder>   the image is private; an empty file for each credential it was given to
 *   images/pulls/<pull>.json          a pull with a credential that has not been settled
 *
 * Names are digests: the files tell neither tenants nor credentials.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryOf } from "../../../../../actors/manifest/images/image.ts";
import type { ImageOnHost } from "../../../../../actors/policy/image-use.ts";
import { sha256Hex } from "../../../../lib/digest.ts";
import { readJson, writeAtomically } from "../../../../lib/files/json-file.ts";
import { identify, isAlive, type ProcessIdentity } from "../../../../lib/processes/process-table.ts";
import { EngineError } from "../../instance.ts";
import type { Engine, ImageNames } from "../engine.ts";

/** An engine may end a pull that was given up a little later than we do. */
const settleAfterMs = 60_000;
/** Another node may be pulling what is being forgotten. */
const forgetAfterMs = 3_600_000;

interface Pull {
  readonly owner: ProcessIdentity | null;
  /** Registry and path that is pulled from, without tag and digest. */
  readonly repository: string;
  /** Ids that every tenant could use before. */
  readonly before: readonly string[];
}

export class PrivateImages {
  readonly #private: string;
  readonly #pulls: string;

  /** @param dataDir absolute */
  constructor(
    readonly engine: Pick<Engine, "images">,
    dataDir: string,
  ) {
    this.#private = join(dataDir, "images", "private");
    this.#pulls = join(dataDir, "images", "pulls");
    for (const path of [this.#private, this.#pulls]) mkdirSync(path, { recursive: true, mode: 0o700 });
  }

  /** @param holder whose credential is used; null: no credential */
  async of(image: ImageNames, holder: string | null): Promise<ImageOnHost> {
    const marks = this.#marks(image.id);
    const isMarked = existsSync(marks);
    return {
      isPrivate: isMarked || (await this.#isBeingPulled(image)),
      isHolders: isMarked && holder !== null && existsSync(join(marks, sha256Hex(holder))),
    };
  }

  /**
   * Does a pull with a credential. What of its repository the host has only since then is private, from the beginning
   * of the pull on; what all tenants could use before stays open to all.
   * @param pull resolves with the image that the registry gave
   * @throws what `pull` throws; then it is given to no one
   */
  async during<T extends ImageNames>(repository: string, holder: string, pull: () => Promise<T>): Promise<T> {
    const path = join(this.#pulls, `${crypto.randomUUID()}.json`);
    const before: string[] = [];
    for (const image of await this.engine.images()) {
      if (!(await this.of(image, null)).isPrivate) before.push(image.id);
    }
    const begun: Pull = { owner: identify(process.pid), repository, before };
    await writeAtomically(path, JSON.stringify(begun));
    try {
      const pulled = await pull();
      if (!before.includes(pulled.id)) this.#mark(pulled.id, holder);
      await this.#settle(path, begun);
      return pulled;
    } catch (error) {
      if (error instanceof EngineError && error.status !== null) await this.#settle(path, begun);
      else setTimeout(() => void this.#settle(path, begun).catch(() => {}), settleAfterMs).unref();
      throw error;
    }
  }

  /** Settles pulls whose process is gone, and forgets images that the engine no longer has. */
  async sweep(): Promise<void> {
    for (const [path, pull] of await this.#unsettled())
      if (pull.owner === null || !isAlive(pull.owner)) await this.#settle(path, pull);
    const marked = readdirSync(this.#private);
    if (marked.length === 0) return;
    const there = new Set((await this.engine.images()).map(({ id }) => imageDigest(id)));
    for (const name of marked.filter((one) => !there.has(one))) {
      const marks = join(this.#private, name);
      const age = Date.now() - (statSync(marks, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (age > forgetAfterMs) rmSync(marks, { recursive: true, force: true });
    }
  }

  /** Rejects, with the pull kept as it is, when the engine does not answer. */
  async #settle(path: string, { repository, before }: Pull): Promise<void> {
    for (const image of await this.engine.images()) {
      if (!before.includes(image.id) && isOf(repository, image)) this.#mark(image.id, null);
    }
    rmSync(path, { force: true });
  }

  async #isBeingPulled(image: ImageNames): Promise<boolean> {
    for (const [, { repository, before }] of await this.#unsettled()) {
      if (!before.includes(image.id) && isOf(repository, image)) return true;
    }
    return false;
  }

  async #unsettled(): Promise<(readonly [path: string, Pull])[]> {
    const found: (readonly [string, Pull])[] = [];
    for (const name of readdirSync(this.#pulls)) {
      const path = join(this.#pulls, name);
      const pull = name.endsWith(".json") ? await readJson<Pull>(path) : null;
      if (pull !== null) found.push([path, pull]);
    }
    return found;
  }

  #mark(id: string, holder: string | null): void {
    const marks = this.#marks(id);
    mkdirSync(marks, { recursive: true, mode: 0o700 });
    if (holder !== null) writeFileSync(join(marks, sha256Hex(holder)), "", { mode: 0o600 });
    const now = new Date();
    utimesSync(marks, now, now);
  }

  #marks(id: string): string {
    return join(this.#private, imageDigest(id));
  }
}

/** The id without its algorithm, which engines write or leave out. */
function imageDigest(id: string): string {
  const digest = id.replace(/^sha256:/, "");
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new TypeError("not an image's id");
  return digest;
}

/** Whether one of an image's names is of this repository. */
const isOf = (repository: string, { names }: ImageNames): boolean =>
  names.some((name) => repositoryOf(name) === repository);
