/**
 * What an agent may touch of its volumes, exactly: `spec.security.filesystem` as the `fs.*` tools apply it.
 * Paths are those of the instance, absolute and resolved.
 */
import { covers, leadsTo, type Pattern, readPattern, segmentsOf } from "./pattern.ts";

/** `spec.security.filesystem`; both lists empty and not read-only: the volumes' access modes decide alone. */
export interface FilesystemRules {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly read_only: boolean;
}

export interface FilesystemPolicy {
  /** Beside the volume's own access mode, which binds as well. */
  mayWrite(path: string): boolean;
  /** Its content, or for a directory everything below it. */
  mayRead(path: string): boolean;
  /** Whether the path may be seen at all: readable, or a directory on the way to what is. */
  maySee(path: string): boolean;
}

/** Patterns that are none name nothing; a manifest with one is refused at deploy. */
export function filesystemPolicy(rules: FilesystemRules): FilesystemPolicy {
  const write = patterns(rules.write);
  const read = rules.read.length === 0 ? null : [...patterns(rules.read), ...write];
  const mayRead = (path: string) => read === null || coveredBy(read, path);
  return {
    mayWrite: (path) => !rules.read_only && (rules.write.length === 0 ? mayRead(path) : coveredBy(write, path)),
    mayRead,
    maySee: (path) => read === null || coveredBy(read, path) || isAbove(read, path),
  };
}

function patterns(texts: readonly string[]): Pattern[] {
  return texts.map(readPattern).filter((pattern) => pattern !== null);
}

function coveredBy(list: readonly Pattern[], path: string): boolean {
  const segments = segmentsOf(path);
  return list.some((pattern) => covers(pattern, segments));
}

function isAbove(list: readonly Pattern[], path: string): boolean {
  const segments = segmentsOf(path);
  return list.some((pattern) => leadsTo(pattern, segments));
}
