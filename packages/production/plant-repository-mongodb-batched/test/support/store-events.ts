import { EventEmitter, once } from 'node:events';
import type { StoreEvent } from '@plant-store/plant-repository-mongodb-batched';

type EventType = StoreEvent['type'];
type EventOf<T extends EventType> = Extract<StoreEvent, { type: T }>;

export class StoreEvents {
  readonly all: StoreEvent[] = [];
  readonly #emitter = new EventEmitter();

  readonly observer = (event: StoreEvent): void => {
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
