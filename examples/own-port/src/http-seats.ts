import { type Seats, SeatsUnavailableError } from './seats.js';

const TIME_LIMIT_MS = 1_000;
const ATTEMPTS = 3;

/** Sends a request, and resolves with the response. */
export type Exchange = (
  url: string,
  request: RequestInit,
) => Promise<{ readonly status: number; readonly guest: string }>;

async function overHttp(url: string, request: RequestInit) {
  const response = await fetch(url, request);
  return { status: response.status, guest: await response.text() };
}

/** Asks a server, which responds with the guest of the seat. */
export class HttpSeats implements Seats {
  readonly #origin: string;
  readonly #exchange: Exchange;

  constructor(origin: string, exchange: Exchange = overHttp) {
    this.#origin = origin;
    this.#exchange = exchange;
  }

  async reserve(seat: string, guest: string): Promise<boolean> {
    const response = await this.send(seat, { method: 'PUT', body: guest });
    return response.guest === guest;
  }

  async guestOf(seat: string): Promise<string | undefined> {
    return (await this.send(seat, { method: 'GET' })).guest || undefined;
  }

  /** Tries again: a request that is repeated changes nothing. */
  protected async send(seat: string, request: RequestInit) {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#exchange(`${this.#origin}/${seat}`, { ...request, signal });
      } catch (cause) {
        if (attempt < ATTEMPTS && !signal.aborted) continue;
        throw new SeatsUnavailableError('the server did not respond', { cause });
      }
    }
  }
}
