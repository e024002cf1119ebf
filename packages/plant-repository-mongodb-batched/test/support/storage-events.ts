import { EventEmitter, once } from 'node:events';
import type { StorageEvent } from '@plant-store/plant-repository-mongodb-batched';

type EventType = StorageEvent['type'];
type EventOf<T extends EventType> = Extract<StorageEvent, { type: T }>;

/** Collects the events of a repository. */
export class StorageEvents {
  readonly all: StorageEvent[] = [];
  readonly #emitter = new EventEmitter();

  readonly observer = (event: StorageEvent): void => {
    this.all.push(event);
    this.#emitter.emit('event');
  };

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.all.filter((event): event is EventOf<T> => event.type === type);
  }

  /** Resolves with the first event of a type, past or future, that fits. */
  async first<T extends EventType>(type: T, fits: (event: EventOf<T>) => boolean = () => true) {
    for (;;) {
      const found = this.of(type).find(fits);
      if (found) return found;
      await once(this.#emitter, 'event');
    }
  }
}
