/** What systemd would do with the daemon's unit: starts it again, but after the codes that the unit names. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onLeave } from "../../harness/at-exit.ts";
import { scratch } from "../../harness/scratch.ts";

export class Supervisor {
  /** Exit codes of the daemons, in their order. */
  readonly codes: (number | null)[] = [];
  log = "";
  readonly #folder = scratch("supervisor");
  #child: Bun.Subprocess<"ignore", "ignore", "pipe"> | null = null;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  /** A folder with a `systemctl` that asks this supervisor, for the front of PATH. */
  readonly bin = join(this.#folder, "bin");

  constructor(
    readonly command: readonly string[],
    readonly env: Readonly<Record<string, string>>,
    /** Of a unit: what is in it decides which codes are final. */
    readonly unit: () => string,
  ) {
    mkdirSync(this.bin);
    const wish = join(this.#folder, "restart");
    const script = `#!/bin/sh
case "$*" in *restart*) touch ${wish}; while [ -e ${wish} ]; do sleep 0.02; done;; esac
`;
    for (const name of ["systemctl", "loginctl"]) writeFileSync(join(this.bin, name), script, { mode: 0o755 });
    onLeave(() => this.#child?.kill("SIGKILL"));
  }

  start(): void {
    this.#running = this.#supervise();
  }

  /** Ends the daemon, and starts it no more. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#child?.kill("SIGKILL");
    await this.#running;
  }

  async #supervise(): Promise<void> {
    while (!this.#isOver) {
      const child = Bun.spawn([...this.command], { env: { ...this.env }, stdio: ["ignore", "ignore", "pipe"] });
      this.#child = child;
      const reading = this.#follow(child.stderr);
      const asked = this.#whenAsked(child);
      const code = await child.exited;
      await reading;
      this.codes.push(code);
      asked.stop();
      const finals = /^RestartPreventExitStatus=(.+)$/m.exec(this.unit())?.[1]?.split(" ") ?? [];
      if (finals.includes(String(code))) return;
    }
  }

  /** Ends the daemon when a restart is wished for; the wish is fulfilled when it has ended. */
  #whenAsked(child: Bun.Subprocess) {
    const wish = join(this.#folder, "restart");
    const timer = setInterval(() => {
      if (existsSync(wish)) child.kill("SIGTERM");
    }, 20);
    return {
      stop: () => {
        clearInterval(timer);
        rmSync(wish, { force: true });
      },
    };
  }

  async #follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.log += decoder.decode(chunk, { stream: true });
  }
}
