import { type Event, type Model, settled } from '@plant-store/explorer';
import type { Exchange } from '../src/http-seats.js';
import type { Seats } from '../src/seats.js';

/** A request on its way to the server, or the response on its way back. */
interface Message {
  readonly guest: string;
  readonly respond: (response: Awaited<ReturnType<Exchange>>) => void;
  readonly lose: (error: Error) => void;
  /** The status of the response; `undefined` until the request has arrived. */
  status?: number;
}

/** Two guests reserve one seat. A deviation is a lost message, or another order. */
export class SeatsModel implements Model {
  violation: string | undefined;
  /** Whose the seat is, on the server. */
  #owner: string | undefined;
  readonly #underWay = new Set<Message>();
  /** What has happened to each guest: that decides what the adapter does next. */
  readonly #seen = new Map<string, string>();
  readonly #results = new Map<string, boolean | string>();

  /** @param seatsWith Returns the adapter under test, which has this model for a network. */
  constructor(seatsWith: (exchange: Exchange) => Seats) {
    const seats = seatsWith(
      (_, { body }) =>
        new Promise((respond, lose) => {
          this.#underWay.add({ guest: `${body}`, respond, lose });
        }),
    );
    for (const guest of ['Ada', 'Grace']) {
      const result = seats.reserve('A1', guest).catch(({ name }: Error) => name);
      void result.then((it) => this.#results.set(guest, it));
    }
  }

  get state(): string {
    const underWay = [...this.#underWay].map(({ guest, status }) => [guest, status]);
    return JSON.stringify([this.#owner, underWay, [...this.#seen]]);
  }

  usual(): Event | undefined {
    return this.#moves()[0];
  }

  deviations(): Event[] {
    const lost = [...this.#underWay].map((it) =>
      this.#leaves(it, 'is lost', () => it.lose(new Error('the connection was closed'))),
    );
    return [...lost, ...this.#moves().slice(1)];
  }

  end(): void {
    for (const [guest, result] of this.#results) {
      const isOwner = this.#owner === guest;
      if (result === !isOwner)
        this.violation = `reserve is ${result} for ${guest}, but A1 is ${this.#owner}'s`;
    }
  }

  #moves(): Event[] {
    return [...this.#underWay].map((it) => {
      const { status, guest } = it;
      if (status !== undefined) {
        const respond = () => it.respond({ status, guest: `${this.#owner}` });
        return this.#leaves(it, 'arrives', respond);
      }
      const act = () => {
        it.status = this.#owner === undefined ? 201 : 200;
        this.#owner ??= guest;
      };
      return { name: `the request of ${guest} arrives`, act };
    });
  }

  #leaves(message: Message, how: string, end: () => void): Event {
    const { guest, status } = message;
    const name = `the ${status === undefined ? 'request of' : 'response to'} ${guest} ${how}`;
    const act = () => {
      this.#underWay.delete(message);
      this.#seen.set(guest, `${this.#seen.get(guest)}, ${name} ${status}`);
      end();
      return settled();
    };
    return { name, act };
  }
}
