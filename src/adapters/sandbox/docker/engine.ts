/**
 * The few things asked of a container engine, over its unix socket: Docker's API, which Podman speaks as well.
 * Every failure is an `EngineError`; one without a status means that the engine did not answer, and repeating may help.
 */
import Docker from "dockerode";
import { registryOf } from "../../../../actors/manifest/images/image.ts";
import { withTimeout } from "../../../lib/timers.ts";
import { EngineError, type RegistryLogin } from "../instance.ts";

/** Longest an ordinary request may take. */
const requestMs = 60_000;
const removeAttempts = 4;
const removeAgainMs = 100;

/** An image by every name that the host has for it. */
export interface ImageNames {
  readonly id: string;
  /** `registry/path:tag` and `registry/path@sha256:…`, as the engine tells them. */
  readonly names: readonly string[];
}

export interface ImageFacts extends ImageNames {
  /** `NAME=value` */
  readonly environment: readonly string[];
  /** Paths that the image wants volumes at. */
  readonly volumes: readonly string[];
}

export interface ContainerState {
  readonly phase: "created" | "running" | "ended";
  readonly exitCode: number | null;
  readonly outOfMemory: boolean;
  readonly isPaused: boolean;
  /** Host process id of its first process; 0 when it has none. */
  readonly pid: number;
  /** Bytes of the writable layer, when asked for. */
  readonly writtenBytes: number | null;
}

export type EngineInfo = Awaited<ReturnType<Docker["info"]>>;

export class Engine {
  readonly #docker: Docker;

  /** @param socket path of the unix socket */
  constructor(readonly socket: string) {
    this.#docker = new Docker({ socketPath: socket });
  }

  async answers(): Promise<boolean> {
    try {
      await this.#ask("ping", () => this.#docker.ping(), 5_000);
      return true;
    } catch {
      return false;
    }
  }

  info(): Promise<EngineInfo> {
    return this.#ask("info", () => this.#docker.info());
  }

  /** @returns null when it is not on this host */
  async image(reference: string): Promise<ImageFacts | null> {
    const found = await this.#unless([404], () => this.#docker.getImage(reference).inspect());
    if (found === null) return null;
    const { Env, Volumes } = found.Config ?? {};
    return { ...namesOf(found), environment: Env ?? [], volumes: Object.keys(Volumes ?? {}) };
  }

  /** Every image of the host. */
  async images(): Promise<readonly ImageNames[]> {
    return (await this.#ask("images", () => this.#docker.listImages())).map(namesOf);
  }

  /**
   * Pulls an image to the end: the registry is asked in any case, and only what is not here is fetched.
   * @param login goes to the engine in a header, and from there to the registry alone
   * @throws EngineError with a status when the registry or the engine refuses; with a login without their words, which
   *   may repeat it
   */
  async pull(reference: string, signal: AbortSignal, login: RegistryLogin | null = null): Promise<void> {
    try {
      await this.#pull(reference, signal, login);
    } catch (error) {
      if (login === null || !(error instanceof EngineError)) throw error;
      throw new EngineError("a pull with a credential failed; what the registry said is not kept", error.status);
    }
  }

  async #pull(reference: string, signal: AbortSignal, login: RegistryLogin | null): Promise<void> {
    const authconfig = login === null ? {} : { authconfig: authOf(reference, login) };
    const options = { abortSignal: signal, ...authconfig };
    const stream = await this.#ask("pull", () => this.#docker.pull(reference, options), null);
    let rest = "";
    let refused: string | null = null;
    const end = () => close(stream);
    signal.addEventListener("abort", end, { once: true });
    try {
      for await (const piece of stream) {
        rest += String(piece);
        const lines = rest.split("\n");
        rest = (lines.pop() ?? "").slice(-65_536);
        for (const line of lines) refused ??= errorIn(line);
      }
      refused ??= errorIn(rest);
    } catch (error) {
      throw new EngineError(messageOf(error), null);
    } finally {
      signal.removeEventListener("abort", end);
    }
    signal.throwIfAborted();
    if (refused !== null) throw new EngineError(refused, 500);
  }

