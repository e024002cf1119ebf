import { rejects } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { OutcomeUnknownError, StorageUnavailableError } from '@plant-store/domain';
import { MongodServer } from '@plant-store/mongod';
import { MongoPlantRepository, type StorageEvent } from '@plant-store/plant-repository-mongodb';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import { silentServer } from './support/faulty-network.js';
import { plant } from './support/plant.js';

const BRIEF = 300;
const MARGIN = 700;
const READY_WITHIN = 1_000;
const SILENT_AFTER = 1_500;

async function within(limit: number, promise: Promise<unknown>): Promise<void> {
  const started = performance.now();
  await promise;
  expect(performance.now() - started).to.be.below(limit);
}

const CLOSED_PORT = 'mongodb://127.0.0.1:1/';

describe('Without a server that answers', () => {
  it('a plant is unavailable at its deadline, where connections are accepted and nothing is said', async () => {
    const { uri, close } = await silentServer();
    let tell = (_: StorageEvent): void => {};
    const told = new Promise<StorageEvent>((resolve) => {
      tell = resolve;
    });
    const repository = new MongoPlantRepository({ uri, observer: (event) => tell(event) });
    await within(SILENT_AFTER + MARGIN, told);
    expect(await told).to.deep.include({
      type: 'storage unreachable',
      hosts: [new URL(uri).host],
    });
    expect(await told)
      .to.have.nested.property('cause.message')
      .that.includes('has answered yet');
    const adding = repository.add(plant(1n), BRIEF);
    await within(BRIEF + MARGIN, rejects(adding, StorageUnavailableError));
    await within(READY_WITHIN + MARGIN, rejects(repository.ready(), StorageUnavailableError));
    await within(MARGIN, repository.close());
    await close();
  });

  it('a plant is unavailable at its deadline, where connections are refused', async () => {
    const events: StorageEvent[] = [];
    const observer = (event: StorageEvent) => events.push(event);
    const repository = new MongoPlantRepository({ uri: CLOSED_PORT, observer });
    const adding = repository.add(plant(1n), BRIEF);
    await within(BRIEF + MARGIN, rejects(adding, StorageUnavailableError));
    await within(READY_WITHIN + MARGIN, rejects(repository.ready(), StorageUnavailableError));
    await within(MARGIN, repository.close());
    expect(events.filter(({ type }) => type === 'storage unreachable')).to.have.length(1);
  });

  it('the name of a cluster that cannot be resolved is told, not thrown', async () => {
    const events: StorageEvent[] = [];
    const uri = 'mongodb+srv://user:secret@cluster.plants.invalid/';
    const observer = (event: StorageEvent) => events.push(event);
    const repository = new MongoPlantRepository({ uri, observer });
    await rejects(repository.add(plant(1n), BRIEF), StorageUnavailableError);
    await within(MARGIN, repository.close());
    const [unreachable] = events;
    expect(unreachable).to.have.nested.property('cause.message').that.does.not.include('secret');
  });

  it('close lets what is under way come to its deadline', async () => {
    const repository = new MongoPlantRepository({ uri: CLOSED_PORT });
    const adding = rejects(repository.add(plant(1n), BRIEF), StorageUnavailableError);
    await within(BRIEF + MARGIN, repository.close());
    await adding;
  });
});

describeOnMongod('With a server that comes and goes', () => {
  let server: MongodServer;
  let repository: MongoPlantRepository;
  const events: StorageEvent[] = [];

  before(async () => {
    server = await MongodServer.start();
    await server.kill();
    const uri = `mongodb://${server.host}/`;
    repository = new MongoPlantRepository({ uri, observer: (event) => events.push(event) });
  });

  after(async () => {
    server.thaw();
    await repository.close();
    await server.stop();
  });

  it('a plant that was added before the server was started is stored', async () => {
    const adding = repository.add(plant(1n), 9_000);
    await rejects(repository.ready(), StorageUnavailableError);
    await server.restart();
    await adding;
    await untilReady();
  });

  it('a warning says that it is a standalone one', () => {
    const warnings = events.filter(({ type }) => type === 'storage warning');
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.have.property('message').that.includes('standalone');
  });

  it('a plant whose insert was sent to a frozen server is unknown, one that waits is unavailable', async () => {
    server.freeze();
    const sent = repository.add(plant(2n), BRIEF);
    const waiting = repository.add(plant(3n), BRIEF);
    await within(
      BRIEF + MARGIN,
      Promise.all([rejects(sent, OutcomeUnknownError), rejects(waiting, StorageUnavailableError)]),
    );
    await within(READY_WITHIN + MARGIN, rejects(untilNotReady(), StorageUnavailableError));
  });

  it('plants are stored again when the server goes on', async () => {
    server.thaw();
    await repository.add(plant(3n), 9_000);
    await repository.add(plant(4n), 9_000);
  });

  /** Answers count for a second: until then the last one is heard again. */
  async function untilNotReady(): Promise<never> {
    for (;;) {
      await repository.ready();
      await setImmediate();
    }
  }

  async function untilReady(): Promise<void> {
    while (
      !(await repository.ready().then(
        () => true,
        () => false,
      ))
    )
      await setImmediate();
  }
});
