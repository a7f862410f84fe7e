/** A node's offer and a small good manifest, for tests of both. */
import type { Json } from "../../../actors/actor.ts";
import { builtInRuntimes } from "../../../actors/agent/runtimes.ts";
import type { NodeOffer } from "../../../actors/agent/spec.ts";
import { builtinTools } from "../../../actors/tool/catalog.ts";

export const offer: NodeOffer = {
  runtimes: builtInRuntimes,
  isolations: ["process"],
  defaultIsolation: "process",
  imageRegistries: null,
  maxExecutionSeconds: 21_600,
  tools: builtinTools.map((tool) => tool.name),
  servesModel: (alias) => alias === "default",
};

export type Tree = { [key: string]: Json | undefined };

export function manifest(overrides: Tree = {}): Tree {
  return {
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: "greeter", version: "1.0.0" },
    spec: { runtime: { language: "python", version: "3.12" }, task: { instruction: "Say hello." } },
    ...overrides,
  };
}

/** A good manifest with one member of any depth replaced; `null` removes it. Path is dotted. */
export function manifestWith(path: string, value: Json): Tree {
  const root = structuredClone(manifest()) as Tree;
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const holder = keys.reduce<Tree>((node, key) => {
    node[key] ??= {};
    return node[key] as Tree;
  }, root);
  if (value === null) delete holder[last];
  else holder[last] = value;
  return root;
}
