/** A bounded list that keeps the newest. */

export class Ring<T> {
  readonly limit: number;
  #items: T[] = [];
  // Where the oldest is, once the list is full.
  #first = 0;
  #dropped = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many had to go. */
  get dropped(): number {
    return this.#dropped;
  }

  get length(): number {
    return this.#items.length;
  }

  push(item: T): void {
    if (this.#items.length < this.limit) {
      this.#items.push(item);
      return;
    }
    this.#items[this.#first] = item;
    this.#first = (this.#first + 1) % this.limit;
    this.#dropped++;
  }

  /** Oldest first. */
  toArray(): T[] {
    return [...this.#items.slice(this.#first), ...this.#items.slice(0, this.#first)];
  }
}
