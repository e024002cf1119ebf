import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewPlantFields } from '@plant-store/domain';
import { UnreadablePlantError } from '@plant-store/plant-reader';
import { expect } from 'chai';
import { GroupCommitPlantRepository } from '../src/group-commit-plant-repository.js';
import {
  databaseWith,
  FakePlantDatabase,
  found,
  type Methods,
  plant,
  unsettled,
} from './support/database-with.js';

const never = new Promise<never>(() => undefined);
const lost = new Error('read ECONNRESET');
const monstera = plant(7n, 'Monstera');
const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

describe('A group commit repository', () => {
  let repository: GroupCommitPlantRepository;

  const opened: GroupCommitPlantRepository[] = [];

  afterEach(() => Promise.all(opened.splice(0).map((it) => it.close())));

  function open(methods: Methods): void {
    repository = new GroupCommitPlantRepository(databaseWith(methods));
    opened.push(repository);
  }

  /** Opens a database whose pages end like this. Returns the limits of the pages. */
  function openWith(...pages: (Error | NewPlantFields)[]): number[] {
    const limits: number[] = [];
    open({
      async page({ limit }) {
        limits.push(limit);
        const next = pages.shift() ?? monstera;
        if (next instanceof Error) throw next;
        return [next];
      },
    });
    return limits;
  }

  for (const [what, close] of [
    ['succeeds', async () => undefined],
    ['never ends', () => never],
    ['fails', () => Promise.reject(lost)],
  ] as const) {
    it(`leaves no timer behind if closing its database ${what}`, async () => {
      await Promise.resolve();
      const running = timers();
      open({ close });
      await repository.add(monstera, 60_000);
      expect(await repository.read({ limit: 5 }, 60_000)).to.deep.equal([]);
      await repository.close();
      expect(timers()).to.equal(running);
    });
  }

  it('reads a page again after a failure, while there is time', async () => {
    const limits = openWith(lost, lost);
    expect(await repository.read({ limit: 5 }, 60_000)).to.deep.equal([monstera]);
    expect(limits).to.deep.equal([5, 5, 5]);
    await rejects(repository.read({ limit: 5 }, 0), { message: 'there is no time left' });
  });

  it('reads a page again when half of its time has passed without a reply', async () => {
    let attempts = 0;
    open({
      async page(_, signal) {
        attempts += 1;
        if (attempts > 1) return [monstera];
        await once(signal, 'abort');
        throw signal.reason;
      },
    });
    expect(await repository.read({ limit: 5 }, 1_000)).to.deep.equal([monstera]);
    expect(attempts).to.equal(2);
  });

  it('rejects a page at its time limit with the latest failure', async () => {
    const failing = [lost];
    open({
      page: (_, signal) =>
        new Promise((_resolve, reject) => {
          const failure = failing.shift();
          if (failure) reject(failure);
          else signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    await rejects(repository.read({ limit: 5 }, 150), { code: 'STORE_UNAVAILABLE', cause: lost });
  });

  it('reads no page when its time has passed', async () => {
    const late: boolean[] = [];
    open({
      async page(_, { aborted }) {
        late.push(aborted);
        throw lost;
      },
    });
    await rejects(repository.read({ limit: 5 }, 50), { cause: lost });
    expect(late).to.deep.equal([false]);
  });

  const refused = found('credentials refused', 'refused');
  const unusable = found('unusable', 'it is a view');
  const unreadable = new UnreadablePlantError('7');
  const invalid =
    'the record with the id 8 is not a plant: name must not contain a lone surrogate. Remove it or correct it';
  for (const [what, page, expected] of [
    ['refused credentials', refused, { cause: refused }],
    ['an unusable table', unusable, { cause: unusable }],
    ['an unreadable record', unreadable, unreadable],
    [
      'a record that breaks a domain rule',
      { id: 8n, name: 'a\uD800' },
      { code: 'UNREADABLE_PLANT', message: invalid },
    ],
  ] as const) {
    it(`does not read a page again after ${what}`, async () => {
      const limits = openWith(page);
      await rejects(repository.read({ limit: 5 }, 60_000), expected);
      expect(limits).to.deep.equal([5]);
    });
  }

  it('rejects a page with the problem that the last check has found', async () => {
    open({ check: () => Promise.reject(lost), page: () => Promise.reject(new Error('cut')) });
    const problem = await repository.ready().catch((error: Error) => error);
    expect(problem).to.have.property('cause', lost);
    const failed = await repository.read({ limit: 5 }, 20).catch((error: Error) => error);
    expect(failed).to.equal(problem);
  });

  it('is not ready when it is closed before a check has ended', async () => {
    const check = unsettled<void>();
    open({ check: () => check.promise });
    const asked = rejects(repository.ready(), { message: 'the store is closed' });
    const closed = repository.close();
    check.resolve();
    await Promise.all([asked, closed]);
  });

  it('settles every plant before it closes the database, exactly once', async () => {
    const order: string[] = [];
    const fake = new FakePlantDatabase();
    open({ ...fake.methods, close: async () => void order.push('closed') });
    const adding = repository.add(monstera, 60_000).then(() => order.push('stored'));
    const insert = await fake.insert(0);
    const closing = [repository.close(), repository.close()];
    await nextTurn();
    insert.reply();
    await Promise.all([adding, ...closing]);
    expect(order).to.deep.equal(['stored', 'closed']);
  });
});
