import { rejects } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { needsMongod, SecureMongod } from '@plant-store/test-servers/mongod';
import {
  ACCESS_TOKEN_SHA256,
  createPlant,
  ownProcesses,
  TOKEN,
} from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { mongosh, typedCredentials } from '../support/mongosh.js';
import { snippet } from '../support/snippet.js';

const { endAll, run, serve } = ownProcesses();

/** Any warning but the two that a busy machine causes. */
const WARNING = /"level":"warn"(?!.*is (?:slow|not reachable))/;

describe('The role and the user of docs/mongodb.md', function () {
  this.timeout(60_000);
  let server: SecureMongod;

  before(async function () {
    needsMongod.call(this);
    server = await SecureMongod.start();
    await command(server.administratorUri, 'admin', { dropUser: 'plant-store' });
  });

  after(async () => {
    endAll();
    await server?.stop();
  });

  it('are enough for each command, and cannot delete plants', async () => {
    const { administratorUri, host, tls } = server;
    await mongosh(administratorUri, snippet('docs/mongodb.md', "db.getSiblingDB('admin').createR"));
    const user = typedCredentials('plant-store');
    const MONGODB_URI = `mongodb://${user}@${host}/plant-store?replicaSet=plants&authSource=admin&${tls}`;
    await useEveryCommand({ MONGODB_URI, ACCESS_TOKEN_SHA256, ACCESS_TOKEN: TOKEN });
    const { cursor } = await command(administratorUri, 'plant-store', { listCollections: 1 });
    expect(cursor.firstBatch[0].options).to.have.property('validator');
    for (const removal of [
      { delete: 'plants', deletes: [{ q: {}, limit: 0 }] },
      { drop: 'plants' },
    ]) {
      await rejects(command(MONGODB_URI, 'plant-store', removal), { code: 13 });
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
    const running = run(args, env, Readable.from(args[0] === 'import' ? [plant] : []));
    expect(await running.ended, running.stderr()).to.equal(0);
    expect(running.stdout() + running.stderr()).to.match(output);
    expect(running.stdout() + running.stderr()).not.to.match(WARNING);
  }
  expect(service.stdout()).not.to.match(WARNING);
}

async function command(uri: string, database: string, document: Document): Promise<Document> {
  const client = new MongoClient(uri);
  return client
    .db(database)
    .command(document)
    .finally(() => client.close());
}
