import { rejects } from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { newPlantParser } from '@plant-store/plant-json';
import { batchedMongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { newDatabase } from '@plant-store/test-servers/mongod';
import { ACCESS_TOKEN_SHA256, TOKEN } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { BSON } from 'mongodb';
import { findChecker } from '../../../deploy/test/support/checkers.js';
import { snippet, withReal } from '../support/snippet.js';
import { Terminal } from '../support/terminal.js';

const { EJSON, Long, ObjectId } = BSON;
const NUMBER = /\d+$/;
const ID = '9007199254740993';
/** More lines than an import reads ahead. */
const LINES = 5000;
const parseNewPlant = newPlantParser('the line');

describe('The commands of docs/import-and-export.md', function () {
  this.timeout(60_000);
  const block = (beginning: string) => snippet('docs/import-and-export.md', beginning);
  const line = block('{"id"');
  const another = line.replace(ID, '7');
  let terminal: Terminal;

  beforeEach(() => {
    terminal = Terminal.atRoot();
    terminal.write('token', TOKEN);
  });
  afterEach(() => terminal.stop());

  describe('for an import', () => {
    const memory = { STORAGE: 'memory', ACCESS_TOKEN_SHA256 };
    const run = block('ACCESS_TOKEN_FILE=token npx plant-store import plants.ndjson >');

    it('import a file, and show the rejected lines', async function () {
      findChecker(this, 'jq');
      const invalid = block('{"line":2');
      const { text } = JSON.parse(invalid);
      terminal.write('plants.ndjson', `${line}${text}\n${line}`);
      const imported = terminal.start(run, memory);
      expect(await imported.ended, imported.stdout()).to.equal(1);
      expect(terminal.read('rejects.ndjson')).to.include(invalid);
      await terminal.run(block("jq -r 'select(.error !="));
      expect(terminal.read('corrected.ndjson')).to.equal(`${text}\n`);
    });

    it('convert the output of mongoexport without loss', async () => {
      const ids = ['9007199254740993', '-9223372036854775808', '7'];
      const name = '\\ "_id":1, é';
      const expected = ids.map((id) => ({ id, name }));
      const stored = (text: string) =>
        text
          .split('\n')
          .filter(Boolean)
          .map((it) => parseNewPlant(Buffer.from(it).toString('latin1')))
          .map((plant) => ({ id: `${plant.id}`, name: plant.name }));
      const documents = ids.map((id) => ({ _id: Long.fromString(id), name, mark: new ObjectId() }));
      const canonical = documents
        .map((it) => `${EJSON.stringify(it, { relaxed: false })}\n`)
        .join('');
      // The relaxed format of the library for JavaScript would round.
      const relaxed = canonical.replace(/\{"\$numberLong":"(-?\d+)"\}/g, '$1');
      for (const lines of [canonical, relaxed]) {
        terminal.write('mongoexport.ndjson', lines);
        await terminal.run(block('sed -E'));
        expect(stored(terminal.read('plants.ndjson'))).to.deep.equal(expected);
      }
    });

    it('resume an import that was stopped', async () => {
      const [shown = ''] = block('plant-store: import: stopped').split('\n');
      const lines = Array.from({ length: LINES }, (_, at) => withReal(line, { [ID]: `${at}` }));
      await terminal.run('mkfifo plants.ndjson');
      const imported = terminal.start(run, memory);
      // An import that stops may not have read everything.
      const file = createWriteStream(join(terminal.folder, 'plants.ndjson')).on('error', () => {});
      file.write(lines.join(''));
      await imported.printed(/\| --from-line \d+/);
      const { pid = 0 } = imported.child;
      process.kill(-pid, 'SIGINT');
      await imported.printed(/finishing the work in progress/);
      file.destroy();
      await imported.ended;
      const [stopped = ''] = /^plant-store: import: .*$/m.exec(imported.stdout()) ?? [];
      expect(stopped.replace(NUMBER, '')).to.equal(shown.replace(NUMBER, ''));
      const resume = block('ACCESS_TOKEN_FILE=token npx plant-store import plants.ndjson --');
      const [number = ''] = NUMBER.exec(stopped) ?? [];
      await terminal.run('rm plants.ndjson');
      terminal.write('plants.ndjson', lines.join('') + line);
      await terminal.run(withReal(resume, { 412401: number }), memory);
    });
  });

  describe('for an export', () => {
    let uris: readonly string[];

    beforeEach(async function () {
      uris = [await newDatabase(this), await newDatabase(this)];
      terminal.write('mongodb-uri', `${uris[0]}\n`);
      terminal.write('another-mongodb-uri', `${uris[1]}\n`);
    });

    const run = (commands: string, env = {}) =>
      terminal.run(commands, { ACCESS_TOKEN_SHA256, LOG_LEVEL: 'error', ...env });

    async function create(lines: string, uri = uris[0] ?? ''): Promise<void> {
      const plants = batchedMongoPlantRepository({ uri });
      for (const text of lines.trim().split('\n')) {
        await plants.add(parseNewPlant(Buffer.from(text).toString('latin1')), 10_000);
      }
      await plants.close();
    }

    it('export plants to a file, and resume an export', async () => {
      await create(another + line);
      const env = { MONGODB_URI: uris[0] };
      await run(block('ACCESS_TOKEN_FILE=token npx plant-store export > plants.p'), env);
      expect(terminal.read('plants.ndjson')).to.equal(another + line);
      terminal.write('plants.part', `${another}${line.slice(0, 9)}`);
      await run(block("sed '/").replaceAll(/\d{5,}/g, '7'), env);
      expect(terminal.read('plants.ndjson')).to.equal(another + line);
    });

    it('move all plants to another database, and compare both', async () => {
      const real = { 'POSTGRESQL_URI_FILE=postgresql-uri': 'MONGODB_URI_FILE=another-mongodb-uri' };
      const command = withReal(block('bash examples/move-plants.sh'), real);
      const env = { ACCESS_TOKEN_FILE: 'token' };
      for (const plant of [another, line]) {
        await create(plant);
        expect(await run(command, env)).to.include('the databases are equal');
      }
      const copy = await run('npx plant-store export', { ...env, MONGODB_URI: uris[1] });
      expect(copy).to.include(another + line);
      await create(withReal(line, { [ID]: '8' }), uris[1]);
      await rejects(run(command, env), /ended with 1/);
    });
  });
});
