/** Numbers of one source in ascending order, each with another one that belongs to it. Most come at the end and go at the front. */
export class Ascending {
  private readonly numbers: number[] = [];
  private readonly values: number[] = [];
  /** Where the first stands: those before it are gone. */
  private head = 0;

  get size(): number {
    return this.numbers.length - this.head;
  }

  /** @returns false for one that is here already */
  add(number: number, value: number): boolean {
    const place = this.place(number);
    if (this.numbers[place] === number) return false;
    if (place === this.numbers.length) {
      this.numbers.push(number);
      this.values.push(value);
    } else {
      this.numbers.splice(place, 0, number);
      this.values.splice(place, 0, value);
    }
    return true;
  }

  /** @returns what belongs to it; undefined for one that is not here */
  remove(number: number): number | undefined {
    const place = this.place(number);
    if (this.numbers[place] !== number) return undefined;
    const value = this.values[place];
    if (place === this.head) this.shift();
    else {
      this.numbers.splice(place, 1);
      this.values.splice(place, 1);
    }
    return value;
  }

  private shift(): void {
    this.head++;
    if (this.head < this.numbers.length && this.head < mostGone) return;
    this.numbers.splice(0, this.head);
    this.values.splice(0, this.head);
    this.head = 0;
  }

  /** What belongs to a number; undefined for one that is not here. */
  get(number: number): number | undefined {
    const place = this.place(number);
    return this.numbers[place] === number ? this.values[place] : undefined;
  }

  /** The highest below a number; 0 for none. */
  below(number: number): number {
    const place = this.place(number);
    return place === this.head ? 0 : (this.numbers[place - 1] as number);
  }

  /** The lowest; undefined for none. */
  get first(): number | undefined {
    return this.numbers[this.head];
  }

  /** Where a number stands, or would. Most are looked for at one of the ends. */
  private place(number: number): number {
    const { numbers, head } = this;
    if (numbers.length === head || (numbers[head] as number) >= number) return head;
    let low = head + 1;
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

/** Places at the front that are kept although their numbers are gone: moving all others costs more than a few of them. */
const mostGone = 256;
