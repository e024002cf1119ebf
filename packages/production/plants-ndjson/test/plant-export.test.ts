import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type NewPlant, newPlant, StoreUnavailableError } from '@plant-store/domain';
import { MemoryPlantReader, type PlantReader } from '@plant-store/plant-reader';
import { exportPages, type PlantExportOptions } from '@plant-store/plants-ndjson';
import { expect } from 'chai';

/** More plants than two pages. */
const MANY = 20_001;

function exportFrom(plants: PlantReader, options: Partial<PlantExportOptions> = {}) {
  return exportPages({
    pages: {
      client: { name: 'reader', permissions: new Set(['read plants']) },
      read: (page, timeLimitMs) => plants.read(page, timeLimitMs),
    },
    timeLimitMs: 1000,
    signal: new AbortController().signal,
    ...options,
  });
}

describe('An export', () => {
  const stored = new Map<bigint, NewPlant>();
  const plants = new MemoryPlantReader(stored);

  before(async () => {
    for (let id = MANY; id > 0; id -= 1) {
      stored.set(BigInt(id), newPlant({ id: BigInt(id), name: `plant ${id}` }));
    }
  });

  /** Reads the first page, and the others like this. */
  const afterFirstPage = (read: () => Promise<never>): PlantReader => ({
    read: (page, limit) => (page.after === undefined ? plants.read(page, limit) : read()),
  });

  for (const [after, limit, from, to] of [
    [undefined, undefined, 1, MANY],
    [newPlant({ id: 7n, name: '' }).id, 3, 8, 10],
    [undefined, 12_345, 1, 12_345],
  ] as const) {
    it(`writes plants ${from} to ${to} in order, in any number of pages`, async () => {
      const limited: PlantReader = {
        read: (page, timeLimitMs) =>
          page.limit < 1 ? expect.fail('no plant') : plants.read(page, timeLimitMs),
      };
      let text = '';
      let count = 0;
      let end: bigint | undefined;
      for await (const page of exportFrom(limited, { after, limit })) {
        text += page.lines;
        count += page.plants;
        end = page.last;
      }
      const ids = Array.from({ length: to - from + 1 }, (_, index) => index + from);
      expect(text).to.equal(ids.map((id) => `{"id":${id},"name":"plant ${id}"}\n`).join(''));
      expect([count, end]).to.deep.equal([to - from + 1, BigInt(to)]);
    });
  }

  it('reads at most one page ahead of what is written', async () => {
    let read = 0;
    const counting: PlantReader = {
      read(...call) {
        read += 1;
        return plants.read(...call);
      },
    };
    const pages = exportFrom(counting);
    await pages.next();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(read).to.equal(2);
    await pages.return(undefined);
  });

  it('stops before the next page, even while the database does not respond', async () => {
    const silent = afterFirstPage(() => new Promise(() => undefined));
    for (const reader of [plants, silent]) {
      const stopping = new AbortController();
      const pages = exportFrom(reader, { signal: stopping.signal });
      await pages.next();
      const next = reader === silent ? pages.next() : undefined;
      stopping.abort(new Error('a signal'));
      await rejects(next ?? pages.next(), /a signal/);
    }
  });

  it('ends normally when it is stopped after its last page', async () => {
    const stopping = new AbortController();
    const pages = exportFrom(plants, { limit: 1, signal: stopping.signal });
    await pages.next();
    stopping.abort();
    expect(await pages.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('fails at a page that cannot be read, and leaves no rejection unhandled', async () => {
    const outage = new StoreUnavailableError('gone');
    const failing = afterFirstPage(() => Promise.reject(outage));
    const pages = exportFrom(failing);
    expect((await pages.next()).value).to.include({ plants: 10_000, last: 10_000n });
    await nextTurn();
    await rejects(pages.next(), outage);

    // The page that was read ahead must not be left unhandled either.
    const unwritten = exportFrom(failing);
    await unwritten.next();
    await unwritten.return(undefined);
    await nextTurn();
  });
});
