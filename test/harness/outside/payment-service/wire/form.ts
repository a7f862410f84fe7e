/** Form-encoded requests whose names nest by brackets: `items[0][price]=x`, `expand[]=latest_invoice`, `metadata[a]=b`. */

export type Form = string | Form[] | { readonly [name: string]: Form };
interface Node {
  [name: string]: string | Node;
}

/** @returns the outermost names with what is below them */
export function parseForm(text: string): Record<string, Form> {
  const root: Node = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/^[^[\]]+|\[([^[\]]*)\]/g)].map(([whole, inner]) => inner ?? whole);
    put(root, path, value);
  }
  return Object.fromEntries(Object.entries(root).map(([name, node]) => [name, formOf(node)]));
}

function put(node: Node, path: readonly string[], value: string): void {
  const [first = "", ...rest] = path;
  const name = first === "" ? String(Object.keys(node).length) : first;
  if (rest.length === 0) {
    node[name] = value;
    return;
  }
  const below = node[name];
  const next: Node = typeof below === "object" ? below : Object.create(null);
  node[name] = next;
  put(next, rest, value);
}

function formOf(node: string | Node): Form {
  if (typeof node === "string") return node;
  const entries = Object.entries(node);
  const isList = entries.every(([name]) => /^\d+$/.test(name));
  if (!isList) return Object.fromEntries(entries.map(([name, below]) => [name, formOf(below)]));
  return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, below]) => formOf(below));
}
