/** Reading an event stream in tests. */
import type { LooseJson } from "./loose-json.ts";

export interface Frame {
  readonly id: number;
  readonly name: string;
  readonly body: LooseJson;
  /** The frame as it came. */
  readonly text: string;
}

/** An open stream whose frames are collected as they come. */
export class Followed {
  readonly frames: Frame[] = [];
  comments = 0;
  /** Everything received, byte for byte. */
  text = "";
  ended = false;
  readonly #abort = new AbortController();
  /** Settles when the stream is over, or broken. */
  readonly done: Promise<void>;
  response: Response | null = null;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.done = this.#read(url, headers).catch(() => {});
  }

  get names(): string[] {
    return this.frames.map(({ name }) => name);
  }
  get ids(): number[] {
    return this.frames.map(({ id }) => id);
  }
  close(): void {
    this.#abort.abort();
  }

  async #read(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const response = await fetch(url, { headers, signal: this.#abort.signal });
    this.response = response;
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const text = decoder.decode(chunk, { stream: true });
      this.text += text;
      const parts = (rest + text).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#take(part);
    }
    this.ended = true;
  }

  #take(text: string): void {
    const data = /^data: (.*)$/m.exec(text)?.[1];
    if (data === undefined) {
      this.comments += 1;
      return;
    }
    const parsed = JSON.parse(data);
    const [name = ""] = Object.keys(parsed);
    this.frames.push({ id: Number(/^id: (\d+)$/m.exec(text)?.[1]), name, body: parsed[name], text });
  }
}
