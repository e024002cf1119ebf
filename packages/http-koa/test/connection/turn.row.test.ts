import { expect } from 'chai';
import { Turn } from '../../src/connection/turn.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets promises settle, within the turn. */
const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));

describe('A row of requests', () => {
  let turn: Turn;
  let released: number[];

  beforeEach(() => {
    turn = new Turn();
    released = [];
  });

  function wait(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const number = released.length + left;
      void turn.end().then(() => released.push(number));
    }
  }

  it('waits for the end of the turn', async () => {
    wait(63);
    await tick();
    expect(released).to.have.length(0);
    await nextTurn();
    expect(released).to.have.length(63);
  });

  it('is released early when it has 64 requests', async () => {
    wait(64);
    await tick();
    expect(released).to.have.length(64);
  });

  it('is released early once in a turn, and again in the next one', async () => {
    wait(64);
    await tick();
    wait(64);
    await tick();
    expect(released).to.have.length(64);
    await nextTurn();
    expect(released).to.have.length(128);
    wait(64);
    await tick();
    expect(released).to.have.length(192);
  });

  it('starts again in each turn', async () => {
    wait(1);
    await nextTurn();
    wait(1);
    await tick();
    expect(released).to.have.length(1);
    await nextTurn();
    expect(released).to.have.length(2);
  });
});
