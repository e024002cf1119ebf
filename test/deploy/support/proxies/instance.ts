import { freePort } from '@plant-store/programs';
import { ACCESS_TOKEN_SHA256, type Service, serve } from '@plant-store/service-process';
import { until } from './until.js';

/** A service that keeps its port when it is restarted. */
export class Instance {
  readonly #settings: Record<string, string>;
  #service: Service;

  private constructor(settings: Record<string, string>, service: Service) {
    this.#settings = settings;
    this.#service = service;
  }

  /** Resolves when it is ready. */
  static async start(settings: Record<string, string>): Promise<Instance> {
    const all = { ACCESS_TOKEN_SHA256, PORT: `${await freePort()}`, ...settings };
    const instance = new Instance(all, await serve(all));
    await instance.readyIs(200);
    return instance;
  }

  get host(): string {
    return `127.0.0.1:${this.#service.port}`;
  }

  /** What it has logged since it was started. */
  get log(): string {
    return this.#service.stdout();
  }

  /** Stops the service like an orchestrator, and starts it again. Resolves when it is ready. */
  async restart(): Promise<void> {
    await this.stop();
    this.#service = await serve(this.#settings);
    await this.readyIs(200);
  }

  async stop(): Promise<void> {
    const code = await this.#service.stop();
    if (code !== 0) throw new Error(`the service did not stop with 0 but with ${code}`);
  }

  /** Resolves when `/readyz` responds with this status. */
  async readyIs(status: number): Promise<void> {
    await until(async () => (await fetch(`http://${this.host}/readyz`)).status === status);
  }
}