  /** @returns false when a container of this name is there already */
  async create(name: string, options: Docker.ContainerCreateOptions): Promise<boolean> {
    try {
      await this.#ask("create", () => this.#docker.createContainer({ ...options, name }));
      return true;
    } catch (error) {
      // Docker answers 409, Podman 500.
      if (error instanceof EngineError && (error.status === 409 || /already in use/.test(error.detail))) return false;
      throw error;
    }
  }

  /** Repeatable. @throws EngineError 404 when there is no such container */
  async start(container: string): Promise<void> {
    await this.#unless([304], () => this.#docker.getContainer(container).start());
  }

  /** Sends a signal; nothing happens when the container does not run. */
  async kill(container: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    try {
      await this.#unless([404, 409], () => this.#docker.getContainer(container).kill({ signal }));
    } catch (error) {
      if (!(error instanceof EngineError && /not running|only kill running|state improper/.test(error.detail))) {
        throw error;
      }
    }
  }

  /**
   * Runs a command in a container that runs, and reads what it writes to its standard output.
   * @param onBytes false ends the reading
   */
  async exec(
    container: string,
    { argv, user }: { readonly argv: readonly string[]; readonly user: string },
    signal: AbortSignal,
    onBytes: (bytes: Uint8Array) => boolean,
  ): Promise<void> {
    const made = await this.#ask("exec", () =>
      this.#docker.getContainer(container).exec({
        Cmd: [...argv],
        Env: ["LD_PRELOAD=", "LD_AUDIT=", "BUN_OPTIONS=", "NODE_OPTIONS="],
        User: user,
        WorkingDir: "/",
        AttachStdout: true,
        AttachStderr: false,
      }),
    );
    const stream = await this.#ask("exec start", () => made.start({ Detach: false, Tty: false }));
    const frames = new StreamFrames((bytes) => {
      if (!onBytes(bytes)) close(stream);
    });
    await new Promise<void>((resolve) => {
      stream.on("data", (bytes: Buffer) => frames.write(bytes));
      for (const end of ["end", "close", "error"]) stream.on(end, () => resolve());
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    close(stream);
  }

  /**
   * Stops all its processes where they are. Repeatable.
   * @throws EngineError with a status where the engine cannot
   */
  async pause(container: string): Promise<void> {
    await this.#unless([304, 404], () => this.#docker.getContainer(container).pause());
  }

  /** Repeatable; nothing happens to a container that is not paused. */
  async unpause(container: string): Promise<void> {
    try {
      await this.#unless([304, 404, 409], () => this.#docker.getContainer(container).unpause());
    } catch (error) {
      if (!(error instanceof EngineError && /not paused|state improper/.test(error.detail))) throw error;
    }
  }

  /** Ends and removes a container with its anonymous volumes. Repeatable. */
  async remove(container: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#unless([404, 409], () => this.#docker.getContainer(container).remove({ force: true, v: true }));
        return;
      } catch (error) {
        // Podman cleans up behind every container itself, and may be at it just now.
        const passing = error instanceof EngineError && error.status === 500;
        if (!passing || attempt >= removeAttempts) throw error;
        await Bun.sleep(removeAgainMs * attempt);
      }
    }
  }

  /** @returns null when there is no such container */
  async idOf(container: string): Promise<string | null> {
    return (await this.#unless([404], () => this.#docker.getContainer(container).inspect()))?.Id ?? null;
  }

  /** @returns null when there is no such container, or no more than its name */
  async state(container: string, options: { readonly size: boolean }): Promise<ContainerState | null> {
    const query: Docker.ContainerInspectOptions & { size: boolean } = { size: options.size };
    const found = await this.#unless([404], () => this.#docker.getContainer(container).inspect(query)).catch(
      (error: unknown) => {
        // Podman, of a container that is just being removed.
        if (error instanceof EngineError && /container not known|no such container/.test(error.detail)) return null;
        throw error;
      },
    );
    if (found === null) return null;
    const { Status, ExitCode, OOMKilled, Pid } = found.State;
    const ended = ["exited", "dead", "stopped", "removing"].includes(Status);
    return {
      phase: ended ? "ended" : ["created", "configured", "initialized"].includes(Status) ? "created" : "running",
      exitCode: ended ? ExitCode : null,
      outOfMemory: OOMKilled === true,
      isPaused: Status === "paused",
      pid: Pid,
      writtenBytes: "SizeRw" in found && typeof found.SizeRw === "number" ? found.SizeRw : null,
    };
  }

  /** Reads the log from its start; ends with the container, or when the signal aborts. */
  async readLog(
    container: string,
    options: { readonly follow: boolean; readonly signal: AbortSignal },
    onText: (text: string) => void,
  ): Promise<void> {
    const frames = new StreamFrames((bytes) => onText(bytes.toString("latin1")));
    if (!options.follow) {
      const whole = await this.#unless([404], () =>
        this.#docker.getContainer(container).logs({ stdout: true, stderr: false, follow: false }),
      );
      if (whole !== null) frames.write(whole);
      return;
    }
    const stream = await this.#unless([404], () =>
      this.#docker
        .getContainer(container)
        .logs({ stdout: true, stderr: false, follow: true, abortSignal: options.signal }),
    );
    if (stream === null) return;
    await new Promise<void>((resolve) => {
      stream.on("data", (bytes: Buffer) => frames.write(bytes));
      for (const end of ["end", "close", "error"]) stream.on(end, () => resolve());
      options.signal.addEventListener("abort", () => resolve(), { once: true });
      if (options.signal.aborted) resolve();
    });
    close(stream);
  }

  /** Containers that carry all the labels, in any state. */
  async list(
    labels: readonly string[],
  ): Promise<readonly { name: string; labels: Readonly<Record<string, string>> }[]> {
    const found = await this.#ask("list", () =>
      this.#docker.listContainers({ all: true, filters: { label: [...labels] } }),
    );
    return found.map(({ Id, Names, Labels }) => ({ name: Names?.[0]?.replace(/^\//, "") ?? Id, labels: Labels ?? {} }));
  }

  async #unless<T>(statuses: readonly number[], ask: () => Promise<T>): Promise<T | null> {
    try {
      return await this.#ask("request", ask);
    } catch (error) {
      if (error instanceof EngineError && error.status !== null && statuses.includes(error.status)) return null;
      throw error;
    }
  }

  async #ask<T>(what: string, ask: () => Promise<T>, limitMs: number | null = requestMs): Promise<T> {
    const late = () => new EngineError(`no answer in time: ${what}`, null);
    try {
      return await (limitMs === null ? ask() : withTimeout(ask(), limitMs, late));
    } catch (error) {
      if (error instanceof EngineError) throw error;
      const status =
        error instanceof Error && "statusCode" in error && typeof error.statusCode === "number"
          ? error.statusCode
          : null;
      throw new EngineError(messageOf(error), status);
    }
  }
}

