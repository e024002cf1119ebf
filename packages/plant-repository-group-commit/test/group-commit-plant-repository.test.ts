import { rejects } from 'node:assert/strict';
import {
  OutcomeUnknownError,
  PlantIdTakenError,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import { expect } from 'chai';
import { GroupCommitPlantRepository } from '../src/group-commit-plant-repository.js';
import type { Finding, InsertResult, PlantStorage } from '../src/plant-storage.js';
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

  it('stores a plant, and leaves no timer', async () => {
    const stored: string[] = [];
    open({
      async insert(batch) {
        stored.push(...batch.send().map(({ plant: { name } }) => name));
        return { outcomes: 'stored' };
      },
    });
    await repository.ready();
    const running = timers();
    await repository.add(monstera, 60_000);
    expect(stored).to.deep.equal(['Monstera']);
    expect(timers()).to.equal(running);
  });

  it('inserts a plant again after a lost reply, and knows its own mark', async () => {
    const marks: string[] = [];
    open({
      async insert(batch) {
        marks.push(...batch.send().map(({ mark }) => mark));
        if (marks.length === 1) throw lost;
        return { outcomes: 'id exists' };
      },
      committedMarks: async () => new Map([[7n, marks[0]]]),
    });
    await repository.add(monstera, 60_000);
    expect(marks).to.deep.equal([marks[0], marks[0]]);
  });

  it('reports what became of a plant', async () => {
    open({ insert: async () => ({ outcomes: 'stored' }), check: () => Promise.reject(lost) });
    await rejects(repository.add(monstera, 10), StorageUnavailableError);
    const sending = (result: Promise<InsertResult>): Partial<PlantStorage> => ({
      insert(batch) {
        batch.send();
        return result;
      },
    });
    open(sending(never));
    await rejects(repository.add(monstera, 10), OutcomeUnknownError);
    open(sending(Promise.resolve({ outcomes: [{ committedMark: 'another' }] })));
    await rejects(repository.add(monstera, 60_000), PlantIdTakenError);
  });

  it('does not send a plant that is larger than the storage accepts', async () => {
    let inserts = 0;
    open({
      maxPlantBytes: 1_000,
      async insert(batch) {
        inserts += batch.send().length;
        return { outcomes: 'stored' };
      },
    });
    await rejects(repository.add(plant(1n, 'x'.repeat(1_000)), 60_000), RangeError);
    await repository.add(monstera, 60_000);
    expect(inserts).to.equal(1);
  });

  it('reads a page again after a failure, until its time limit', async () => {
    const limits = openFailing([lost, lost]);
    expect(await repository.read({ limit: 5 }, 60_000)).to.deep.equal([monstera]);
    expect(limits).to.deep.equal([5, 5, 5]);
    openFailing(Array(100).fill(lost));
    const message = 'the plants could not be read';
    await rejects(repository.read({ limit: 5 }, 150), {
      name: 'StorageUnavailableError',
      message,
      cause: lost,
    });
    await rejects(repository.read({ limit: 5 }, 0), { message: 'there is no time left' });
  });

  it('ends a page at its time limit with the reason, and leaves no timer', async () => {
    open({
      page: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    await repository.ready();
    const running = timers();
    await rejects(repository.read({ limit: 5 }, 20), (error: Error) => {
      expect((error.cause as Error).message).to.equal('the server does not respond');
      return error instanceof StorageUnavailableError;
    });
    expect(timers()).to.equal(running);
  });

  for (const finding of ['credentials', 'refusal'] as const) {
    it(`does not read a page again after a problem of this kind: ${finding}`, async () => {
      const limits = openFailing([lost], finding);
      await rejects(repository.read({ limit: 5 }, 60_000), { cause: lost });
      expect(limits).to.deep.equal([5]);
    });
  }

  it('does not read a page again that has a record which is no plant', async () => {
    const limits = openFailing([new UnreadablePlantError('7')]);
    await rejects(repository.read({ limit: 5 }, 60_000), UnreadablePlantError);
    expect(limits).to.deep.equal([5]);
  });

  it('rejects a page with what the last check has found', async () => {
    open({ check: () => Promise.reject(lost), page: () => Promise.reject(new Error('cut')) });
    const problem = await repository.ready().catch((error: Error) => error);
    expect(problem).to.have.property('cause', lost);
    const failed = await repository.read({ limit: 5 }, 20).catch((error: Error) => error);
    expect(failed).to.equal(problem);
  });

  it('settles every plant before it closes the storage once, and refuses further calls', async () => {
    const order: string[] = [];
    let reply: () => void = () => undefined;
    open({
      async insert(batch) {
        batch.send();
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
    const closing = [repository.close(), repository.close()];
    const closed = { name: 'StorageUnavailableError', message: 'the storage is closed' };
    await rejects(repository.add(monstera, 60_000), closed);
    await rejects(repository.read({ limit: 5 }, 60_000), closed);
    await rejects(repository.ready(), closed);
    reply();
    await Promise.all([adding, ...closing]);
    expect(order).to.deep.equal(['stored', 'closed']);
  });

  it('ends a page when it is closed', async () => {
    const limits = openFailing(Array(100).fill(lost));
    const reading = rejects(repository.read({ limit: 5 }, 60_000), { cause: lost });
    await repository.close();
    await reading;
    expect(limits).to.have.length(1);
  });

  for (const [what, close] of [
    ['never ends', () => never],
    ['fails', () => Promise.reject(lost)],
  ] as const) {
    it(`closes although the close of the storage ${what}`, async () => {
      open({ close });
      await repository.close();
    });
  }
});
