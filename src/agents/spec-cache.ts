/** Resolved manifests by version row. Those rows never change, so nothing here goes stale. */
import type { AgentSpec } from "../../actors/agent/spec.ts";

export class SpecCache {
  private readonly entries = new Map<string, { readonly spec: AgentSpec; readonly characters: number }>();
  private characters = 0;

  /** @param capacity characters of JSON kept in all */
  constructor(private readonly capacity = 8 * 1024 * 1024) {}

  get(versionId: string): AgentSpec | null {
    const entry = this.entries.get(versionId);
    if (entry === undefined) return null;
    // Maps keep insertion order: the first key is the one unused for longest.
    this.entries.delete(versionId);
    this.entries.set(versionId, entry);
    return entry.spec;
  }

  put(versionId: string, spec: AgentSpec, characters: number): void {
    this.remove(versionId);
    this.entries.set(versionId, { spec, characters });
    this.characters += characters;
    for (const oldest of this.entries.keys()) {
      if (this.characters <= this.capacity) break;
      this.remove(oldest);
    }
  }

  private remove(versionId: string): void {
    this.characters -= this.entries.get(versionId)?.characters ?? 0;
    this.entries.delete(versionId);
  }
}
