import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  StorageUnavailableError,
  UnreadablePlantError,
} from '@plant-store/domain';
import {
  type Advice,
  type PlantRow,
  type PlantTable,
  type ServerError,
  SqlPlantRepository,
  type StorageEvent,
} from '@plant-store/plant-repository-sql';
import { expect } from 'chai';

/** What a fake server does with one statement: a mark, a result, an error of its own or of the network. */
type Reply = 'own mark' | 'another mark' | 'none' | ServerError['outcome'] | 'lost' | 'silent';

/** Longer than the shortest timer: a limit that has passed already is noticed. */
const RESPONDS_AFTER_MS = 5;

class Reported extends Error {
  readonly outcome: ServerError['outcome'];

  constructor(outcome: ServerError['outcome']) {
    super('quotes Monstera');
    this.outcome = outcome;
  }
}

/** A table that replies from two lists, one for inserts and one for look-ups. The last reply is repeated. */
class FakeTable implements PlantTable<object> {
  readonly place = 'the database at db.example:1';
  readonly released: boolean[] = [];
  readonly inserts: PlantRow[] = [];
  readonly #replies: Record<'insert' | 'look-up', Reply[]>;
  connecting: Promise<object> = Promise.resolve({});
  closed = 0;

  constructor(inserts: Reply[], lookUps: Reply[] = ['none']) {
    this.#replies = { insert: inserts, 'look-up': lookUps };
  }

  connect = () => this.connecting;
  release = (_: object, close: boolean) => this.released.push(close);

  async check(): Promise<Advice> {
    await wait(RESPONDS_AFTER_MS);
    return { message: 'use a newer server' };
  }

  async close(): Promise<void> {
    await wait(RESPONDS_AFTER_MS);
    this.closed += 1;
  }

  async insert(_: object, row: PlantRow): Promise<boolean> {
    this.inserts.push(row);
    return (await this.#reply('insert')) !== 'none';
  }

  page = async (...[_, after, limit]: Parameters<PlantTable<object>['page']>) => {
    const page: readonly NewPlantFields[] = [{ id: after ?? 0n, name: `of ${limit}` }];
    return page;
  };

  async markOf(): Promise<string | undefined> {
    const reply = await this.#reply('look-up');
    if (reply === 'none') return undefined;
    return reply === 'own mark' ? this.inserts[0]?.mark : 'another';
  }

  serverError(error: unknown): ServerError | undefined {
    if (!(error instanceof Reported)) return undefined;
    const denied = { reason: 'the permission SELECT is missing', advice: { message: 'grant it' } };
    const isDenied = error.outcome === 'access denied';
    return { code: 'X1', outcome: error.outcome, ...(isDenied ? denied : {}) };
  }

  async #reply(kind: 'insert' | 'look-up'): Promise<Reply> {
    const replies = this.#replies[kind];
    const reply = (replies.length > 1 ? replies.shift() : replies[0]) ?? 'none';
    if (reply === 'silent') return new Promise(() => undefined);
    await wait(RESPONDS_AFTER_MS);
    if (reply === 'lost') throw new Error('read ECONNRESET');
    if (reply === 'own mark' || reply === 'another mark' || reply === 'none') return reply;
    throw new Reported(reply);
  }
}

const monstera = newPlant({ id: 7n, name: 'Monstera' });
const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

/** Resolves with the code, the message and the message of the cause of an error. */
const problemOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    ({ code, message, cause }) => [code, message, cause?.message],
  );

