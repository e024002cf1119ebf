import { rejects } from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { getServers, setServers } from 'node:dns/promises';
import { once } from 'node:events';
import { PlantIdTakenError, StoreUnavailableError } from '@plant-store/domain';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import { MongodServer } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  networkInFrontOf,
  repositories,
  untilNotReady,
  untilReady,
  uriThrough,
} from './support/open-store.js';
import { plant } from './support/plant.js';

const LONG_LIMIT_MS = 50_000;
const STALL_MS = 1_500;

describe('With a name server that never responds', () => {
  const open = repositories();
  const servers = getServers();
  let silent: Socket;

  beforeEach(async () => {
    silent = createSocket('udp4').bind(0, '127.0.0.1');
    await once(silent, 'listening');
    setServers([`127.0.0.1:${silent.address().port}`]);
  });

  afterEach(() => {
    setServers(servers);
    silent.close();
  });

  it('a store says that the SRV record was not resolved in time', async () => {
    const { repository } = open('mongodb+srv://cluster.plants.example/');
    await rejects(repository.ready(), (error: Error) => {
      const reason = 'the SRV record was not resolved in time';
      expect(error).to.have.nested.property('cause.message', reason);
      return true;
    });
  });
});

describeOnMongod('a store whose server is killed or locked, or whose process is busy,', () => {
  let server: MongodServer;
  let network: FaultyNetwork;
  const open = repositories();

  before(async () => {
    server = await MongodServer.stopped();
  });

  after(() => server.stop());

  beforeEach(async () => {
    network = await networkInFrontOf(server.port);
  });

  afterEach(() => network.close());

  it('stores a plant durably that was added before the server started', async () => {
    const { repository, events } = open(uriThrough(network));
    const adding = repository.add(plant(1n), LONG_LIMIT_MS);
    await events.first('store unreachable');
    await rejects(repository.ready(), StoreUnavailableError);
    await server.restart();
    await adding;
    await events.first('store warning', ({ message }) => /standalone/.test(message));
    await server.kill();
    await untilNotReady(repository, 'is not reachable');
    await server.restart();
    await rejects(repository.add(plant(1n), LONG_LIMIT_MS), PlantIdTakenError);
    await untilReady(repository);
    expect(await repository.read({ limit: 10 }, LONG_LIMIT_MS)).to.deep.equal([plant(1n)]);
    expect(events.of('store reachable')).to.have.length(2);
    expect(events.of('store warning')).to.have.length(1);
  });

  it('stores a plant whose reply arrives during a stall past its deadline', async () => {
    if (server.pid === 0) await server.restart();
    // Not through the network, which is a part of this process.
    const { repository } = open(server.uri);
    await untilReady(repository);
    const stall = () => {
      const end = performance.now() + STALL_MS;
      while (performance.now() < end);
    };
    setImmediate(() => setImmediate(stall));
    await repository.add(plant(2n), STALL_MS / 2);
  });
});
