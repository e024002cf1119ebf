import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import {
  type NewPlantFields,
  newPlant,
  OutcomeUnknownError,
  PlantIdTakenError,
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

  constructor(inserts: Reply[], lookUps: Reply[] = ['none']) {
    this.#replies = { insert: inserts, 'look-up': lookUps };
  }

  connect = () => this.connecting;
  release = (_: object, close: boolean) => this.released.push(close);
  check = async (): Promise<Advice> => ({ message: 'use a newer server' });
  close = async () => undefined;

  async insert(_: object, row: PlantRow): Promise<boolean> {
    this.inserts.push(row);
    return (await this.#reply('insert')) !== 'none';
  }

  page = async (): Promise<readonly NewPlantFields[]> => [];

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
    if (reply === 'lost') throw new Error('read ECONNRESET');
    if (reply === 'own mark' || reply === 'another mark' || reply === 'none') return reply;
    throw new Reported(reply);
  }
}

const monstera = newPlant({ id: 7n, name: 'Monstera' });

describe('SqlPlantRepository', () => {
  const open = (table: FakeTable, events: StorageEvent[] = []) =>
    new SqlPlantRepository(
      () => table,
      (event) => events.push(event),
    );

  const stored = 'is stored';
  const outcomes: readonly (readonly [string, Reply[], Reply[], unknown])[] = [
    ['its insert is carried out', ['own mark'], [], stored],
    ['the id exists with its own mark', ['lost', 'id exists'], ['own mark'], stored],
    ['the id exists with another mark', ['id exists'], ['another mark'], PlantIdTakenError],
    ['the other plant is gone, and its id is free', ['id exists', 'own mark'], ['none'], stored],
    ['the look-up fails once', ['lost', 'id exists'], ['lost', 'own mark'], stored],
    ['access is denied', ['access denied'], [], StorageUnavailableError],
    ['access is denied after it was stored', ['lost', 'access denied'], ['own mark'], stored],
    [
      'all access is denied later',
      ['lost', 'access denied'],
      ['access denied'],
      OutcomeUnknownError,
    ],
    ['it is refused after it was stored', ['lost', 'refused'], ['own mark'], stored],
    [
      'it is refused after an unclear insert',
      ['unclear', 'refused'],
      ['none'],
      OutcomeUnknownError,
    ],
    [
      'an outage begins after a lost acknowledgement',
      ['lost', 'not stored'],
      [],
      OutcomeUnknownError,
    ],
    ['the server accepts nothing', ['not stored'], [], StorageUnavailableError],
    ['the server drops it', ['none'], [], Error],
  ];

  for (const [what, inserts, lookUps, expected] of outcomes) {
    it(`reports the outcome of a plant when ${what}`, async () => {
      // Only an unknown outcome needs the end of the limit.
      const timeLimit = expected === stored ? 10_000 : 350.73;
      const adding = open(new FakeTable([...inserts], [...lookUps])).add(monstera, timeLimit);
      const outcome = await adding.then(
        () => stored,
        (error: Error) => error.constructor,
      );
      expect(outcome).to.equal(expected);
    });
  }

  it('inserts a plant again with the same mark', async () => {
    const table = new FakeTable(['lost', 'own mark']);
    await open(table).add(monstera, 1_000);
    const [first, second] = table.inserts;
    expect(first?.mark).to.match(/^[0-9a-f-]{36}$/);
    expect(second).to.deep.equal(first);
  });

  it('closes a connection on which a statement is not finished, and keeps any other', async () => {
    const stored = new FakeTable(['own mark']);
    await open(stored).add(monstera, 1_000);
    expect(stored.released).to.deep.equal([false]);
    const silent = new FakeTable(['silent']);
    await rejects(open(silent).add(monstera, 20.5), OutcomeUnknownError);
    expect(silent.released).to.deep.equal([true]);
    const denied = new FakeTable(['access denied']);
    await rejects(open(denied).add(monstera, 1_000), StorageUnavailableError);
    expect(denied.released).to.deep.equal([false]);
  });

  it('sends nothing when there is no time left', async () => {
    const table = new FakeTable(['own mark']);
    await rejects(open(table).add(monstera, 0), StorageUnavailableError);
    expect(table.inserts).to.deep.equal([]);
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

  it('quotes no error of the server', async () => {
    const events: StorageEvent[] = [];
    const error = await open(new FakeTable(['refused']), events)
      .add(monstera, 1_000)
      .catch((reason: Error) => reason);
    expect(error).to.have.property('message', 'the database refuses the plant (X1)');
    expect(error).to.not.have.property('cause');
    expect(events).to.have.length(1);
    expect(events[0]).to.include({ type: 'plant refused', id: 7n, code: 'X1' });
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
    table.check = () => Promise.reject(new Reported('access denied'));
    await rejects(open(table, events).ready(), {
      code: 'STORAGE_UNAVAILABLE',
      message: 'the database at db.example:1 accepts no plants: the permission SELECT is missing',
    });
    expect(events).to.deep.equal([{ type: 'storage warning', message: 'grant it' }]);
    table.check = () => Promise.reject(new Reported('not stored'));
    const message = 'the database at db.example:1 accepts no plants';
    await rejects(open(table).ready(), { code: 'STORAGE_UNAVAILABLE', message });
  });

  it('reads a page again after a failure, but not when access is denied or a row is no plant', async () => {
    const table = new FakeTable([]);
    const read = (...failures: Error[]) => {
      table.page = async () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return [monstera];
      };
      return open(table).read({ limit: 1 }, 1_000);
    };
    expect(await read(new Error('read ECONNRESET'))).to.deep.equal([monstera]);
    await rejects(read(new Reported('access denied')), StorageUnavailableError);
    await rejects(read(new UnreadablePlantError('7')), UnreadablePlantError);
  });

  it('settles every add before it closes, and refuses further calls', async () => {
    const table = new FakeTable(['lost', 'own mark']);
    const repository = open(table);
    let settled = false;
    const adding = repository.add(monstera, 1_000).then(() => {
      settled = true;
    });
    const closing = repository.close();
    await rejects(repository.add(monstera, 1_000), StorageUnavailableError);
    await rejects(repository.ready(), StorageUnavailableError);
    await closing;
    expect(settled).to.equal(true);
    await adding;
  });
});
