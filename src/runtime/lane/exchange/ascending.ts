/** Numbers of one source in ascending order, each with another one that belongs to it. */
export class Ascending {
  private readonly numbers: number[] = [];
  private readonly values: number[] = [];

  get size(): number {
    return this.numbers.length;
  }

  /** @returns false for one that is here already */
  add(number: number, value: number): boolean {
    const place = this.place(number);
    if (this.numbers[place] === number) return false;
    this.numbers.splice(place, 0, number);
    this.values.splice(place, 0, value);
    return true;
  }

  /** @returns what belongs to it; undefined for one that is not here */
  remove(number: number): number | undefined {
    const place = this.place(number);
    if (this.numbers[place] !== number) return undefined;
    this.numbers.splice(place, 1);
    return this.values.splice(place, 1)[0];
  }

  /** What belongs to a number; undefined for one that is not here. */
  get(number: number): number | undefined {
    const place = this.place(number);
    return this.numbers[place] === number ? this.values[place] : undefined;
  }

  /** The highest below a number; 0 for none. */
  below(number: number): number {
    return this.numbers[this.place(number) - 1] ?? 0;
  }

  /** The lowest; undefined for none. */
  get first(): number | undefined {
    return this.numbers[0];
  }

  /** Where a number stands, or would. Most are looked for at one of the ends. */
  private place(number: number): number {
    const { numbers } = this;
    if (numbers.length === 0 || (numbers[0] as number) >= number) return 0;
    let low = 1;
    let high = numbers.length;
    if ((numbers[high - 1] as number) < number) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[middle] as number) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
