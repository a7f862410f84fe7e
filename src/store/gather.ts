/** Look-ups that happen at the same moment, made with one query. */

/**
 * Wraps a look-up of many keys as a look-up of one: keys asked for within one turn of the event loop go
 * together, each once. Nothing is kept: the next turn asks again.
 * @param load   answers for all keys, by their `name`; a key without an entry is answered with null
 * @param nameOf what makes two keys the same
 */
export function gather<K, V>(
  load: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>>,
  nameOf: (key: K) => string,
): (key: K) => Promise<V | null> {
  let waiting: Map<string, K> | null = null;
  let loading: Promise<ReadonlyMap<string, V>> | null = null;
  return async (key) => {
    if (waiting === null || loading === null) {
      const keys = new Map<string, K>();
      waiting = keys;
      loading = new Promise((resolve, reject) => {
        setImmediate(() => {
          waiting = null;
          loading = null;
          load([...keys.values()]).then(resolve, reject);
        });
      });
    }
    const name = nameOf(key);
    waiting.set(name, key);
    return (await loading).get(name) ?? null;
  };
}
