import { setTimeout as pause } from 'node:timers/promises';
import { failures } from '@plant-store/http-koa';
import type { RunningSubject } from '../peers.js';

/** What the response to a create reports about the plant. */
export type Reported = 'stored' | 'failed' | 'unknown';

/** A create of one client, and what its response reported. */
export interface Create {
  readonly id: number;
  readonly reported: Reported;
  readonly waitMs: number;
  /** When the response came, in milliseconds of `performance.now()`. */
  readonly at: number;
}

/** How many clients each subject has. */
export const CLIENTS = 50;
/** The longest pause between two creates of a client. With none, all subjects would compete for the CPUs. */
const MAX_PAUSE_MS = 50;
const PAUSE_AFTER_FAILURE_MS = 1_000;
/** Longer than any fault, so that a client that stops waiting is the exception. */
const CLIENT_WAITS_MS = 120_000;

/** Clients of one subject. Each creates one plant after the other, with a new id each time. */
export class Clients {
  readonly name: string;
  readonly #creates: Create[] = [];
  readonly creates: readonly Create[] = this.#creates;
  readonly #subject: RunningSubject;
  readonly #ended: Promise<unknown>;
  #stopping = false;
  #lastId = 0;

  constructor(name: string, subject: RunningSubject) {
    this.name = name;
    this.#subject = subject;
    this.#ended = Promise.all(Array.from({ length: CLIENTS }, () => this.#createPlants()));
  }

  /** Resolves when every create that was sent has a response. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#ended;
  }

  async #createPlants(): Promise<void> {
    while (!this.#stopping) {
      const reported = await this.#createPlant();
      await pause(reported === 'stored' ? Math.random() * MAX_PAUSE_MS : PAUSE_AFTER_FAILURE_MS);
    }
  }

  async #createPlant(): Promise<Reported> {
    this.#lastId += 1;
    const id = this.#lastId;
    const sentAt = performance.now();
    const reported = await this.#send(id);
    const at = performance.now();
    this.#creates.push({ id, reported, waitMs: at - sentAt, at });
    return reported;
  }

  #send(id: number): Promise<Reported> {
    return fetch(`${this.#subject.url}/plants`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.#subject.token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ id, name: 'Monstera deliciosa', tag: 'tropical' }),
      signal: AbortSignal.timeout(CLIENT_WAITS_MS),
    })
      .then(async (response) => reportedBy(response.status, JSON.parse(await response.text())))
      .catch(() => 'unknown');
  }
}

/** Returns what a response reports: that the plant is stored, that nothing is, or that the outcome is unknown. */
export function reportedBy(status: number, body: { readonly error?: unknown }): Reported {
  if (status === 200) return 'stored';
  return body.error === failures.OUTCOME_UNKNOWN.error ? 'unknown' : 'failed';
}
