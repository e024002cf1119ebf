import { type Event, explore, type Model, settled } from '@plant-store/explorer';
import { expect } from 'chai';

/** Clients that add 1 to a number, in two steps each. */
class Counter implements Model {
  violation: string | undefined;
  #number = 0;
  readonly #clients: { readonly name: string; read?: number; isDone?: true }[];

  constructor(names = 'AB') {
    this.#clients = [...names].map((name) => ({ name }));
  }

  get state(): string {
    return JSON.stringify([this.#number, this.#clients]);
  }

  usual(): Event | undefined {
    return this.#steps()[0];
  }

  deviations(): Event[] {
    return this.#steps().slice(1);
  }

  end(): void {
    if (this.#number < this.#clients.length) this.violation = `the number is ${this.#number}`;
  }

  #steps(): Event[] {
    const open = this.#clients.filter(({ isDone }) => !isDone);
    return open.map((client) => {
      const { name, read } = client;
      if (read === undefined) {
        const act = () => Object.assign(client, { read: this.#number }) && settled();
        return { name: `${name} reads`, act };
      }
      const act = () => {
        this.#number = read + 1;
        client.isDone = true;
      };
      return { name: `${name} writes`, act };
    });
  }
}

describe('The explorer', () => {
  it('reports the failing history with the fewest deviations, and of these the shortest', async () => {
    const { counterexample } = await explore(() => new Counter(), 3);
    expect(counterexample).to.equal(
      [
        'the number is 1, after these events ("!" is a deviation):',
        '   1. ! B reads',
        '   2.   A reads',
        '   3.   A writes',
        '   4.   B writes',
      ].join('\n'),
    );
    const none = await explore(() => new Counter(), 0);
    expect(none).to.deep.equal({ histories: 1, counterexample: undefined });
  });

  it('tries every order, and explores each state only once', async () => {
    let states = 0;
    class Patient extends Counter {
      override end(): void {}
    }
    /** Mistakes every state for a new one. */
    class Forgetful extends Patient {
      override get state(): string {
        states += 1;
        return `${states}`;
      }
    }
    const orders = await explore(() => new Forgetful(), 4);
    expect(orders).to.deep.equal({ histories: 6, counterexample: undefined });
    expect((await explore(() => new Patient(), 4)).histories).to.be.below(6);
  });
});
