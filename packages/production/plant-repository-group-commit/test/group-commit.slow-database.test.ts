import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import { Availability } from '../src/availability.js';
import type { PlantFinding } from '../src/finding.js';
import type { GroupCommit } from '../src/group-commit.js';
import type { PlantDatabase } from '../src/plant-database.js';
import {
  type FakeInsert,
  FakePlantDatabase,
  found,
  groupCommitWith,
  LIMITS,
  plant,
} from './support/database-with.js';
import { VirtualTime } from './support/virtual-time.js';

const MINUTE = 60_000;
const CHECKED_MS = 1.5 * MINUTE;
const ROUND_TRIP_MS = 2;
/** After this time, the server replies to a check that it has no majority. */
const CHECK_MS = 1_000;
/** How long a router waits for a lost shard. */
const ROUTER_MS = 10_000;

/** A database that writes immediately, and replies later. It recognises what it has written. */
class SlowDatabase extends FakePlantDatabase {
  /** Milliseconds from an insert until a majority has it, on top of the round trip. A check waits for the same. */
  delayMs = (_now: number) => 0;
  /** Whether the server ends inserts and replies while it is slow. */
  isFrozen = false;
  /** Whether the shard of odd ids is lost, for which a router waits. */
  hasLostShard = false;
  maxOpen = 0;
  /** When inserts were sent all of whose plants had been written before. */
  readonly sentAgainAt: number[] = [];
  readonly #written = new Set<NewPlant>();
  readonly #time: VirtualTime;
  #open = 0;

  constructor(time: VirtualTime) {
    super();
    this.#time = time;
  }

  check(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const neededMs = this.delayMs(this.#time.now());
      const slow = () => reject(found('slow', 'no majority in time'));
      if (neededMs > CHECK_MS && !this.isFrozen) this.#time.after(CHECK_MS, slow);
      else this.#time.after(neededMs + ROUND_TRIP_MS, resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  }

  override onInsert = ({ plants, timeLimitMs, reply }: FakeInsert): void => {
    const now = this.#time.now();
    this.#open += 1;
    this.maxOpen = Math.max(this.maxOpen, this.#open);
    const hasLost = plants.some((it) => this.#isLost(it));
    if (plants.every((it) => this.#written.has(it))) this.sentAgainAt.push(now);
    const findings = plants.map((it) => this.#write(it));
    const neededMs = this.delayMs(now) + (hasLost ? ROUTER_MS : 0);
    const isEnded = neededMs > timeLimitMs && !this.isFrozen;
    this.#time.after(Math.min(neededMs, isEnded ? timeLimitMs : neededMs) + ROUND_TRIP_MS, () => {
      this.#open -= 1;
      reply(isEnded ? 'unknown' : findings);
    });
  };

  #write(plant: NewPlant): PlantFinding {
    if (this.#isLost(plant)) return 'unknown';
    this.#written.add(plant);
    return 'stored';
  }

  #isLost({ id }: NewPlant): boolean {
    return this.hasLostShard && id % 2n !== 0n;
  }
}

describe('A slow database', function () {
  this.timeout(60_000);

  let time: VirtualTime;
  let slow: SlowDatabase;
  let plants: GroupCommit;
  let failures: unknown[];
  let stored: number;

  beforeEach(() => {
    time = new VirtualTime();
    slow = new SlowDatabase(time);
    failures = [];
    stored = 0;
  });

  function openWith(database: PlantDatabase): GroupCommit {
    const closing = new AbortController();
    time.after(CHECKED_MS, () => closing.abort());
    const checked = { ...database, check: (signal: AbortSignal) => slow.check(signal) };
    const observer = () => undefined;
    const options = { database: checked, observer, closing: closing.signal, clock: time };
    const availability = new Availability(options);
    return groupCommitWith({ database, availability, clock: time });
  }

  /** The first check succeeds, and later ones do if they wait for less than their time limit. */
  function becomeSlow(delayMs: number): void {
    slow.delayMs = (now) => (now < 10 ? 0 : delayMs);
    plants = openWith(slow.database);
  }

  /** Until the end, adds a plant with an odd id, and the next one when its outcome is known. */
  async function client(id: number, timeLimitMs: number, end: number): Promise<void> {
    await plants.add(plant(BigInt(id)), timeLimitMs).catch((error) => failures.push(error));
    if (time.now() > end) return;
    stored += 1;
    await client(id + 2_000, timeLimitMs, end);
  }

  for (const [seconds, clients] of [
    [1, 100],
    [8, 100],
  ] as const) {
    it(`stores 90 % of what is possible for ${clients} clients with replies after ${seconds} s`, async () => {
      const delayMs = seconds * 1_000;
      becomeSlow(delayMs);
      for (let id = 1; id < 2 * clients; id += 2)
        time.after(10, () => void client(id, 15_000, MINUTE));
      await time.runOut(2 * MINUTE);
      const rounds = Math.floor(MINUTE / (delayMs + ROUND_TRIP_MS));
      expect(stored).to.be.at.least(0.9 * clients * rounds);
      expect(failures).to.deep.equal([]);
      expect(slow.maxOpen).to.be.at.most(LIMITS.maxInFlight);
      // Until a check has shown that the database is slow, each may be ended after 2 s.
      expect(Math.max(0, ...slow.sentAgainAt)).to.be.below(4_000);
    });
  }

  it('makes plants wait only for replies, not for other inserts', async () => {
    becomeSlow(8_000);
    const durations: number[] = [];
    for (let at = 10; at < 40_000; at += 20) {
      const add = () => plants.add(plant(BigInt(at)), 15_000);
      time.after(at, () => void add().then(() => durations.push(time.now() - at)));
    }
    await time.runOut(2 * MINUTE);
    expect(Math.max(...durations.slice(1_000))).to.be.below(9_000);
    expect(slow.maxOpen).to.be.at.most(2 * LIMITS.maxInFlight);
  });

  it('that pauses for 20 s stores every plant without repeated inserts', async () => {
    slow.delayMs = (now) => (now >= 200 && now < 20_200 ? 20_200 - now : 0);
    slow.isFrozen = true;
    plants = openWith(slow.database);
    for (let id = 1; id < 200; id += 2) void client(id, MINUTE, 20_400);
    await time.runOut(2 * MINUTE);
    expect(failures).to.deep.equal([]);
    expect(slow.maxOpen).to.be.at.most(LIMITS.maxInFlight);
    expect(slow.sentAgainAt).to.deep.equal([]);
  });

  it('that has lost a shard stores the other plants within a second while ten a second fail', async () => {
    slow.hasLostShard = true;
    // Through a router, each plant has an insert of its own.
    plants = openWith({ ...slow.database, maxTogether: 1 });
    const durations: number[] = [];
    for (let at = 1; at < 40_000; at += 10) {
      const add = () => plants.add(plant(BigInt(2 * at)), 15_000);
      time.after(at, () => void add().then(() => durations.push(time.now() - at)));
      if (at % 100 === 1) time.after(at, () => void client(2 * at + 1, 15_000, -1));
    }
    await time.runOut(2 * MINUTE);
    expect(durations).to.have.length(4_000);
    expect(Math.max(...durations)).to.be.below(1_000);
    expect(failures).to.have.length(400);
    expect(slow.maxOpen).to.be.at.most(2 * LIMITS.maxInFlight);
  });
});
