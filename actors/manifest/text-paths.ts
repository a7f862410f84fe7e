/**
 * Where a manifest holds text. YAML reads an unquoted `3.10` as a number; at these places what the author wrote is
 * meant, so the source text is kept.
 */
export interface TextPaths {
  /** The value itself is text, if it is a scalar. */
  readonly self?: true;
  readonly members?: Readonly<Record<string, TextPaths>>;
  /** Below every other member, and below every element of a list. */
  readonly each?: TextPaths;
}

export const textPath: TextPaths = { self: true };

/** The paths below `key` (`*` for an element of a list), or null where nothing below is text. */
export function textPathsBelow(paths: TextPaths | null, key: string): TextPaths | null {
  if (paths?.members !== undefined && Object.hasOwn(paths.members, key)) return paths.members[key] ?? null;
  return paths?.each ?? null;
}

export const isTextPath = (paths: TextPaths | null): boolean => paths?.self === true;

/** Text where either has it. */
export function mergedTextPaths(one: TextPaths | null, other: TextPaths | null): TextPaths | null {
  if (one === null || other === null) return one ?? other;
  const keys = new Set([...Object.keys(one.members ?? {}), ...Object.keys(other.members ?? {})]);
  const each = mergedTextPaths(one.each ?? null, other.each ?? null);
  return {
    ...(one.self === true || other.self === true ? { self: true } : {}),
    ...(keys.size === 0 ? {} : { members: mergedMembers([...keys], one, other) }),
    ...(each === null ? {} : { each }),
  };
}

function mergedMembers(keys: readonly string[], one: TextPaths, other: TextPaths): Record<string, TextPaths> {
  const members = keys.map((key) => {
    const merged = mergedTextPaths(one.members?.[key] ?? null, other.members?.[key] ?? null);
    return [key, merged ?? {}] as const;
  });
  return Object.fromEntries(members);
}
