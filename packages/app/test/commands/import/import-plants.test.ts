import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { AUDIENCE, OidcIssuer, SCOPE, signingKey } from '@plant-store/oidc-issuer';
import {
  ACCESS_TOKEN_SHA256,
  endAll,
  type Running,
  run,
  sha256,
  TOKEN,
} from '@plant-store/service-process';
import { expect } from 'chai';
import {
  countsOf,
  KeptPlants,
  nextLineOf,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startImport,
  startWithFullDisk,
} from '../../plant-files.js';

const MANY = 30_000;
const files = new PlantFiles();

after(() => files.remove());
afterEach(endAll);

/** Settings that check a file without storing its plants. */
const MEMORY = { STORAGE: 'memory' };

/** Resolves when standard error matches. */
async function reported({ child, stderr }: Running, pattern: RegExp): Promise<void> {
  while (!pattern.test(stderr())) if (child.stderr) await once(child.stderr, 'data');
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('plant-store import', () => {
  it('stores a file, writes the summary to standard output, and ends with 0', async () => {
    const it = startImport([await files.write(numbered(10))], MEMORY);
    expect(await it.ended).to.equal(0);
    expect(it.stdout()).to.match(
      /^stored: 10\ntaken: 0\ninvalid: 0\nunavailable: 0\nunknown: 0\nfailed: 0\n[0-9.]+ s, [0-9,]+ plants a second\n$/,
    );
    expect(it.stderr()).to.equal('');
  });

  it('reads standard input', async () => {
    const env = { ...MEMORY, ACCESS_TOKEN: TOKEN, ACCESS_TOKEN_SHA256 };
    for (const args of [[], ['-']]) {
      const it = run(['import', ...args], env, Readable.from(numbered(10)));
      expect(await it.ended).to.equal(0);
      expect(countsOf(it)).to.deep.equal({ stored: 10 });
    }
  });

  it('ends with 1 when a line was not stored, and records the line so that it can be corrected and imported', async () => {
    const wrong = '{"id":9007199254741000,"name":null}';
    const file = await files.write([plantLine(1), `${wrong}\r\n`, '\r\n', plantLine(1), '[']);
    const rejects = files.newPath();
    const first = startImport([file, '--rejects', rejects], MEMORY);
    expect(await first.ended).to.equal(1);
    expect(countsOf(first)).to.deep.equal({ stored: 1, taken: 1, invalid: 2 });
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
    expect(countsOf(second)).to.deep.equal({ stored: 1 });
  });

  it('prints the lines that were not stored when there is no rejects file', async () => {
    const it = startImport([await files.write(['[]\n'])], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.equal('line 1: 4005, the line must be a JSON object\n');
  });

  it('skips the lines before --from-line, and appends to the rejects of earlier lines', async () => {
    const file = await files.write(['[]\n', plantLine(2), '{}\n']);
    const rejects = files.newPath();
    writeFileSync(rejects, 'of the lines before\n');
    const it = startImport([file, '--from-line', '2', '--rejects', rejects], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(countsOf(it)).to.deep.equal({ stored: 1, invalid: 1 });
    expect(readFileSync(rejects, 'utf8')).to.match(/^of the lines before\n\{"line":3,.*\}\n$/);
  });

  it('accepts lines up to BODY_LIMIT', async () => {
    const file = await files.write([plantLine(1), plantLine(10)]);
    const BODY_LIMIT = `${plantLine(1).length - 1}`;
    const it = startImport([file], { ...MEMORY, BODY_LIMIT });
    expect(await it.ended).to.equal(1);
    expect(countsOf(it)).to.deep.equal({ stored: 1, invalid: 1 });
    expect(it.stderr()).to.equal('line 2: 4003, the line is larger than the limit\n');
  });

  it('reports a file that it cannot read or write, and how to resume', async () => {
    const file = await files.write(['[]\n', plantLine(2)]);
    const it = startImport([file, '--rejects', '/dev/full'], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.match(/^plant-store: import: ENOSPC.*\n$/);
    expect(nextLineOf(it)).to.equal(1);
  });

  it('records each line once, in whole records, when the disk was full and the import is resumed', async () => {
    const file = await files.write(numbered(400, () => '[]\n'));
    const rejects = files.newPath();
    const full = startWithFullDisk(8, ['import', file, '--rejects', rejects], MEMORY);
    expect(await full.ended).to.equal(1);
    const recorded = rejectsIn(rejects).length;
    expect(recorded).to.be.within(1, 399);
    expect(nextLineOf(full)).to.equal(recorded + 1);

    writeFileSync(rejects, '{"line":', { flag: 'a' });
    const resumed = startImport([file, '--rejects', rejects, '--from-line', '1'], MEMORY);
    expect(await resumed.ended).to.equal(1);
    expect(countsOf(resumed)).to.deep.equal({ invalid: 400 - recorded });
    expect(rejectsIn(rejects).map(({ line }) => line)).to.deep.equal(
      Array.from({ length: 400 }, (_, index) => index + 1),
    );
  });

  it('ends with 1 when --from-line is after the end', async () => {
    const file = await files.write(numbered(3));
    const it = startImport([file, '--from-line', '5'], MEMORY);
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.equal(
      'plant-store: import: --from-line 5 is after the end of the input, which has 3 lines\n',
    );
    expect(await startImport([file, '--from-line', '4'], MEMORY).ended).to.equal(0);
  });

  describe('ends with 2, and stores nothing,', () => {
    for (const [what, args, env, problem] of [
      [
        'with an unknown option',
        ['--form-line=1'],
        {},
        /^import: .*'--form-line'\. See plant-store/,
      ],
      [
        'with a token that is refused',
        [],
        { ACCESS_TOKEN: 'a-secret' },
        /ACCESS_TOKEN: expected a t/,
      ],
      [
        'with several problems',
        [],
        { BODY_LIMIT: 'x', ACCESS_TOKEN: '' },
        /BODY_LIMIT: .*\n {2}ACCESS/,
      ],
    ] as const) {
      it(what, async () => {
        const it = startImport(args, { ...MEMORY, ...env });
        expect(await it.ended).to.equal(2);
        expect(it.stdout()).to.equal('');
        const [, reported = ''] = /^plant-store: ([\s\S]*)\n$/.exec(it.stderr()) ?? [];
        expect(reported).to.match(problem);
        expect(reported).not.to.include('a-secret');
      });
    }
  });

  it('ends with 2 when the client may not create plants', async () => {
    const issuer = await OidcIssuer.start(await signingKey('first'));
    try {
      const it = run(['import', await files.write(numbered(2))], {
        ...{ ...MEMORY, ACCESS_TOKEN: await issuer.token('') },
        ...{ JWT_ISSUER: issuer.url, JWT_AUDIENCE: AUDIENCE, JWT_SCOPE: SCOPE },
      });
      expect(await it.ended).to.equal(2);
      expect(it.stdout()).to.equal('');
      expect(it.stderr()).to.equal(
        'plant-store: invalid configuration:\n  ACCESS_TOKEN: expected a token that permits creating plants. Set it to another one\n',
      );
    } finally {
      await issuer.stop();
    }
  });

  it('exits at once at the second signal, and prints the command to resume', async () => {
    const file = await files.write(numbered(2));
    const it = startImport([file], { MONGODB_URI: 'mongodb://127.0.0.1:1' });
    await reported(it, /not reachable/);
    it.child.kill('SIGINT');
    await reported(it, /SIGINT: waiting for the plants in progress\n/);
    it.child.kill('SIGTERM');
    expect(await it.ended).to.equal(1);
    expect(it.stdout()).to.equal('');
    expect(it.stderr()).to.match(
      new RegExp(`\nTo resume: plant-store import ${file} --from-line 1\n$`),
    );
  });

  it('ends with 1 when the token cannot be verified now', async () => {
    const it = run(['import'], {
      ...MEMORY,
      ACCESS_TOKEN: `${part({ alg: 'RS256', kid: '1', typ: 'at+jwt' })}.${part({})}.c2lnbmF0dXJl`,
      JWT_ISSUER: 'http://127.0.0.1:1',
      JWT_AUDIENCE: 'plants',
    });
    expect(await it.ended).to.equal(1);
    expect(it.stderr()).to.match(/plant-store: JWT_ISSUER, JWKS_URL: /);
  });
});

describe('plant-store import, into a replica set,', function () {
  this.timeout(60_000);
  before(needsMongod);

  let kept: KeptPlants;
  let env: Record<string, string>;

  beforeEach(async () => {
    const { uri } = await sharedReplicaSet();
    const MONGODB_URI = uri.replace('/?', `/import-${randomUUID()}?`);
    env = { MONGODB_URI, ACCESS_TOKEN_SHA256: sha256(TOKEN) };
    kept = new KeptPlants(MONGODB_URI);
  });

  afterEach(() => kept.close());

  it('writes the log to standard error, not into the summary', async () => {
    const it = startImport([await files.write(numbered(1000))], env);
    expect(await it.ended).to.equal(0);
    expect(it.stdout()).to.match(/^stored: 1000\n/);
    expect(it.stderr())
      .to.match(/^(?:\{.*\}\n)+$/)
      .and.to.include('the storage is reachable');
    expect(await kept.lines()).to.have.property('size', 1000);
  });

  it('stops on SIGTERM, and resumes where it stopped', async () => {
    const file = await files.write(numbered(MANY));
    const first = startImport([file], env);
    await kept.reach(1, first);
    first.child.kill('SIGTERM');
    expect(await first.ended).to.equal(1);
    const nextLine = nextLineOf(first);
    expect(countsOf(first)).to.deep.equal({ stored: nextLine - 1 });
    expect(await kept.count()).to.equal(nextLine - 1);
    expect(nextLine).to.be.below(MANY);

    const second = startImport([file, '--from-line', `${nextLine}`], env);
    expect(await second.ended).to.equal(0);
    expect(countsOf(second)).to.deep.equal({ stored: MANY - nextLine + 1 });
    expect(await kept.lines()).to.have.property('size', MANY);
  });

  it('loses and repeats no plant when it was killed and its file is imported again', async () => {
    const file = await files.write(numbered(MANY));
    const first = startImport([file], env);
    await kept.reach(1, first);
    first.child.kill('SIGKILL');
    expect(await first.ended).to.equal('SIGKILL');

    const rejects = files.newPath();
    const second = startImport([file, '--rejects', rejects], env);
    expect(await second.ended).to.equal(1);
    // Inserts under way may have been stored after the end of the first import.
    const { stored = 0, taken = 0, ...others } = countsOf(second);
    expect(others).to.deep.equal({});
    expect(stored + taken).to.equal(MANY);
    expect(taken).to.be.above(0);
    expect(rejectsIn(rejects).filter(({ error }) => error === 4006)).to.have.length(taken);
    expect(await kept.lines()).to.have.property('size', MANY);
    expect(await kept.count()).to.equal(MANY);
  });
});
