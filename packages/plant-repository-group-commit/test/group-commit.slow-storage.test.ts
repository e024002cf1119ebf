import { expect } from 'chai';
import { GroupCommit } from '../src/group-commit.js';
import type { PlantBatch } from '../src/plant-storage.js';
import { AVAILABLE, LIMITS, plant, storageWith } from './support/storage-with.js';
import { VirtualTime } from './support/virtual-time.js';

const MINUTE = 60_000;
const ROUND_TRIP_MS = 2;

interface Load {
  readonly clients: number;
  readonly timeLimitMs: number;
  /** By the clock. */
  readonly end: number;
}

/** A storage that writes at once, and acknowledges what it has written or found later. */
class SlowStorage {
  /** The numbers of plants of the inserts. */
  readonly sizes: number[] = [];
  maxOpen = 0;
  /** When inserts were sent all of whose plants had been sent before. */
  readonly sentAgainAt: number[] = [];
  readonly #written = new Map<bigint, string>();
  readonly #time: VirtualTime;
  readonly #delayMs: (now: number) => number;
  #open = 0;

  readonly storage = storageWith({
    insert: (batch) => this.#insert(batch),
    committedMarks: async (ids) => new Map([...this.#written].filter(([id]) => ids.includes(id))),
  });

  /** @param delayMs Milliseconds from an insert until its reply, besides the round trip. */
  constructor(time: VirtualTime, delayMs: (now: number) => number) {
    this.#time = time;
    this.#delayMs = delayMs;
  }

  async #insert(batch: PlantBatch) {
    const plants = batch.send();
    const now = this.#time.now();
    this.sizes.push(plants.length);
    this.#open += 1;
    this.maxOpen = Math.max(this.maxOpen, this.#open);
    const known = plants.map(({ plant: { id } }) => this.#written.has(id));
    if (known.every(Boolean)) this.sentAgainAt.push(now);
    for (const { plant, mark } of plants) {
      if (!this.#written.has(plant.id)) this.#written.set(plant.id, `${mark}`);
    }
    await this.#time.wait(ROUND_TRIP_MS + this.#delayMs(now));
    this.#open -= 1;
    return { outcomes: known.map((it) => (it ? ('id exists' as const) : ('stored' as const))) };
  }
}

/** Until the end, clients add a plant each, and the next one when it is stored. */
async function run(
  time: VirtualTime,
  { storage }: SlowStorage,
  { clients, timeLimitMs, end }: Load,
) {
  const plants = new GroupCommit({
    ...{ storage, availability: AVAILABLE, clock: time },
    observer: () => undefined,
  });
  const failures: unknown[] = [];
  let next = 0n;
  let stored = 0;
  const client = async (): Promise<void> => {
    next += 1n;
    await plants.add(plant(next), timeLimitMs).catch((error: unknown) => failures.push(error));
    if (time.now() > end) return;
    stored += 1;
    await client();
  };
  for (let number = 0; number < clients; number += 1) void client();
  await time.runOut(2 * MINUTE);
  return { stored, failures };
}

describe('A slow storage', function () {
  this.timeout(60_000);

  for (const [seconds, clients] of [
    [1, 100],
    [4, 100],
    [8, 100],
    [2, 500],
  ] as const) {
    it(`stores nine tenths of the plants that a plain client would: ${seconds} s, ${clients} clients`, async () => {
      const time = new VirtualTime();
      const slow = new SlowStorage(time, () => seconds * 1_000);
      const { stored, failures } = await run(time, slow, {
        clients,
        timeLimitMs: 15_000,
        end: MINUTE,
      });
      const rounds = Math.floor(MINUTE / (seconds * 1_000 + ROUND_TRIP_MS));
      expect(stored).to.be.at.least(0.9 * clients * rounds);
      expect(failures).to.deep.equal([]);
      expect(slow.maxOpen).to.be.at.most(LIMITS.ordinary + LIMITS.again);
      expect(Math.max(...slow.sentAgainAt)).to.be.at.most(seconds * 1_000 + ROUND_TRIP_MS);
      expect(slow.sentAgainAt).to.have.lengthOf.at.most(2 * LIMITS.again);
    });
  }

  it('that stands still for 20 s stores every plant, with a bounded number of inserts', async () => {
    const time = new VirtualTime();
    const isFrozen = (now: number) => now >= 200 && now < 20_200;
    const frozen = new SlowStorage(time, (now) => (isFrozen(now) ? 20_200 - now : 0));
    const load = { clients: 100, timeLimitMs: MINUTE, end: 20_400 };
    const { failures } = await run(time, frozen, load);
    expect(failures).to.deep.equal([]);
    expect(frozen.maxOpen).to.be.at.most(LIMITS.ordinary + LIMITS.again);
    expect(frozen.sentAgainAt).to.have.lengthOf.at.most(LIMITS.again);
  });
});
