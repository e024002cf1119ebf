import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@plant-store/faulty-network';
import { findMongod, needsMongod, SecureMongod } from '@plant-store/mongod';
import { ACCESS_TOKEN_SHA256, createPlant, endAll, serve } from '@plant-store/service-process';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { mongosh, typedCredentials } from '../support/mongosh.js';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

/** Except that a busy machine makes the storage slow, or later reachable than a check waits. */
const WARNING = /"level":"warn"(?!.*is (?:slow|not reachable))/;
const HOSTS = ['node1.example', 'node2.example', 'node3.example'];

describe('The commands of docs/storage.md', () => {
  before(needsMongod);

  it('create a user with the permissions that the service needs', async () => {
    const mongod = await SecureMongod.start();
    const { administratorUri: uri, host, tls } = mongod;
    try {
      await mongosh(uri, `db.getSiblingDB('admin').runCommand({ dropUser: 'plant-store' })`);
      await mongosh(uri, snippet('docs/storage.md', 'db.getSiblingDB'));
      const options = `replicaSet=plants&authSource=admin&${tls}`;
      const MONGODB_URI = `mongodb://${typedCredentials('plant-store')}@${host}/plant-store?${options}`;
      const service = await serve({ MONGODB_URI, ACCESS_TOKEN_SHA256 });
      expect((await createPlant(service.address, 1)).status).to.equal(200);
      const hasValidator = async () => {
        const { cursor } = await command(uri, 'plant-store', { listCollections: 1 });
        return cursor.firstBatch[0].options.validator !== undefined;
      };
      while (!(await hasValidator()) && !WARNING.test(service.stdout()));
      expect(service.stdout()).not.to.match(WARNING);
    } finally {
      endAll();
      await mongod.stop();
    }
  });

  it('start three nodes, and make them a replica set', async () => {
    const terminal = Terminal.atRoot();
    const hosts = await Promise.all(HOSTS.map(async () => `127.0.0.1:${await freePort()}`));
    const start = snippet('docs/storage.md', 'mongod --replSet');
    const initiate = snippet('docs/storage.md', 'rs.initiate');
    try {
      await Promise.all(hosts.map((host) => startNode(terminal, start, host)));
      const uri = `mongodb://${hosts[0]}/?directConnection=true`;
      const real = Object.fromEntries(HOSTS.map((name, at) => [name, hosts[at] ?? '']));
      await mongosh(uri, withReal(initiate, real));
      const { config } = await command(uri, 'admin', { replSetGetConfig: 1 });
      expect(config.members.map((it: Document) => it.host)).to.deep.equal(hosts);
    } finally {
      await terminal.stop('SIGKILL');
      await terminal.close();
    }
  });
});

async function startNode(terminal: Terminal, command: string, host: string): Promise<void> {
  const [address = '', port = ''] = host.split(':');
  const path = join(terminal.folder, port);
  mkdirSync(path);
  const here = withReal(command, {
    'mongod ': `'${(await findMongod())?.path}' `,
    'localhost,node1.example': address,
    '/var/lib/mongodb': `${path} --port ${port} --nounixsocket`,
  });
  await terminal.start(here).printed(/Waiting for connections/);
}

async function command(uri: string, database: string, document: Document): Promise<Document> {
  const client = new MongoClient(uri);
  return client
    .db(database)
    .command(document)
    .finally(() => client.close());
}
