/** Many patterns of tools at once: lists of hundreds of tools are held to contexts with hundreds of patterns. */
import { canonicalName } from "../../tool/catalog.ts";
import type { SecurityContextSpec } from "./spec.ts";

interface Patterns {
  /** The first pattern that covers the tool, as it was written. @param name canonical */
  covering(name: string): string | undefined;
}

interface Named {
  readonly opened: Patterns;
  readonly denied: Patterns;
}

const known = new WeakMap<SecurityContextSpec, Named>();

/** The patterns of a context, made ready once for as long as it is the same object. */
export function namesOf(spec: SecurityContextSpec): Named {
  const earlier = known.get(spec);
  if (earlier !== undefined) return earlier;
  const named = {
    opened: patterns(spec.capabilities.map(({ tool_pattern }) => tool_pattern)),
    denied: patterns(spec.deny_list),
  };
  known.set(spec, named);
  return named;
}

function patterns(written: readonly string[]): Patterns {
  const exact = new Map<string, number>();
  const prefixes = new Map<string, number>();
  for (const [place, pattern] of written.entries()) {
    if (pattern === "*") continue;
    const meant = canonicalName(pattern);
    const [map, key] = meant.endsWith(".*") ? [prefixes, meant.slice(0, -2)] : [exact, meant];
    if (!map.has(key)) map.set(key, place);
  }
  const any = written.indexOf("*");
  return {
    covering(name) {
      let first = Math.min(exact.get(name) ?? written.length, any < 0 ? written.length : any);
      for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
        first = Math.min(first, prefixes.get(name.slice(0, dot)) ?? first);
      }
      return written[first];
    },
  };
}
