import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { needsMongod, sharedReplicaSet } from '@plant-store/mongod';
import { endAll, run } from '@plant-store/service-process';
import { expect } from 'chai';
import { stopAll } from '../support/in-process.js';
import {
  CLIENT,
  countsOf,
  KeptPlants,
  nextLineOf,
  numbered,
  PlantFiles,
  plantLine,
  rejectsIn,
  startImport,
  startWithFullDisk,
} from '../support/plant-files.js';

const MANY = 15_000;
const FEW = 5_000;
const MEMORY = { STORAGE: 'memory' };

describe('plant-store import', function () {
  this.timeout(60_000);
  const files = new PlantFiles();

  after(() => files.remove());
  afterEach(stopAll);
  afterEach(endAll);

  it('reads standard input, and is not ended by a SIGHUP', async () => {
    const input = new PassThrough();
    const it = run(['import', '-'], { ...CLIENT, ...MEMORY }, input);
    input.write('[]\n');
    if (it.child.stderr) await once(it.child.stderr, 'data');
    it.child.kill('SIGHUP');
    Readable.from(numbered(10)).pipe(input);
    expect(await it.ended).to.equal(1);
    expect(countsOf(it.stdout())).to.deep.equal({ stored: 10, invalid: 1 });
  });

  it('records each line once, in whole records, when the disk was full and the import is resumed', async () => {
    const file = await files.write(numbered(400, () => '[]\n'));
    const rejects = files.newPath();
    const full = startWithFullDisk(8, ['import', file, '--rejects', rejects], MEMORY);
    expect(await full.ended).to.equal(1);
    const recorded = rejectsIn(rejects).length;
    expect(recorded).to.be.within(1, 399);
    expect(nextLineOf(full.stdout())).to.equal(recorded + 1);

    writeFileSync(rejects, '{"line":', { flag: 'a' });
    const resumed = startImport([file, '--rejects', rejects, '--from-line', '1'], MEMORY);
    expect(await resumed.ended).to.equal(1);
    expect(countsOf(resumed.out)).to.deep.equal({ invalid: 400 - recorded });
    expect(rejectsIn(rejects).map(({ line }) => line)).to.deep.equal(
      Array.from({ length: 400 }, (_, index) => index + 1),
    );
  });

  describe('into a replica set,', () => {
    before(needsMongod);

    let kept: KeptPlants;
    let env: Record<string, string>;

    beforeEach(async () => {
      const { uri } = await sharedReplicaSet();
      const MONGODB_URI = uri.replace('/?', `/import-${randomUUID()}?`);
      env = { MONGODB_URI };
      kept = new KeptPlants(MONGODB_URI);
    });

    afterEach(() => kept.close());

    it('prints only its summary when it succeeds, and the log to standard error', async () => {
      const silent = startImport([await files.write(numbered(1))], env);
      expect(await silent.ended).to.equal(0);
      expect(silent.err).to.equal('');
      const log = { LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
      const lines = numbered(1001, (number) => (number === 1 ? '' : plantLine(number)));
      const it = startImport([await files.write(lines)], { ...env, ...log });
      expect(await it.ended).to.equal(0);
      expect(it.out).to.match(/^stored: 1000\n/);
      expect(it.err)
        .to.match(/^(?:\{.*\}\n)+$/)
        .and.to.include('the storage is reachable');
      expect(await kept.lines()).to.have.property('size', 1001);
    });

    it('ends at once at the second signal, and prints what is unknown and how to resume', async () => {
      const file = await files.write(numbered(2));
      const { child, stderr, stdout, ended } = run(['import', file], {
        ...{ ...CLIENT, MONGODB_URI: 'mongodb://127.0.0.1:1' },
      });
      const reported = async (pattern: RegExp) => {
        while (!pattern.test(stderr())) await once(child.stderr ?? child, 'data');
      };
      await reported(/not reachable/);
      child.kill('SIGINT');
      await reported(/SIGINT: waiting for the plants in progress, at most 10 minutes/);
      child.kill('SIGINT');
      expect(await ended).to.equal(1);
      expect(stdout()).to.equal('');
      expect(stderr()).to.match(
        new RegExp(
          `\nunknown: 2, whose plants may be .*\nTo resume: plant-store import ${file} --from-line 1\n$`,
        ),
      );
    });

    it('stops on SIGTERM, and resumes where it stopped', async () => {
      const file = await files.write(numbered(MANY));
      const first = startImport([file], env);
      await kept.reach(1, first);
      expect(await first.stop()).to.equal(1);
      const nextLine = nextLineOf(first.out);
      expect(countsOf(first.out)).to.deep.equal({ stored: nextLine - 1 });
      expect(await kept.count()).to.equal(nextLine - 1);
      expect(nextLine).to.be.below(MANY);

      const second = startImport([file, '--from-line', `${nextLine}`], env);
      expect(await second.ended).to.equal(0);
      expect(countsOf(second.out)).to.deep.equal({ stored: MANY - nextLine + 1 });
      expect(await kept.lines()).to.have.property('size', MANY);
    });

    it('loses and repeats no plant when it was killed and its file is imported again', async () => {
      const file = await files.write(numbered(FEW));
      const first = run(['import', file], { ...CLIENT, ...env });
      await kept.reach(1, first);
      first.child.kill('SIGKILL');
      expect(await first.ended).to.equal('SIGKILL');

      const rejects = files.newPath();
      const second = startImport([file, '--rejects', rejects], env);
      expect(await second.ended).to.equal(1);
      // Inserts under way may have been stored after the end of the first import.
      const { stored = 0, taken = 0, ...others } = countsOf(second.out);
      expect(others).to.deep.equal({});
      expect(stored + taken).to.equal(FEW);
      expect(taken).to.be.above(0);
      expect(rejectsIn(rejects).filter(({ error }) => error === 4006)).to.have.length(taken);
      expect(await kept.lines()).to.have.property('size', FEW);
      expect(await kept.count()).to.equal(FEW);
    });
  });
});
