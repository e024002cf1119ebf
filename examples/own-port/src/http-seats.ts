import { setTimeout as wait } from 'node:timers/promises';
import { type Seats, SeatsUnavailableError } from './seats.js';

const TIME_LIMIT_MS = 1_000;
const PAUSE_MS = 20;

/** Asks a server, which responds with the guest of the seat. */
export class HttpSeats implements Seats {
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async reserve(seat: string, guest: string): Promise<boolean> {
    const response = await this.send(seat, { method: 'PUT', body: guest });
    return response.guest === guest;
  }

  async guestOf(seat: string): Promise<string | undefined> {
    return (await this.send(seat, { method: 'GET' })).guest || undefined;
  }

  /** Tries again until the time limit has passed: a request that is repeated changes nothing. */
  protected async send(seat: string, request: RequestInit) {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    for (;;) {
      try {
        const response = await fetch(`${this.#origin}/${seat}`, { ...request, signal });
        return { status: response.status, guest: await response.text() };
      } catch (cause) {
        if (signal.aborted)
          throw new SeatsUnavailableError('the server did not respond', { cause });
        await wait(PAUSE_MS);
      }
    }
  }
}
