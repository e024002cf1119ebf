import { EventEmitter, once } from 'node:events';
import type { StorageEvent } from '@plant-store/plant-repository-mongodb';

/** Collects the events of a repository. */
export class StorageEvents {
  readonly all: StorageEvent[] = [];
  readonly #emitter = new EventEmitter();

  readonly observer = (event: StorageEvent): void => {
    this.all.push(event);
    this.#emitter.emit('event');
  };

  of<T extends StorageEvent['type']>(type: T): Extract<StorageEvent, { type: T }>[] {
    const isOf = (event: StorageEvent): event is Extract<StorageEvent, { type: T }> =>
      event.type === type;
    return this.all.filter(isOf);
  }

  /** Resolves with the first event of a type, past or future; with the first warning whose message matches `about`. */
  async first<T extends StorageEvent['type']>(
    type: T,
    about = /(?:)/,
    fits: (event: Extract<StorageEvent, { type: T }>) => boolean = () => true,
  ): Promise<StorageEvent> {
    for (;;) {
      const says = (event: StorageEvent) => !('message' in event) || about.test(event.message);
      const found = this.of(type).find((event) => says(event) && fits(event));
      if (found) return found;
      await once(this.#emitter, 'event');
    }
  }

  /** Resolves with the next event of a type. */
  next(type: StorageEvent['type']): Promise<StorageEvent> {
    const reported = this.of(type).length;
    return this.first(type, /(?:)/, () => this.of(type).length > reported);
  }
}
