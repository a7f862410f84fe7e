/** The hosts of a run by the waves they go in: the canary, the batches behind it, and those that are waited for. */

export interface Section {
  readonly title: string;
  /** Place of its first host. */
  readonly from: number;
  readonly isCanary: boolean;
}

/** Of a run's hosts in order, the first `hosts` go in waves: `canary` first, then `size` at a time. */
export interface Waves {
  readonly canary: number;
  readonly size: number;
  readonly hosts: number;
}

/** With more batches than this, they are shown as one. */
const mostShown = 40;

/** @param resolved hosts of the run, those that are waited for included @returns one section where there is nothing to tell apart */
export function sectionsOf({ canary, size, hosts }: Waves, resolved: number): readonly Section[] {
  const sections: Section[] = canary > 0 ? [{ title: "Canary", from: 0, isCanary: true }] : [];
  const left = hosts - canary;
  const batches = size > 0 ? Math.ceil(left / size) : 0;
  // One host at a time is an order, not a batch.
  if (batches > 1 && size > 1 && batches <= mostShown)
    for (let nth = 0; nth < batches; nth++)
      sections.push({ title: `Batch ${nth + 1} of ${batches}`, from: canary + nth * size, isCanary: false });
  else if (left > 0) {
    const title = size === 1 ? "One after the other" : batches > 1 ? `${batches} batches of ${size}` : "All others";
    sections.push({ title, from: canary, isCanary: false });
  }
  if (resolved > hosts) sections.push({ title: "Waited for", from: hosts, isCanary: false });
  return sections.length > 1 ? sections : [{ title: "", from: 0, isCanary: false }];
}
