import type { Seats } from './seats.js';

/** Keeps the guests in a `Map`. */
export class MemorySeats implements Seats {
  readonly #guests = new Map<string, string>();

  async reserve(seat: string, guest: string): Promise<boolean> {
    if (!this.#guests.has(seat)) this.#guests.set(seat, guest);
    return this.#guests.get(seat) === guest;
  }

  async guestOf(seat: string): Promise<string | undefined> {
    return this.#guests.get(seat);
  }
}
