/** The API document in parts: what one tag needs of it, so that a part is drawn at once. */

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
}

export interface ApiDocument {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** An operation as lists show it. */
export interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
}

/** Tags in the order of the alphabet, each with its operations by path. */
export function entriesByTag(document: ApiDocument): ReadonlyMap<string, readonly Entry[]> {
  const tags = new Map<string, Entry[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, summary, tags: names }] of Object.entries(methods)) {
      const tag = names[0] ?? "others";
      tags.set(tag, [...(tags.get(tag) ?? []), { id: operationId, method: method.toUpperCase(), path, summary }]);
    }
  }
  const compared = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return new Map(
    [...tags]
      .toSorted(([one], [other]) => compared(one, other))
      .map(([tag, entries]) => [tag, entries.toSorted((one, other) => compared(one.path, other.path))]),
  );
}

/** The document with the operations of one tag and the components that these refer to. */
export function partOf(document: ApiDocument, tag: string): ApiDocument {
  const paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) => {
      const own = Object.entries(methods).filter(([, { tags }]) => (tags[0] ?? "others") === tag);
      return own.length === 0 ? [] : [[path, Object.fromEntries(own)]];
    }),
  );
  const kept = new Map<string, Record<string, unknown>>();
  const { securitySchemes } = document.components;
  if (securitySchemes !== undefined) kept.set("securitySchemes", securitySchemes);
  const collect = (value: unknown): void => {
    for (const [, kind = "", name = ""] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"/]+)"/g)) {
      const component = document.components[kind]?.[name];
      const group = kept.get(kind) ?? {};
      if (component === undefined || name in group) continue;
      kept.set(kind, { ...group, [name]: component });
      collect(component);
    }
  };
  collect(paths);
  return {
    ...document,
    tags: document.tags.filter(({ name }) => name === tag),
    paths,
    components: Object.fromEntries(kept),
  };
}
