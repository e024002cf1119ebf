import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Command, stopAll } from '../support/in-process.js';
import {
  CLIENT,
  countsOf,
  nextLineOf,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startImport,
} from '../support/plant-files.js';

/** Settings that check a file without storing its plants. */
const MEMORY = { STORAGE: 'memory' };

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('plant-store import', () => {
  const files = new PlantFiles();

  after(() => files.remove());
  afterEach(stopAll);

  it('stores a file, writes the summary to standard output, and ends with 0', async () => {
    const it = startImport([await files.write(numbered(10))], MEMORY);
    expect(await it.ended).to.equal(0);
    expect(it.out).to.match(
      /^stored: 10\ntaken: 0\ninvalid: 0\nunavailable: 0\nunknown: 0\nfailed: 0\n[0-9.]+ s, [0-9,]+ plants a second\n$/,
    );
    expect(it.err).to.equal('');
  });

  it('ends with 1 when a line was not stored, and records the line so that it can be corrected and imported', async () => {
    const wrong = '{"id":9007199254741000,"name":null}';
    const file = await files.write([plantLine(1), `${wrong}\r\n`, '\r\n', plantLine(1), '[']);
    const rejects = files.newPath();
    const first = startImport([file, '--rejects', rejects], MEMORY);
    expect(await first.ended).to.equal(1);
    expect(countsOf(first.out)).to.deep.equal({ stored: 1, taken: 1, invalid: 2 });
    const [invalid, taken, broken] = rejectsIn(rejects);
    expect(invalid).to.deep.equal({
      line: 2,
      error: 4005,
      message: 'name must be a string',
      text: wrong,
    });
    expect(taken).to.deep.include({ line: 4, error: 4006 });
    expect(broken).to.deep.include({ line: 5, error: 4004, text: '[' });

    const corrected = await files.write([invalid?.text?.replace('null', '"Monstera"') ?? '']);
    const second = startImport([corrected], MEMORY);
    expect(await second.ended).to.equal(0);
    expect(countsOf(second.out)).to.deep.equal({ stored: 1 });
  });

  it('prints the lines that were not stored when there is no rejects file', async () => {
    const it = startImport([await files.write(['[]\n'])], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.err).to.equal('line 1: 4005, the line must be a JSON object\n');
  });

  it('skips the lines before --from-line, and appends to the rejects of earlier lines', async () => {
    const file = await files.write(['[]\n', plantLine(2), '{}\n']);
    const rejects = files.newPath();
    const before = `${JSON.stringify({ line: 1, error: 4005, message: 'a', text: '[]' })}\n`;
    writeFileSync(rejects, before);
    const it = startImport([file, '--from-line', '2', '--rejects', rejects], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(countsOf(it.out)).to.deep.equal({ stored: 1, invalid: 1 });
    expect(readFileSync(rejects, 'utf8').replace(before, '')).to.match(/^\{"line":3,.*\}\n$/);
  });

  it('accepts lines up to BODY_LIMIT', async () => {
    const file = await files.write([plantLine(1), plantLine(10)]);
    const BODY_LIMIT = `${plantLine(1).length - 1}`;
    const it = startImport([file], { ...MEMORY, BODY_LIMIT });
    expect(await it.ended).to.equal(1);
    expect(countsOf(it.out)).to.deep.equal({ stored: 1, invalid: 1 });
    expect(it.err).to.equal('line 2: 4003, the line is larger than the limit\n');
  });

  it('reports a file that it cannot read or write, and how to resume', async () => {
    const file = await files.write(['[]\n', plantLine(2)]);
    const it = startImport([file, '--rejects', '/dev/full'], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/^plant-store: import: ENOSPC.*\n$/);
    expect(nextLineOf(it.out)).to.equal(1);
  });

  it('ends with 1 when --from-line is after the end', async () => {
    const file = await files.write(numbered(3));
    const it = startImport([file, '--from-line', '5'], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.err).to.equal(
      'plant-store: import: --from-line 5 is after the end of the input, which has 3 lines\n',
    );
    expect(await startImport([file, '--from-line', '4'], MEMORY).ended).to.equal(0);
    expect(await startImport(['/dev/null'], MEMORY).ended).to.equal(0);
  });

  it('stops at a signal, and shows how to resume', async () => {
    const file = await files.write(numbered(10));
    const it = startImport([file], MEMORY);
    expect(await it.stop()).to.equal(1);
    expect(it.err).to.equal(
      'SIGTERM: waiting for the plants in progress, at most 10 minutes. Another signal ends the import now\n',
    );
    expect(it.out).to.match(new RegExp(`\nTo resume: plant-store import ${file} --from-line 1\n$`));
  });

  it('shows its progress on a terminal', async () => {
    const it = startImport([await files.write(numbered(10))], MEMORY);
    Object.assign(it.stderr, { isTTY: true });
    expect(await it.ended).to.equal(0);
    expect(it.err).to.match(/100 % \| 10 plants, .* --from-line 11 \|/);
  });

  it('ends with 2, and stores nothing, with a token that is refused', async () => {
    const it = startImport(['/dev/null'], { ...MEMORY, ACCESS_TOKEN: 'a-secret' });
    expect(await it.ended).to.equal(2);
    expect(it.out).to.equal('');
    expect(it.err)
      .to.match(/ACCESS_TOKEN: expected a t/)
      .and.not.include('a-secret');
  });

  it('ends with 2 when the client may not create plants', async () => {
    const ACCESS_TOKENS_FILE = files.newPath();
    writeFileSync(ACCESS_TOKENS_FILE, `${CLIENT.ACCESS_TOKEN_SHA256} reader [read plants]\n`);
    const { ACCESS_TOKEN } = CLIENT;
    const file = await files.write(numbered(2));
    const it = new Command(['import', file], { ...MEMORY, ACCESS_TOKEN, ACCESS_TOKENS_FILE });
    expect(await it.ended).to.equal(2);
    expect(it.out).to.equal('');
    expect(it.err).to.equal(
      'plant-store: invalid configuration:\n  ACCESS_TOKEN: expected a token that permits creating plants. Set it to another one\n',
    );
  });

  it('ends with 1 when the token cannot be verified now', async () => {
    const it = new Command(['import', '/dev/null'], {
      ...MEMORY,
      ACCESS_TOKEN: `${part({ alg: 'RS256', kid: '1', typ: 'at+jwt' })}.${part({})}.c2lnbmF0dXJl`,
      JWT_ISSUER: 'http://127.0.0.1:1',
      JWT_AUDIENCE: 'plants',
    });
    expect(await it.ended).to.equal(1);
    expect(it.err).to.match(/plant-store: JWT_ISSUER, JWKS_URL: /);
  });
});
