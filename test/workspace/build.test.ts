import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { root, temporaryFolder } from '../support/root.js';

/** Returns how to write files into a folder, which has these scripts of the project, and how to run them there. */
function projectWith(...scripts: string[]) {
  const folder = temporaryFolder();
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
    return join(folder, file);
  };
  for (const script of ['scripts/write-version.js', ...scripts]) {
    write(script, readFileSync(join(root, script), 'utf8'));
  }
  write('package.json', '{"type":"module","version":"1.0.0"}');
  const runScript = (script: string) =>
    spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  return { write, runScript };
}

describe('A build', () => {
  it('removes only the output of sources that no longer exist', () => {
    const script = 'scripts/remove-stale.js';
    const { write, runScript } = projectWith(script);
    const all = (folder: string, files: string) =>
      files.split(' ').map((it) => write(`${folder}/${it}`, ''));
    all('packages/a', 'src/b.ts src/g.cjs test/c/b.test.ts');
    all('test', 'd.ts');
    const kept = [
      ...all('packages/a/dist/src', 'b.js b.d.ts g.cjs g.d.cts build.json'),
      ...all('packages/a/dist/test', 'c/b.test.js tsconfig.tsbuildinfo'),
      ...all('.', 'dist/test/d.js node_modules/e/dist/f.js'),
    ];
    const stale = [
      ...all('packages/a/dist/test', 'b.test.js g.cjs g.d.cts'),
      ...all('.', 'packages/gone/dist/src/b.js dist/test/e.js'),
    ];
    runScript(script);
    expect(kept.filter((file) => !existsSync(file))).to.deep.equal([]);
    expect(stale.filter((file) => existsSync(file))).to.deep.equal([]);
  });
});

describe('npm test', () => {
  it('runs every step, and exits with 0 only if all of them succeed', () => {
    const { write, runScript } = projectWith('scripts/test.js', 'scripts/remove-stale.js');
    const steps = {
      lint: '@biomejs/biome/bin/biome',
      types: 'typescript/bin/tsc',
      tests: 'mocha/bin/mocha.js',
    };
    const resultIf = (failing: string) => {
      for (const [step, program] of Object.entries(steps)) {
        const code = step === failing ? 1 : 0;
        write(`node_modules/${program}`, `console.log('${step}'); process.exitCode = ${code};`);
      }
      const { status, stdout } = runScript('scripts/test.js');
      return [status, ...stdout.trim().split('\n')];
    };
    expect(resultIf('')).to.deep.equal([0, 'lint', 'types', 'tests']);
    for (const step of Object.keys(steps)) {
      expect(resultIf(step)).to.deep.equal([1, 'lint', 'types', 'tests', `failed: ${step}`]);
    }
  });
});

describe('npm start', () => {
  it('builds exactly if a source of the service or its packages has changed since', () => {
    const { write, runScript } = projectWith('scripts/start.js');
    const service = 'packages/production/service';
    write(`${service}/tsconfig.json`, '{"references":[{"path":"../../essential/app"}]}');
    write(`${service}/bin/plant-store.js`, '');
    write('node_modules/typescript/bin/tsc', "console.log('built')");
    const at = (seconds: number, path: string) => utimesSync(path, seconds, seconds);
    for (const changed of [service, 'packages/essential/app']) {
      for (const folder of [service, 'packages/essential/app']) {
        const source = write(`${folder}/src/main.ts`, '');
        const build = write(`${folder}/dist/tsconfig.tsbuildinfo`, '');
        at(1_000, source);
        at(1_000, dirname(source));
        at(2_000, build);
      }
      expect(runScript('scripts/start.js')).to.include({ status: 0, stderr: '' });
      at(3_000, write(`${changed}/src/main.ts`, ''));
      expect(runScript('scripts/start.js')).to.include({ status: 0, stderr: 'built\n' });
    }
  });
});
