import type { ArrivingRequest } from './arriving-request.js';

/** The maximum number of requests that wait on one connection. */
const MAX_WAITING = 250;
/** While more than this wait on all connections, each may have only a few. */
const MAX_WAITING_ON_ALL = 1000;
const FEW = 10;
/** A waiting request takes 2 KB of memory, and as much again for this many headers: then it weighs 2, and so on. */
const HEADERS_OF_ONE = 50;

/** Bounds the memory of the requests that wait for earlier responses, on all connections of a server. */
export class WaitingWeight {
  #onAll = 0;

  /** Adds the weight of a request that begins to wait, or subtracts it when it no longer waits. */
  add(weight: number): void {
    this.#onAll += weight;
  }

  /** The weight that may wait on each connection now. */
  get maxOnEach(): number {
    return this.#onAll > MAX_WAITING_ON_ALL ? FEW : MAX_WAITING;
  }
}

/** Returns what a request weighs when it waits: 1, unless it has many headers. */
export function weightOf({ rawHeaders }: ArrivingRequest): number {
  return 1 + Math.floor(rawHeaders.length / 2 / HEADERS_OF_ONE);
}
