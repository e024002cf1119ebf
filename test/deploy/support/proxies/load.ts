import { setTimeout as pause } from 'node:timers/promises';
import { type Client, http1Client, http2Client, type Target } from './clients.js';

/** Connections are renewed before the proxy closes them, which nginx does after 1,000 requests. */
const REQUESTS_PER_SESSION = 500;

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
  readonly #target: Target;
  readonly #clients: Promise<unknown>[] = [];
  readonly #failures: string[] = [];
  #created = 0;
  #goesOn = true;
  #noticed = (): void => {};

  constructor(target: Target) {
    this.#target = target;
    const onNewConnections = () => http1Client(target, false);
    for (const open of [() => http1Client(target), onNewConnections, () => http2Client(target)]) {
      this.#clients.push(this.#run(open));
    }
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

  async #run(open: () => Client | Promise<Client>): Promise<void> {
    while (this.#goesOn) {
      const client = await open();
      for (let count = 0; count < REQUESTS_PER_SESSION && this.#goesOn; count += 1) {
        await this.#create(client);
        await pause(PAUSE_MS);
      }
      client.close();
    }
  }

  async #create(client: Client): Promise<void> {
    try {
      const { status, body } = await client.create({ body: freshPlant() });
      if (status === 200) this.#created += 1;
      else this.#failures.push(`${this.#target.origin}: ${status} ${body}`);
    } catch (error) {
      this.#failures.push(`${this.#target.origin}: ${error}`);
    }
    this.#noticed();
  }
}
