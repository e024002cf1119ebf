import { execFile } from 'node:child_process';
import { inspect, promisify } from 'node:util';
import { until } from '@plant-store/contract-suite';
import { mocha } from '@plant-store/contract-suite/mocha';
import { type NewPlantFields, StoreUnavailableError } from '@plant-store/domain';
import type { FaultyNetwork } from '@plant-store/faulty-network';
import {
  describePlantReader,
  describePlantRepository,
} from '@plant-store/plant-repository-contract';
import { SecureMongod } from '@plant-store/test-servers/mongod';
import { expect } from 'chai';
import { describeOnMongod } from './support/describe-on-mongod.js';
import {
  clientOf,
  closeClient,
  DATABASE,
  databaseAt,
  freshCollection,
  keptDocuments,
  networkInFrontOf,
  repositories,
} from './support/open-store.js';
import { plant } from './support/plant.js';

const USER = 'plant-store';
const LIMIT_MS = 10_000;
const ENDED_WITHIN_MS = 60_000;

describeOnMongod('in a replica set with users,', () => {
  let server: SecureMongod;
  let network: FaultyNetwork;
  const openAt = repositories();

  before(async () => {
    server = await SecureMongod.start({ tlsOptional: true });
  });

  after(async () => {
    await closeClient(server.administratorUri);
    await server.stop();
  });

  beforeEach(async () => {
    network = await networkInFrontOf(server.port);
    await allow();
  });

  afterEach(() => network.close());

  const administrator = () => clientOf(server.administratorUri);
  const admin = (command: object) =>
    administrator().db('admin').command(command, { readPreference: 'primaryPreferred' });
  const allow = () => admin({ updateUser: USER, roles: [{ role: 'readWrite', db: DATABASE }] });

  /** After a kill, a server is a secondary for a moment. */
  const untilPrimary = () => {
    const isPrimary = () =>
      admin({ hello: 1 })
        .then((it) => it.isWritablePrimary)
        .catch(() => false);
    return until(isPrimary, () => 'the server did not become the primary');
  };

  const withPassword = () =>
    `mongodb://${USER}:${encodeURIComponent(server.password)}@${network.host}/?authSource=admin&directConnection=true`;

  const writeByDefault = async (defaultWriteConcern: object) => {
    await admin({ setDefaultRWConcern: 1, defaultWriteConcern });
  };

  const open = async () => {
    const collection = freshCollection();
    const session = administrator().startSession();
    const plants = databaseAt(server.administratorUri).collection<{ _id: bigint }>(collection);
    const bypass = { bypassDocumentValidation: true };
    let steppedDown = false;
    const reopen = async () => openAt(withPassword(), collection).repository;
    return {
      repository: await reopen(),
      reopen,
      async stored(id: bigint) {
        const [found] = await keptDocuments(server.administratorUri, collection, { _id: id });
        if (found === undefined) return undefined;
        const { _id, mark, ...fields } = found;
        return { id, ...fields } as NewPlantFields;
      },
      stall: async () => network.freeze(),
      silenceAfterWrite: async () => network.loseResponses('freeze'),
      loseNextAcknowledgement: async () => network.loseResponses('cut'),
      delayNextWrite: async () => network.delayRequest(),
      connections: async () => network.connections,
      loseConnections: async () => network.freezeConnections(),
      outage: () => network.cut(),
      secrets: [server.password],
      async refuseAccess() {
        await admin({ updateUser: USER, roles: [] });
        await network.cut();
        await network.restore();
      },
      async refuseWrites() {
        steppedDown = true;
        await admin({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0, force: true });
      },
      async holdUncommitted({ id: _id, ...fields }: NewPlantFields) {
        session.startTransaction();
        await plants.insertOne({ _id, ...fields }, { session, ...bypass });
      },
      relaxDurability: () => writeByDefault({ w: 1, j: false }),
      async commitUnflushed({ id: _id, ...fields }: NewPlantFields) {
        const writeConcern = { w: 1, journal: false };
        await plants.insertOne({ _id, ...fields }, { writeConcern, ...bypass });
      },
      async storeNoPlant(id: bigint) {
        await plants.insertOne({ _id: id, name: 1 } as never, bypass);
      },
      crash: () => server.crash(),
      async recover() {
        if (session.inTransaction()) await session.abortTransaction();
        await network.restore();
        if (steppedDown) await admin({ replSetFreeze: 0 });
        steppedDown = false;
        await untilPrimary();
        await allow();
        await writeByDefault({ w: 'majority' });
      },
    };
  };

  describePlantRepository(mocha, 'mongoPlantRepository', open);
  describePlantReader(mocha, 'mongoPlantRepository', open);

  const overTls = {
    SCRAM: () => `${withPassword()}&${server.tls}`,
    'X.509': () => `mongodb://${network.host}/?directConnection=true&${server.x509}`,
  };
  for (const [mechanism, uri] of Object.entries(overTls)) {
    it(`a store keeps plants over TLS with ${mechanism}, even after outages, and reveals no secret`, async () => {
      const { repository, collection } = openAt(uri());
      await repository.add(plant(1n), LIMIT_MS);
      await network.cut();
      const error = await repository.ready().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(StoreUnavailableError);
      expect(inspect(error, { depth: 9 })).to.not.include(server.password);
      await network.restore();
      await repository.add(plant(2n), LIMIT_MS);
      const kept = await keptDocuments(server.administratorUri, collection);
      expect(kept.map(({ name }) => name)).to.deep.equal(['plant 1', 'plant 2']);
    });
  }

  it('a store lets the process end if it is closed while it reads TLS files', async () => {
    const script = `
      import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
      await mongoPlantRepository({ uri: '${withPassword()}&${server.tls}' }).close();`;
    const args = ['--input-type=module', '-e', script];
    const options = { cwd: import.meta.dirname, timeout: ENDED_WITHIN_MS };
    await promisify(execFile)(process.execPath, args, options);
  });
});