describe('SqlPlantRepository', () => {
  const open = (table: FakeTable, events: StorageEvent[] = []) =>
    new SqlPlantRepository(
      () => table,
      (event) => events.push(event),
    );

  const reported = 'the database reports X1';
  const taken = ['PLANT_ID_TAKEN', 'a plant with this id exists', undefined];
  const unknown = ['OUTCOME_UNKNOWN', 'the plant may be stored', reported];
  const denied = [
    ...[
      'STORAGE_UNAVAILABLE',
      'the plant is not stored: the permission SELECT is missing',
      reported,
    ],
  ];
  const outcomes: readonly (readonly [string, Reply[], Reply[], unknown[]?])[] = [
    ['its insert is carried out', ['own mark'], []],
    ['the id exists with its own mark', ['lost', 'id exists'], ['own mark']],
    ['the id exists with another mark', ['id exists'], ['another mark'], taken],
    ['the other plant is gone, and its id is free', ['id exists', 'own mark'], ['none']],
    ['the look-up fails once', ['lost', 'id exists'], ['lost', 'own mark']],
    ['access is denied', ['access denied'], [], denied],
    ['the look-up is denied', ['id exists'], ['access denied'], denied],
    ['access is denied after it was stored', ['lost', 'access denied'], ['own mark']],
    ['all access is denied later', ['lost', 'access denied'], ['access denied'], unknown],
    ['it is refused after it was stored', ['lost', 'refused'], ['own mark']],
    ['it is refused after an unclear insert', ['unclear', 'refused'], ['none'], unknown],
    ['it is refused, and the look-up fails', ['lost', 'refused'], ['lost'], unknown],
    ['an outage follows a lost acknowledgement', ['lost', 'not stored'], [], unknown],
    [
      'the server accepts nothing',
      ['not stored'],
      [],
      ['STORAGE_UNAVAILABLE', 'the plant is not stored', reported],
    ],
    [
      'the server does not respond',
      ['silent'],
      [],
      ['OUTCOME_UNKNOWN', 'the plant may be stored', 'the database did not respond in time'],
    ],
    ['the server refuses it', ['refused'], [], [undefined, refusal('X1'), undefined]],
    ['the server drops it', ['none'], [], [undefined, refusal('no row was inserted'), undefined]],
  ];

  function refusal(code: string): string {
    return `the database refuses the plant (${code})`;
  }

  for (const [what, inserts, lookUps, problem] of outcomes) {
    it(`reports the outcome of a plant when ${what}`, async () => {
      const isRepeated = inserts.at(-1) === 'not stored' || inserts.includes('silent');
      const table = new FakeTable([...inserts], [...lookUps]);
      const adding = open(table).add(monstera, isRepeated ? 350.73 : 60_000);
      expect(await problemOf(adding)).to.deep.equal(problem);
      expect(table.inserts.length, 'with pauses between them').to.be.at.most(8);
    });
  }

  it('inserts a plant again with the same mark, and leaves no timer', async () => {
    const table = new FakeTable(['lost', 'own mark']);
    await Promise.resolve();
    const running = timers();
    await open(table).add(monstera, 1_000);
    const [first, second] = table.inserts;
    expect(first?.mark).to.match(/^[0-9a-f-]{36}$/);
    expect(second).to.deep.equal(first);
    expect(timers()).to.be.at.most(running);
  });

  it('has ten connections for plants, and one for `ready`', () => {
    const opened: number[] = [];
    new SqlPlantRepository((connections) => {
      opened.push(connections);
      return new FakeTable([]);
    });
    expect(opened).to.deep.equal([10, 1]);
  });

  for (const [what, reply, released] of [
    ['keeps a connection after a result', 'own mark', false],
    ['keeps a connection after an error of the server', 'access denied', false],
    ['closes a connection on which a statement is not finished', 'silent', true],
  ] as const) {
    it(what, async () => {
      const table = new FakeTable([reply]);
      await problemOf(open(table).add(monstera, reply === 'silent' ? 20.5 : 1_000));
      expect(table.released).to.deep.equal([released]);
    });
  }

  it('sends nothing when there is no time left', async () => {
    const table = new FakeTable(['silent']);
    const problem = ['STORAGE_UNAVAILABLE', 'there is no time left', undefined];
    expect(await problemOf(open(table).add(monstera, 0))).to.deep.equal(problem);
    expect(table.inserts).to.deep.equal([]);
    await rejects(open(table).add(monstera, 0.5), OutcomeUnknownError);
  });

  it('returns a connection that comes too late', async () => {
    const table = new FakeTable(['own mark']);
    const late = new EventTarget();
    table.connecting = once(late, 'connected');
    await rejects(open(table).add(monstera, 10), StorageUnavailableError);
    late.dispatchEvent(new Event('connected'));
    await table.connecting;
    await Promise.resolve();
    expect([table.inserts, table.released]).to.deep.equal([[], [false]]);
  });

  it('reports a refused plant to its observer', async () => {
    const events: StorageEvent[] = [];
    await problemOf(open(new FakeTable(['refused']), events).add(monstera, 1_000));
    const reason = 'a constraint or a trigger of the table, or a limit of the server';
    expect(events).to.deep.equal([{ type: 'plant refused', id: 7n, code: 'X1', reason }]);
  });

  it('reports advice once', async () => {
    const events: StorageEvent[] = [];
    const repository = open(new FakeTable([]), events);
    await repository.ready();
    await repository.ready();
    expect(events).to.deep.equal([{ type: 'storage warning', message: 'use a newer server' }]);
  });

  it('says why it is not ready, with advice', async () => {
    const events: StorageEvent[] = [];
    const table = new FakeTable([]);
    const notReady = 'the database at db.example:1 accepts no plants';
    for (const [outcome, reason, cause] of [
      ['access denied', ': the permission SELECT is missing', undefined],
      ['not stored', '', 'quotes Monstera'],
    ] as const) {
      table.check = () => Promise.reject(new Reported(outcome));
      const problem = ['STORAGE_UNAVAILABLE', `${notReady}${reason}`, cause];
      expect(await problemOf(open(table, events).ready())).to.deep.equal(problem);
    }
    expect(events).to.deep.equal([{ type: 'storage warning', message: 'grant it' }]);
  });

  it('reads a page again after a failure, but not when access is denied or a row is no plant', async () => {
    const table = new FakeTable([]);
    const { page } = table;
    const read = (failures: Error[], limit = 1, timeLimitMs = 1_000) => {
      table.page = async (...call) => {
        await wait(RESPONDS_AFTER_MS);
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return page(...call);
      };
      return open(table).read({ after: monstera.id, limit }, timeLimitMs);
    };
    const lost = new Error('read ECONNRESET');
    expect(await read([lost])).to.deep.equal([{ id: 7n, name: 'of 1' }]);
    expect(await read([], 5_000)).to.deep.equal([{ id: 7n, name: 'of 1000' }]);
    const unreadable = 'the database at db.example:1 cannot be read';
    const unavailable = ['STORAGE_UNAVAILABLE', unreadable, 'read ECONNRESET'];
    expect(await problemOf(read([lost], 1, 60))).to.deep.equal(unavailable);
    const denied = `${unreadable}: the permission SELECT is missing`;
    expect(await problemOf(read([new Reported('access denied')]))).to.deep.equal([
      ...['STORAGE_UNAVAILABLE', denied, reported],
    ]);
    await rejects(read([new UnreadablePlantError('7')]), UnreadablePlantError);
  });

  it('settles every add before it closes both pools, and refuses further calls', async () => {
    const table = new FakeTable(['lost', 'own mark']);
    const repository = open(table);
    let settled = false;
    const adding = repository.add(monstera, 1_000).then(() => {
      settled = true;
    });
    const closing = repository.close();
    const closed = ['STORAGE_UNAVAILABLE', 'the storage is closed', undefined];
    expect(await problemOf(repository.add(monstera, 1_000))).to.deep.equal(closed);
    expect(await problemOf(repository.ready())).to.deep.equal(closed);
    await closing;
    expect([settled, table.closed]).to.deep.equal([true, 2]);
    await adding;
  });
});
