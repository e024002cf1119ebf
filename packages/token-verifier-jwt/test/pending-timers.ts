/** Records the timers of the global `setTimeout` since `install` that neither ran nor were cleared. */
export class PendingTimers {
  readonly #delays = new Map<NodeJS.Timeout, number>();
  readonly #real = { setTimeout, clearTimeout };

  install(): void {
    Object.assign(globalThis, {
      setTimeout: (act: () => void, ms: number) => this.#set(act, ms),
      clearTimeout: (timer: NodeJS.Timeout | undefined) => this.#clear(timer),
    });
  }

  uninstall(): void {
    Object.assign(globalThis, this.#real);
  }

  /** Returns how many timers have this delay, in milliseconds. */
  of(delay: number): number {
    return [...this.#delays.values()].filter((it) => it === delay).length;
  }

  #set(act: () => void, ms: number): NodeJS.Timeout {
    const timer = this.#real.setTimeout(() => {
      this.#delays.delete(timer);
      act();
    }, ms);
    this.#delays.set(timer, ms);
    return timer;
  }

  #clear(timer: NodeJS.Timeout | undefined): void {
    if (timer !== undefined) this.#delays.delete(timer);
    this.#real.clearTimeout(timer);
  }
}
