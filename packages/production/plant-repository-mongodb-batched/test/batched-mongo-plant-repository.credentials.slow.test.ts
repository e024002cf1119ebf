import { rejects } from 'node:assert/strict';
import { inspect } from 'node:util';
import { errorOf, until } from '@plant-store/contract-suite';
import { type PlantRepository, StoreUnavailableError } from '@plant-store/domain';
import { FaultyNetwork } from '@plant-store/faulty-network';
import { MongodServer } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { clientOf, closeClient, DATABASE, repositories, untilReady } from './support/open-store.js';
import { plant } from './support/plant.js';
import type { StoreEvents } from './support/store-events.js';

// Longer than a test may take, so that a create that waits for its deadline fails the test.
const LONG_LIMIT_MS = 300_000;
/** The driver opens two connections together. */
const LOST_LOG_INS = 2;
const PASSWORD = 's3cret';
const WRONG = 'the user name, the password, authSource or the client certificate is wrong';
const ROLES = [{ role: 'readWrite', db: DATABASE }];
/** The actions on the collection that one more role permits. */
const ACTIONS = ['insert', 'find'];

describeOnMongod('the credentials of the service', () => {
  let server: MongodServer;
  let network: FaultyNetwork;
  let repository: PlantRepository;
  let events: StoreEvents;
  let ids = 0n;
  const openAt = repositories();

  before(async () => {
    server = await MongodServer.start({ args: ['--auth'] });
    await server.command({ createUser: 'root', pwd: PASSWORD, roles: ['root'] });
    const resource = { db: DATABASE, collection: 'plants' };
    const privileges = [{ resource, actions: ACTIONS }];
    await change({ createRole: 'frugal', privileges, roles: [] });
  });

  after(async () => {
    await closeClient(rootUri());
    await server.stop();
  });

  beforeEach(async () => {
    network = await FaultyNetwork.before(server.port, 'saslContinue');
    await change({ createUser: 'writer', pwd: PASSWORD, roles: ROLES });
  });

  afterEach(async () => {
    await network.close();
    await change({ dropUser: 'writer' }).catch(() => undefined);
  });

  const rootUri = () => `mongodb://root:${PASSWORD}@${server.host}/?directConnection=true`;
  const uri = () => `mongodb://writer:${PASSWORD}@${network.host}/?directConnection=true`;

  const change = (command: object) => clientOf(rootUri()).db('admin').command(command);

  function open(connectionString = uri()): void {
    ({ repository, events } = openAt(connectionString, 'plants'));
  }

  function add(): Promise<void> {
    ids += 1n;
    return repository.add(plant(ids, `rose ${ids}`), LONG_LIMIT_MS);
  }

  /** The reported events of the credentials, in order. A slow start may be reported as well. */
  function changes(): string[] {
    return events.all.flatMap((event) => {
      if (event.type === 'store reachable') return ['reachable'];
      const refused =
        event.type === 'store unreachable' && !/not reachable|no plants/.test(event.error.message);
      return refused ? ['refused'] : [];
    });
  }

  /** Plants are refused immediately for this reason, which was reported once, and nothing is revealed. */
  async function expectRefused(why: string): Promise<void> {
    const reason = await errorOf(repository.ready());
    expect(inspect(reason)).to.include(why);
    const refusals = await Promise.all(Array.from({ length: 20 }, add).map(errorOf));
    for (const it of [reason, ...refusals]) expect(it).to.be.instanceOf(StoreUnavailableError);
    expect(inspect([refusals, events.all], { depth: 9 })).to.not.match(/rose|s3cret/);
    expect(changes().filter((it) => it === 'refused')).to.have.length(1);
  }

  it('that are wrong from the start are reported exactly once, and plants are rejected', async () => {
    await change({ updateUser: 'writer', pwd: 'another' });
    open();
    await rejects(add(), StoreUnavailableError);
    await network.requestPassed();
    await expectRefused(WRONG);
    await change({ updateUser: 'writer', pwd: PASSWORD });
    await events.first('store reachable');
    await add();
    await untilReady(repository);
    expect(changes()).to.deep.equal(['refused', 'reachable']);
  });

  it('are sent again on another connection when a login gets no reply', async () => {
    network.loseResponses(...Array<'silence'>(LOST_LOG_INS).fill('silence'));
    open();
    await repository.add(plant(-1n), LONG_LIMIT_MS);
  });

  it('that are removed are reported exactly once, and work when created again', async () => {
    open();
    await Promise.all([add(), add(), add()]);
    await events.first('store reachable');
    await change({ dropUser: 'writer' });
    await rejects(add(), StoreUnavailableError);
    await until(
      async () => changes().includes('refused'),
      () => 'the refusal was not reported',
    );
    await expectRefused(WRONG);
    await change({ createUser: 'writer', pwd: PASSWORD, roles: ROLES });
    await events.first('store reachable', () => changes().length > 2);
    await add();
    expect(changes()).to.deep.equal(['reachable', 'refused', 'reachable']);
  });

  it('that permit only reads and inserts are enough, with a warning', async () => {
    await change({ updateUser: 'writer', roles: ['frugal'] });
    open();
    await untilReady(repository);
    await add();
    const [warning] = events.of('store warning');
    expect(warning).to.have.property('message').that.includes('validator');
    expect(warning).to.have.property('command').that.includes('{"create":"plants","validator":{');
  });
});
