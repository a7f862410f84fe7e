/** Whether the payment provider is within reach. */

/** The provider is asked no more often than that, however often readiness is. */
const freshMs = 15_000;
const timeoutMs = 900;

/** @returns resolves when the provider answers, also by a refusal; rejects when it does not */
export function paymentProbe(apiBase: string, now: () => number): () => Promise<void> {
  let last: { readonly at: number; readonly answer: Promise<void> } | null = null;
  const ask = async (): Promise<void> => {
    const answer = await fetch(apiBase, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status >= 500) throw new Error("the payment provider fails");
  };
  return () => {
    if (last === null || now() - last.at >= freshMs) {
      last = { at: now(), answer: ask() };
      last.answer.catch(() => {});
    }
    return last.answer;
  };
}
