import { setTimeout as pause } from 'node:timers/promises';
import { type Client, http1Client, http2Client, type Target } from './clients.js';

/** The time between a response and the next request of a client: the load is steady, and need not be heavy. */
const PAUSE_MS = 100;

let lastId = 0;

/** Returns the JSON text of a plant that no other request of this process creates. */
export function freshPlant(): string {
  lastId += 1;
  return `{"id":${lastId},"name":"Ficus"}`;
}

/** Clients of each kind that create plants in sequence until they are stopped. */
export class Load {
  readonly #clients: Promise<void>[];
  readonly #failures: string[] = [];
  #created = 0;
  #goesOn = true;
  #noticed = (): void => {};

  constructor(target: Target) {
    const clients = [http1Client(target), http1Client(target, false), http2Client(target)];
    this.#clients = clients.map(async (client) => this.#run(await client));
  }

  /** Resolves when `plants` more plants were created, or when a create has failed. */
  async more(plants: number): Promise<void> {
    const enough = this.#created + plants;
    while (this.#created < enough && this.#failures.length === 0) {
      await new Promise<void>((resolve) => {
        this.#noticed = resolve;
      });
    }
  }

  /** Stops the load. Resolves with all failures, once every client has its last response. */
  async stop(): Promise<readonly string[]> {
    this.#goesOn = false;
    await Promise.all(this.#clients);
    return this.#failures;
  }

  async #run(client: Client): Promise<void> {
    for (; this.#goesOn; await pause(PAUSE_MS)) {
      const sent = client.create({ body: freshPlant() });
      const failure = await sent.then(({ status, body }) => status !== 200 && body, String);
      if (failure === false) this.#created += 1;
      else this.#failures.push(failure);
      this.#noticed();
    }
    client.close();
  }
}
