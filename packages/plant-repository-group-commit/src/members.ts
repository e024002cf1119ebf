/**
 * Like a `Set`, for members that come and go all the time. V8 links each table of a `Set` to the next. Once a table has grown
 * old, every later one counts as in use until the next full garbage collection, with all members it ever held: then a
 * create takes a tenth more CPU time.
 */
export class Members<T extends { at: number }> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Adds a member, which must not be among any `Members`, and writes its `at`. */
  add(member: T): void {
    member.at = this.#members.push(member) - 1;
  }

  /** Removes a member. The last one takes its place. */
  delete(member: T): void {
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.at = member.at;
    this.#members[last.at] = last;
  }

  /** Iterates over the present members, even if some are removed meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#members].values();
  }
}
