/** Work that a node does again and again in the background. */

/**
 * Does a round at once and then every so often; a round that is still under way is not begun twice.
 * @param failed hears of rounds that threw; the next one takes up what was left
 * @returns a function that ends it, after a round under way
 */
export function repeatedly(
  everyMs: number,
  round: () => Promise<void>,
  failed: (error: unknown) => void,
): () => Promise<void> {
  let under: Promise<void> = Promise.resolve();
  let busy = false;
  const begin = () => {
    if (busy) return;
    busy = true;
    under = round()
      .catch(failed)
      .finally(() => {
        busy = false;
      });
  };
  begin();
  const timer = setInterval(begin, everyMs);
  return () => {
    clearInterval(timer);
    return under;
  };
}