function authOf(reference: string, { username, password }: RegistryLogin) {
  return { username: username.reveal(), password: password.reveal(), serveraddress: registryOf(reference) };
}

/** Engines leave out names, or write `<none>` for what an image has lost. */
function namesOf({ Id, RepoTags, RepoDigests }: NamedImage): ImageNames {
  const names = [...(RepoTags ?? []), ...(RepoDigests ?? [])].filter((name) => !name.startsWith("<none>"));
  return { id: Id, names };
}

interface NamedImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null | undefined;
  readonly RepoDigests?: readonly string[] | null | undefined;
}

function close(stream: NodeJS.ReadableStream): void {
  if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
}

/** An engine's own words, without the prefix that the client adds. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^\(HTTP code \d+\) [^-]*- /, "").trim();
}

function errorIn(line: string): string | null {
  if (!line.includes('"error"')) return null;
  try {
    const { error } = JSON.parse(line) as { error?: unknown };
    return typeof error === "string" && error !== "" ? error : null;
  } catch {
    return null;
  }
}

/** Takes the engine's framing off a log: eight bytes before each piece, the last four its length. */
class StreamFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** @param onBytes given what belongs to standard output */
  constructor(readonly onBytes: (bytes: Buffer) => void) {}

  write(bytes: Buffer): void {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (rest.length >= 8) {
      const length = rest.readUInt32BE(4);
      if (rest.length < 8 + length) break;
      if (rest[0] === 1) this.onBytes(rest.subarray(8, 8 + length));
      rest = rest.subarray(8 + length);
    }
    this.#rest = Buffer.from(rest);
  }
}
