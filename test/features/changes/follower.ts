/** A reader of `/v1/events`. */
export interface ReadEvent {
  readonly id: string;
  readonly event: string | null;
  readonly data: { readonly type: string; readonly id: string; readonly status: string; readonly rev: number };
}

export class ChangeFollower {
  readonly events: ReadEvent[] = [];
  /** Of the last event, or what the stream began with. */
  lastId = "";
  ended = false;
  readonly #abort = new AbortController();

  /** Resolves once the stream is open. */
  static async open(
    url: string,
    token: string,
    query: Readonly<Record<string, string>> = {},
    lastEventId: string | null = null,
  ): Promise<ChangeFollower> {
    const follower = new ChangeFollower();
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }),
    };
    const signal = follower.#abort.signal;
    const response = await fetch(`${url}?${new URLSearchParams(query)}`, { headers, signal });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    void follower.#read(response).catch(() => {});
    return follower;
  }

  close(): void {
    this.#abort.abort();
  }

  /** `id status`, or `gap reason`. */
  get seen(): string[] {
    return this.events.map(({ event, data }) =>
      event === "gap" ? `gap ${(data as unknown as { reason: string }).reason}` : `${data.id} ${data.status}`,
    );
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#take(part);
    }
    this.ended = true;
  }

  #take(part: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1] ?? null;
    this.lastId = field("id") ?? this.lastId;
    const data = field("data");
    if (data !== null) this.events.push({ id: this.lastId, event: field("event"), data: JSON.parse(data) });
  }
}
