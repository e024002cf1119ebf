import { rejects } from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { until } from '@plant-store/contract-suite';
import { freePort } from '@plant-store/faulty-network';
import { certificates } from '@plant-store/test-servers/certificates';
import { findMongod, needsMongod } from '@plant-store/test-servers/mongod';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  ownProcesses,
  TOKEN,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { mongosh, typedCredentials } from '../support/mongosh.js';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

const { endAll, run, serve } = ownProcesses();

/** Except that a busy machine makes the database slow, or later reachable than a check waits. */
const WARNING = /"level":"warn"(?!.*is (?:slow|not reachable))/;
const PAGE = 'docs/mongodb.md';
const HOSTS = ['node1.example', 'node2.example', 'node3.example'];

describe('MongoDB in production', () => {
  before(needsMongod);

  it('has three members with access control and TLS; survives a lost primary', async () => {
    const terminal = Terminal.atRoot();
    const hosts = await Promise.all(HOSTS.map(async () => `127.0.0.1:${await freePort()}`));
    const tls = `tls=true&tlsCAFile=${encodeURIComponent(certificates.authority)}`;
    const first = `mongodb://${hosts[0]}/?directConnection=true&${tls}`;
    const set = (user: string, path = '') =>
      `mongodb://${typedCredentials(user)}@${hosts}/${path}?replicaSet=plants&authSource=admin&${tls}`;
    const snippetOf = (beginning: string) => snippet(PAGE, beginning);
    const key = join(terminal.folder, 'key');
    try {
      await terminal.run(withReal(snippetOf('openssl rand'), { '/etc/mongodb/key': key }));
      const files = {
        '/etc/mongodb/key': key,
        '/etc/mongodb/node1.pem': certificates.server,
        '/etc/mongodb/ca.pem': certificates.authority,
      };
      await Promise.all(hosts.map((host) => startMember(terminal, host, files)));
      const real = Object.fromEntries(HOSTS.map((name, at) => [name, hosts[at] ?? '']));
      await mongosh(first, withReal(snippetOf('rs.initiate'), real));
      const isPrimary = async () =>
        (await command(first, 'admin', { hello: 1 })).isWritablePrimary === true;
      await until(isPrimary, () => 'the first member is not primary');
      await mongosh(first, snippetOf("db.getSiblingDB('admin').createUser"));
      const administrator = set('administrator');
      await mongosh(administrator, snippetOf("db.getSiblingDB('admin').createRole"));
      const MONGODB_URI = set('plant-store', 'plant-store');
      await rejects(command(set('nobody'), 'admin', { listDatabases: 1 }), { code: 18 });
      await rejects(command(first, 'plant-store', { find: 'plants' }), { code: 13 });
      await useEveryCommand({ MONGODB_URI, ACCESS_TOKEN_SHA256, ACCESS_TOKEN: TOKEN });
      const { cursor } = await command(administrator, 'plant-store', { listCollections: 1 });
      expect(cursor.firstBatch[0].options).to.have.property('validator');
      const removal = { delete: 'plants', deletes: [{ q: {}, limit: 0 }] };
      await rejects(command(MONGODB_URI, 'plant-store', removal), { code: 13 });
      const service = await serve({
        MONGODB_URI,
        ACCESS_TOKEN_SHA256,
        REQUEST_DEADLINE_MS: '60000',
      });
      await rejects(command(administrator, 'admin', { shutdown: 1, force: true }));
      expect((await createPlant(service.address, 3)).status).to.equal(200);
    } finally {
      endAll();
      await terminal.stop('SIGKILL');
    }
  });
});

/** Checks, creates, imports and exports a plant, without a warning. */
async function useEveryCommand(env: Record<string, string>): Promise<void> {
  const service = await serve(env);
  expect((await createPlant(service.address, 1)).status).to.equal(200);
  const plant = '{"id":2,"name":"Ficus"}\n';
  for (const [args, output] of [
    [['check'], /store.*ready/],
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

async function startMember(
  terminal: Terminal,
  host: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const [address = '', port = ''] = host.split(':');
  const path = join(terminal.folder, port);
  mkdirSync(path);
  const here = withReal(snippet(PAGE, 'mongod --replSet'), {
    ...files,
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
