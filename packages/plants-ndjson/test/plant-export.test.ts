import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  authenticatedClient,
  newPlant,
  type PlantReader,
  ReadPlants,
  StorageUnavailableError,
} from '@plant-store/domain';
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
import { PlantExport, type PlantExportOptions } from '@plant-store/plants-ndjson';
import { expect } from 'chai';

/** More plants than two pages. */
const MANY = 20_001;
const client = authenticatedClient('reader', ['read plants']);

async function stored(count: number): Promise<MemoryPlantRepository> {
  const plants = new MemoryPlantRepository();
  for (let id = count; id > 0; id -= 1) {
    await plants.add(newPlant({ id: BigInt(id), name: `plant ${id}` }), 1000);
  }
  return plants;
}

const linesOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => index + from)
    .map((id) => `{"id":${id},"name":"plant ${id}"}\n`)
    .join('');

function exportFrom(plants: PlantReader, options: Partial<PlantExportOptions> = {}) {
  return new PlantExport({
    readPlants: new ReadPlants(plants),
    client,
    timeLimitMs: 1000,
    ...options,
  });
}

describe('An export', () => {
  let plants: MemoryPlantRepository;
  let text: string;
  const write = async (lines: string) => {
    text += lines;
  };

  before(async () => {
    plants = await stored(MANY);
  });

  beforeEach(() => {
    text = '';
  });

  for (const [after, limit, from, to] of [
    [undefined, undefined, 1, MANY],
    [newPlant({ id: 7n, name: '' }).id, 3, 8, 10],
    [undefined, 10_000, 1, 10_000],
    [undefined, 12_345, 1, 12_345],
  ] as const) {
    it(`writes the plants ${from} to ${to} in order, in any number of pages`, async () => {
      const limited: PlantReader = {
        async read(page, timeLimitMs) {
          expect(page.limit).to.be.at.least(1);
          return plants.read(page, timeLimitMs);
        },
      };
      const it = exportFrom(limited, { after, limit });
      expect(await it.run(write)).to.equal(true);
      expect(text).to.equal(linesOf(from, to));
      expect(it.progress).to.deep.equal({ plants: to - from + 1, last: BigInt(to) });
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
    let proceed = () => {};
    const blocked = () =>
      new Promise<void>((resolve) => {
        proceed = resolve;
      });
    const it = exportFrom(counting);
    const running = it.run(blocked);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(read).to.equal(2);
    it.stop();
    proceed();
    expect(await running).to.equal(false);
    expect(it.progress.plants).to.equal(10_000);
  });

  it('stops while the storage does not respond', async () => {
    const it = exportFrom({ read: () => new Promise(() => undefined) });
    const running = it.run(async () => undefined);
    it.stop();
    expect(await running).to.equal(false);
  });

  it('ends where a read or a write has failed', async () => {
    const outage = new StorageUnavailableError('gone');
    const failing: PlantReader = {
      read: (page, limit) =>
        page.after === undefined ? plants.read(page, limit) : Promise.reject(outage),
    };
    const cut = exportFrom(failing);
    await rejects(cut.run(write), outage);
    expect(cut.progress).to.deep.equal({ plants: 10_000, last: 10_000n });

    const full = new Error('no space');
    const it = exportFrom(failing);
    // Of the page that was read ahead, no rejection is left unhandled.
    await rejects(
      it.run(() => Promise.reject(full)),
      full,
    );
    await nextTurn();
    expect(it.progress).to.deep.equal({ plants: 0, last: undefined });
  });
});
