/** What a tool server of the tests says: ordinary tools, and every way to misbehave that its peer has to stand. */

export interface OddPeer {
  send(message: object): void;
  /** Bytes that are no message; nothing happens where the transport has no such thing. */
  raw(text: string): void;
  exit(code: number): void;
  /** What a request through the egress proxy comes to. Absent where there is none. */
  proxied?(url: string): Promise<string>;
}

interface Asked {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Record<string, unknown>;
    readonly protocolVersion?: string;
  };
}

/** `at:<phase>` in the mode says when it crashes or hangs: `crash:initialize`, `hang:list`, `crash:probe`. */
export function oddTools(mode: string, peer: OddPeer, environment: Readonly<Record<string, string | undefined>>) {
  const begunAt = Date.now();
  const state = { generation: 1, calls: 0, lists: 0, cancelled: [] as unknown[] };

  /** @returns whether this phase goes on */
  function passes(phase: string): boolean {
    if (mode === `crash:${phase}`) peer.exit(3);
    if (mode === `noise:${phase}`) peer.raw('this is no message\n{"half": \n\n');
    return mode !== `crash:${phase}` && mode !== `hang:${phase}`;
  }

  function tools() {
    const object = { type: "object" } as const;
    const more = mode.startsWith("tools:") ? Number(mode.slice("tools:".length)) : 0;
    return [
      {
        name: "echo",
        description: `Says it again (${state.generation})`,
        inputSchema: object,
        annotations: { readOnlyHint: true },
      },
      { name: "act", description: "Changes something", inputSchema: object },
      ...(state.generation > 1 ? [{ name: "fresh", description: "New", inputSchema: object }] : []),
      ...Array.from({ length: more }, (_, index) => ({ name: `more_${index}`, inputSchema: object })),
      ...(mode === "odd-tools"
        ? [
            { name: "large-schema", inputSchema: { type: "object", description: "x".repeat(65 * 1_024) } },
            { name: "bad name", inputSchema: object },
            { name: "long-description", description: "x".repeat(5 * 1_024), inputSchema: object },
          ]
        : []),
    ];
  }

  function listed(id: string | number): unknown {
    state.lists += 1;
    const answer = (result: object) => peer.send({ jsonrpc: "2.0", id, result });
    if (mode === "endless-list") {
      // Junk without end behind the tools that are good.
      const junk = Array.from({ length: 16 }, () => ({
        name: `bad name ${state.lists}`,
        description: "x".repeat(60 * 1_024),
        inputSchema: { type: "object" },
      }));
      return answer({ tools: state.lists === 1 ? tools() : junk, nextCursor: `page ${state.lists}` });
    }
    if (mode === "changing-list" && state.lists === 1) {
      // What this listing tells is old before it has arrived.
      const before = tools();
      state.generation += 1;
      peer.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return setTimeout(() => answer({ tools: before }), 600);
    }
    return answer({ tools: tools() });
  }

  function called(id: string | number, args: Record<string, unknown>): unknown {
    state.calls += 1;
    const answer = (text: string) => peer.send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
    switch (args.do) {
      case "hang":
        return null;
      case "crash":
        return peer.exit(4);
      case "hang-before":
        // Only a process that began later answers.
        return begunAt < Number(args.at) ? null : answer(String(args.text));
      case "large":
        return answer("x".repeat(Number(args.bytes)));
      case "deep": {
        let structuredContent: object = {};
        for (let level = 0; level < Number(args.levels); level += 1) structuredContent = { deeper: structuredContent };
        return peer.send({ jsonrpc: "2.0", id, result: { content: [], structuredContent } });
      }
      case "noise":
        peer.raw("printed to standard output\n");
        return answer("after noise");
      case "flood":
        for (let index = 0; index < 20_000; index += 1) {
          peer.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: index } });
        }
        return answer("after the flood");
      case "change":
        state.generation += 1;
        peer.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
        return answer("changed");
      case "env":
        return answer(JSON.stringify(environment));
      case "proxied":
        return peer.proxied?.(String(args.url)).then(answer);
      case "fail":
        return peer.send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "no" }], isError: true } });
      case "refuse":
        return peer.send({ jsonrpc: "2.0", id, error: { code: -32_000, message: String(args.text) } });
      case "cancelled":
        return answer(JSON.stringify(state.cancelled));
      default:
        return answer(String(args.text ?? ""));
    }
  }

  return {
    state,
    take({ id, method, params = {} }: Asked): unknown {
      if (method === "notifications/cancelled") state.cancelled.push(params);
      if (id === undefined) return null;
      if (method === "initialize") {
        if (!passes("initialize")) return null;
        const { protocolVersion } = params;
        const capabilities = { tools: { listChanged: true } };
        return peer.send({
          jsonrpc: "2.0",
          id,
          result: { protocolVersion, capabilities, serverInfo: { name: "odd", version: "1" } },
        });
      }
      if (method === "tools/list") return passes("list") ? listed(id) : null;
      if (method === "tools/call") return called(id, params.arguments ?? {});
      if (method === "server/discover" && !passes("probe")) return null;
      return peer.send({ jsonrpc: "2.0", id, error: { code: -32_601, message: `no method ${method}` } });
    },
  };
}
