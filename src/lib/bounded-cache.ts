/** Values made from stored rows that never change under their key, so that nothing kept here goes stale. */
export class BoundedCache<T> {
  private readonly entries = new Map<string, { readonly value: T; readonly characters: number }>();
  private characters = 0;

  /** @param capacity characters of JSON kept in all */
  constructor(private readonly capacity = 8 * 1024 * 1024) {}

  get(key: string): T | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return null;
    // Maps keep insertion order: the first key is the one unused for longest.
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  put(key: string, value: T, characters: number): void {
    this.remove(key);
    this.entries.set(key, { value, characters });
    this.characters += characters;
    for (const oldest of this.entries.keys()) {
      if (this.characters <= this.capacity) break;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    this.characters -= this.entries.get(key)?.characters ?? 0;
    this.entries.delete(key);
  }
}
