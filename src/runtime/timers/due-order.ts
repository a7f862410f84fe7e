/** Things by the time at which they are due: a binary heap. */

interface Due {
  readonly due: number;
}

export class DueOrder<T extends Due> {
  private readonly heap: T[] = [];

  get size(): number {
    return this.heap.length;
  }

  /** The one that is due first. */
  first(): T | undefined {
    return this.heap[0];
  }

  push(item: T): void {
    const { heap } = this;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as T;
      if (above.due <= item.due) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = item;
  }

  /** Takes out the one that is due first. */
  shift(): T | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as T).due < (heap[child] as T).due) child++;
      const below = heap[child] as T;
      if (below.due >= last.due) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
