import { rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StorageUnavailableError, UnreadablePlantError } from '@plant-store/domain';
import { expect } from 'chai';
import { GroupCommitPlantRepository } from '../src/group-commit-plant-repository.js';
import type { Finding, PlantStorage } from '../src/plant-storage.js';
import { plant, storageWith } from './support/storage-with.js';

const never = new Promise<never>(() => undefined);
const lost = new Error('read ECONNRESET');
const monstera = plant(7n, 'Monstera');
const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

describe('A group commit repository', () => {
  let repository: GroupCommitPlantRepository;

  const opened: GroupCommitPlantRepository[] = [];

  afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));

  function open(methods: Partial<PlantStorage>): void {
    repository = new GroupCommitPlantRepository(storageWith(methods));
    opened.push(repository);
  }

  /** Opens a storage whose pages fail in these ways before one is read. Returns the limits of the pages. */
  function openFailing(failures: Error[], finding: Finding = 'no server'): number[] {
    const limits: number[] = [];
    open({
      async page({ limit }) {
        limits.push(limit);
        const failure = failures.shift();
        if (failure) throw failure;
        return [monstera];
      },
      explain: (error) => ({ finding, cause: error as Error }),
    });
    return limits;
  }

  it('stores a plant, reads a page, and leaves no timer when it is closed', async () => {
    await Promise.resolve();
    const running = timers();
    const stored: string[] = [];
    open({
      async insert(batch) {
        stored.push(...batch.take().map(({ plant: { name } }) => name));
        return { outcomes: 'stored' };
      },
    });
    await repository.add(monstera, 60_000);
    expect(stored).to.deep.equal(['Monstera']);
    expect(await repository.read({ limit: 5 }, 60_000)).to.deep.equal([]);
    await repository.close();
    expect(timers()).to.equal(running);
  });

  it('inserts at most 1,000 plants and 4 MiB together', async () => {
    const sizes: number[] = [];
    let reply: () => void = () => undefined;
    const replied = new Promise<void>((resolve) => {
      reply = resolve;
    });
    open({
      async insert(batch) {
        sizes.push(batch.take().length);
        await replied;
        return { outcomes: 'stored' };
      },
    });
    const names = Array.from({ length: 2_000 }, (_, id) => 'r'.repeat(id < 9 ? 2 ** 20 : 1));
    const adding = names.map((name, id) => repository.add(plant(BigInt(id), name), 60_000));
    reply();
    await Promise.all(adding);
    expect([Math.max(...sizes), ...sizes.slice(0, 3)]).to.deep.equal([1_000, 3, 3, 1_000]);
  });

  it('does not send a plant that is larger than the storage accepts', async () => {
    let inserts = 0;
    open({
      maxPlantBytes: 1_000,
      async insert(batch) {
        inserts += batch.take().length;
        return { outcomes: 'stored' };
      },
    });
    await rejects(repository.add(plant(1n, 'x'.repeat(1_000)), 60_000), RangeError);
    await repository.add(monstera, 60_000);
    expect(inserts).to.equal(1);
  });

  it('reads a page again after a failure, while there is time', async () => {
    const limits = openFailing([lost, lost]);
    expect(await repository.read({ limit: 5 }, 60_000)).to.deep.equal([monstera]);
    expect(limits).to.deep.equal([5, 5, 5]);
    await rejects(repository.read({ limit: 5 }, 0), { message: 'there is no time left' });
  });

  for (const [what, failures, reason] of [
    ['that the server does not respond', [], 'the server does not respond'],
    ['the latest failure', [lost], lost.message],
  ] as const) {
    it(`ends a page at its time limit, and reports ${what}`, async () => {
      const failing = [...failures];
      open({
        page: (_, signal) =>
          new Promise((_resolve, reject) => {
            const failure = failing.shift();
            if (failure) reject(failure);
            else signal.addEventListener('abort', () => reject(signal.reason));
          }),
      });
      await rejects(repository.read({ limit: 5 }, 150), (error: Error) => {
        expect((error.cause as Error).message).to.equal(reason);
        return error instanceof StorageUnavailableError;
      });
    });
  }

  for (const [what, failure, finding, expected] of [
    ['refused credentials', lost, 'credentials', { cause: lost }],
    ['an unusable table', lost, 'unusable', { cause: lost }],
    ['a record that is no plant', new UnreadablePlantError('7'), undefined, UnreadablePlantError],
  ] as const) {
    it(`does not read a page again after ${what}`, async () => {
      const limits = openFailing([failure], finding);
      await rejects(repository.read({ limit: 5 }, 60_000), expected);
      expect(limits).to.deep.equal([5]);
    });
  }

  it('reports the id of a record that breaks a rule of the domain, and does not read it again', async () => {
    let pages = 0;
    open({
      async page() {
        pages += 1;
        return [{ id: 8n, name: 'a\uD800' }];
      },
    });
    await rejects(repository.read({ limit: 5 }, 60_000), {
      code: 'UNREADABLE_PLANT',
      message:
        'the record with the id 8 is not a plant: name must not contain a lone surrogate. Remove it or correct it',
    });
    expect(pages).to.equal(1);
  });

  it('rejects a page with what the last check has found', async () => {
    open({ check: () => Promise.reject(lost), page: () => Promise.reject(new Error('cut')) });
    const problem = await repository.ready().catch((error: Error) => error);
    expect(problem).to.have.property('cause', lost);
    const failed = await repository.read({ limit: 5 }, 20).catch((error: Error) => error);
    expect(failed).to.equal(problem);
  });

  it('settles every plant before it closes the storage once', async () => {
    const order: string[] = [];
    let reply: () => void = () => undefined;
    open({
      async insert(batch) {
        batch.take();
        await new Promise<void>((resolve) => {
          reply = resolve;
        });
        order.push('stored');
        return { outcomes: 'stored' };
      },
      close: async () => void order.push('closed'),
    });
    await repository.ready();
    const adding = repository.add(monstera, 60_000);
    await nextTurn();
    const closing = [repository.close(), repository.close()];
    await nextTurn();
    reply();
    await Promise.all([adding, ...closing]);
    expect(order).to.deep.equal(['stored', 'closed']);
  });

  it('ends a page when it is closed', async () => {
    const limits = openFailing(Array(100).fill(lost));
    const reading = rejects(repository.read({ limit: 5 }, 60_000), { cause: lost });
    await nextTurn();
    const attempts = limits.length;
    await repository.close();
    await reading;
    expect(limits).to.have.length(attempts);
  });

  for (const [what, close] of [
    ['never ends', () => never],
    ['fails', () => Promise.reject(lost)],
  ] as const) {
    it(`closes although the close of the storage ${what}`, async () => {
      await Promise.resolve();
      const running = timers();
      open({ close });
      await repository.close();
      expect(timers()).to.equal(running);
    });
  }
});
