import { EventEmitter, once } from 'node:events';
import type { StorageEvent } from '@plant-store/plant-repository-mongodb';

/** Hears what a repository tells of its storage. */
export class StorageEvents {
  readonly all: StorageEvent[] = [];
  readonly #emitter = new EventEmitter();

  readonly observer = (event: StorageEvent): void => {
    this.all.push(event);
    this.#emitter.emit('event');
  };

  of(type: StorageEvent['type']): StorageEvent[] {
    return this.all.filter((event) => event.type === type);
  }

  /** The first event of a type, told already or still to come; of a warning, one that says `about`. */
  async first(type: StorageEvent['type'], about = /(?:)/): Promise<StorageEvent> {
    for (;;) {
      const fits = (event: StorageEvent) => !('message' in event) || about.test(event.message);
      const found = this.of(type).find(fits);
      if (found) return found;
      await once(this.#emitter, 'event');
    }
  }
}
