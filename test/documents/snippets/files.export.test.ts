import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { newPlantParser } from '@plant-store/plant-json';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/service-process';
import { expect } from 'chai';
import { snippet } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

const ID = '9007199254740993';
const parseNewPlant = newPlantParser('the line');

describe('The commands of docs/files.md for an export', function () {
  this.timeout(60_000);
  const line = snippet('docs/files.md', '{"id"');
  const another = line.replace(ID, '7');
  let terminal: Terminal;
  let uris: readonly string[];

  before(needsMongod);

  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    uris = ['old', 'new'].map((name) => uri.replace('/?', `/${name}-${randomUUID()}?`));
    terminal = Terminal.atRoot();
    terminal.write('token', TOKEN);
    terminal.write('old.env', `MONGODB_URI=${uris[0]}\nMONGODB_COLLECTION=plants\n`);
    terminal.write('new.env', `MONGODB_URI=${uris[1]}\nMONGODB_COLLECTION=moved\n`);
  });
  afterEach(() => terminal.close());

  const run = (commands: string, env = {}) =>
    terminal.run(commands, { ACCESS_TOKEN_SHA256, LOG_LEVEL: 'error', ...env });

  /** Stores plants in the old storage. */
  async function create(lines: string): Promise<void> {
    const plants = mongoPlantRepository({ uri: uris[0] ?? '' });
    for (const text of lines.trim().split('\n')) {
      await plants.add(parseNewPlant(Buffer.from(text)), 10_000);
    }
    await plants.close();
  }

  it('export a file, and one plant, and resume', async () => {
    await create(another + line);
    const env = { MONGODB_URI: uris[0] };
    await run(
      snippet('docs/files.md', 'ACCESS_TOKEN_FILE=token plant-store export > plants.p'),
      env,
    );
    expect(terminal.read('plants.ndjson')).to.equal(another + line);
    const one = snippet('docs/files.md', 'ACCESS_TOKEN_FILE=token plant-store export --limit');
    expect((await run(one, env)).match(/^\{.*$/gm)).to.deep.equal([line.trim()]);
    terminal.write('plants.part', `${another}${line.slice(0, 9)}`);
    await run(snippet('docs/files.md', 'sed ').replaceAll(/\d{5,}/g, '7'), env);
    expect(terminal.read('plants.ndjson')).to.equal(another + line);
  });

  it('move all plants to another storage, and compare both', async () => {
    await create(another);
    const token = { ACCESS_TOKEN_FILE: 'token' };
    await run(snippet('docs/files.md', 'env $(cat old.env) plant-store export > first'), token);
    await create(line);
    await run(snippet('docs/files.md', 'env $(cat old.env) plant-store export > second'), token);
    expect(terminal.read('rest.ndjson')).to.equal(line);
    const copy = snippet('docs/files.md', 'env $(cat new.env) plant-store export > copy');
    const compared = await run(copy, token);
    expect(compared).to.include('the storages are equal');
    expect(terminal.read('copy.ndjson')).to.equal(another + line);
  });

  it('name the variables of both storages', async () => {
    await run(snippet('docs/files.md', 'umask 077'));
    expect(terminal.read('old.env')).to.equal('MONGODB_URI_FILE=mongodb-uri\n');
    expect(terminal.read('new.env')).to.equal('POSTGRESQL_URI_FILE=postgresql-uri\n');
    expect(terminal.read('mongodb-uri')).to.match(/^mongodb:/);
    expect(statSync(join(terminal.folder, 'postgresql-uri')).mode & 0o077).to.equal(0);
  });
});
