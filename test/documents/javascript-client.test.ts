import { rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { root } from '../support/root.js';

const { PlantStoreClient } = await import(
  join(root, 'examples/clients/javascript/plant-store-client.js')
);
const plant = { id: 7n, name: 'Monstera' };
const unavailable = async () => new Response('{"error":5030}', { status: 503 });

describe('The client in JavaScript', () => {
  afterEach(() => mock.restoreAll());

  for (const random of [0.5, 1]) {
    it(`repeats a create for a minute, with random pauses that double (${random})`, async () => {
      let now = 0;
      const pauses: number[] = [];
      mock.method(globalThis, 'fetch', unavailable);
      const limit = mock.method(AbortSignal, 'timeout', () => new AbortController().signal);
      mock.method(Math, 'random', () => random);
      mock.method(performance, 'now', () => now);
      mock.method(globalThis, 'setTimeout', (resolve: () => void, pauseMs: number) => {
        now += pauseMs;
        pauses.push(pauseMs);
        queueMicrotask(resolve);
      });
      await rejects(new PlantStoreClient('http://a', 'token').create(plant));
      const all = Array.from({ length: 10 }, (_, at) => random * 100 * 2 ** (at + 1));
      expect(pauses).to.deep.equal(all.slice(0, random === 1 ? 8 : 9));
      expect(limit.mock.calls[0]?.arguments).to.deep.equal([20_000]);
    });
  }

  it('accepts no id that is not a bigint, whose digits a number would round', async () => {
    const send = mock.method(globalThis, 'fetch', unavailable);
    await rejects(new PlantStoreClient('http://a', 'token').create({ ...plant, id: 7 }), TypeError);
    expect(send.mock.callCount()).to.equal(0);
  });

  it('names the console and CORS_ALLOWED_ORIGINS where a browser hides the reason', async () => {
    mock.method(globalThis, 'fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    const plants = new PlantStoreClient('http://a', 'token', { retryForMs: 0 });
    await rejects(plants.create(plant), /no response: Failed to fetch; .*CORS_ALLOWED_ORIGINS/);
  });
});
