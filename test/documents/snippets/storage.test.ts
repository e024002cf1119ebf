import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { freePort } from '@plant-store/faulty-network';
import { findMongod, needsMongod, SecureMongod } from '@plant-store/mongod';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  endAll,
  run,
  serve,
  TOKEN,
} from '@plant-store/service-process';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { mongosh, typedCredentials } from '../support/mongosh.js';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

/** Except that a busy machine makes the storage slow, or later reachable than a check waits. */
const WARNING = /"level":"warn"(?!.*is (?:slow|not reachable))/;
/** The role in the place of `readWrite`. */
const LEAST = { "{ role: 'readWrite', db: 'plant-store' }": "'plant-store'" };
const HOSTS = ['node1.example', 'node2.example', 'node3.example'];

describe('The commands of docs/storage.md', () => {
  before(needsMongod);

  for (const [title, isLeast] of [
    ['create a user with the permissions that the service needs', false],
    ['create a role with the least permissions, with which every command works', true],
  ] as const) {
    it(title, async () => {
      const mongod = await SecureMongod.start();
      const { administratorUri: uri, host, tls } = mongod;
      const createUser = snippet('docs/storage.md', "db.getSiblingDB('admin').createUser");
      const createRole = snippet('docs/storage.md', "db.getSiblingDB('admin').createRole");
      try {
        await mongosh(uri, `db.getSiblingDB('admin').runCommand({ dropUser: 'plant-store' })`);
        if (isLeast) await mongosh(uri, createRole);
        await mongosh(uri, isLeast ? withReal(createUser, LEAST) : createUser);
        const options = `replicaSet=plants&authSource=admin&${tls}`;
        const MONGODB_URI = `mongodb://${typedCredentials('plant-store')}@${host}/plant-store?${options}`;
        await useEveryCommand({ MONGODB_URI, ACCESS_TOKEN_SHA256, ACCESS_TOKEN: TOKEN });
        const { cursor } = await command(uri, 'plant-store', { listCollections: 1 });
        expect(cursor.firstBatch[0].options).to.have.property('validator');
      } finally {
        endAll();
        await mongod.stop();
      }
    });
  }

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

/** Checks, creates, imports and exports a plant, without a warning. */
async function useEveryCommand(env: Record<string, string>): Promise<void> {
  const service = await serve(env);
  expect((await createPlant(service.address, 1)).status).to.equal(200);
  const plant = '{"id":2,"name":"Ficus"}\n';
  for (const [args, output] of [
    [['check'], /storage.*ready/],
    [['import'], /stored: 1\n/],
    [['export'], /"id":1.*\n.*"id":2/],
  ] as const) {
    const it = run(args, env, Readable.from(args[0] === 'import' ? [plant] : []));
    expect(await it.ended, it.stderr()).to.equal(0);
    expect(it.stdout() + it.stderr()).to.match(output);
    expect(it.stdout() + it.stderr()).not.to.match(WARNING);
  }
  expect(service.stdout()).not.to.match(WARNING);
}

async function startNode(terminal: Terminal, command: string, host: string): Promise<void> {
  const [address = '', port = ''] = host.split(':');
  const path = join(terminal.folder, port);
  mkdirSync(path);
  const here = withReal(command, {
    'mongod ': `'${await findMongod()}' `,
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
