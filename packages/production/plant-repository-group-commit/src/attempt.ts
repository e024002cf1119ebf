import type { NewPlant } from '@plant-store/domain';
import type { Batch } from './batch.js';
import type { GroupCommitOptions } from './group-commit.js';
import type { InsertResult, PlantInsert } from './plant-database.js';

/** One attempt to insert a batch: it waits for a connection, is sent, and ends with or without a reply. */
export class Attempt {
  /** Resolves when its batch knows what it has found. */
  readonly ended: Promise<void>;
  /** Resolves when its reply is late. While it waits for a connection, it is not. */
  readonly late: Promise<void>;
  readonly #batch: Batch;
  readonly #options: GroupCommitOptions;
  /** The plants that were sent; empty until then. */
  #plants: readonly NewPlant[] = [];
  #sentAt = 0;
  #hasEnded = false;

  constructor(batch: Batch, options: GroupCommitOptions) {
    this.#batch = batch;
    this.#options = options;
    const { reply, late } = options.availability.send((lost) => this.#send(lost));
    this.ended = reply.then(
      (result) => this.#end(result),
      (error: unknown) => this.#end({ findings: 'unreachable', error }),
    );
    this.late = late.then(() => (this.#isSent ? undefined : this.ended));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get #isSent(): boolean {
    return this.#plants.length > 0;
  }

  async #send(lost: AbortSignal): Promise<InsertResult> {
    const { availability, tracer, clock } = this.#options;
    const { addError } = availability;
    if (addError) return { findings: 'unusable', error: addError };
    // The first check may find that a setting would make the database lose plants.
    if (!availability.wasReached) await availability.ready();
    const { isOver, insert, plants, deadline } = this.#batch;
    if (isOver) return { findings: 'not now' };
    const timeLimitMs = deadline - clock.now();
    const send = () => insert.send({ timeLimitMs, take: () => this.#take(insert) }, lost);
    if (!tracer) return send();
    const callers = plants.map(({ call }) => call.caller);
    return tracer.run('insert plants', callers, send);
  }

  #take(insert: PlantInsert): readonly NewPlant[] {
    if (this.#isSent) return this.#plants;
    this.#sentAt = this.#options.clock.now();
    this.#plants = this.#batch.take(insert);
    return this.#plants;
  }

  #end(result: InsertResult): void {
    this.#hasEnded = true;
    if (!this.#isSent) {
      this.#batch.countUnsent(result);
      return;
    }
    const { observer, clock } = this.#options;
    const durationMs = clock.now() - this.#sentAt;
    const failure = result.error;
    observer({ type: 'batch written', plants: this.#plants.length, durationMs, failure });
    this.#batch.count(result);
  }
}
