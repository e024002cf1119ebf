import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { contractCases, STORAGE_HOOKS } from '@plant-store/plant-repository-contract';
import { expect } from 'chai';

const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
const suites = fileURLToPath(new URL('support/suites-with-hooks.js', import.meta.url));

interface Report {
  readonly tests: readonly { readonly fullTitle: string }[];
  readonly failures: readonly {
    readonly fullTitle: string;
    readonly err: { readonly message: string };
  }[];
}

/** Mocha's report about suites with and without hooks. Mocha exits with an error, since some tests must fail. */
function report(): Promise<Report> {
  const args = [mocha, '--no-config', '--reporter', 'json', suites];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (_, output) => resolve(JSON.parse(output)));
  });
}

describe('A hook that a PlantRepository under test does not offer', () => {
  const faults = contractCases.filter(({ needs }) => needs !== undefined);
  let tests: string[];
  let failures: string[];
  let messages: string[];

  before(async function () {
    this.timeout(60_000);
    const found = await report();
    tests = found.tests.map(({ fullTitle }) => fullTitle);
    failures = found.failures.map(({ fullTitle }) => fullTitle);
    messages = found.failures.map(({ err }) => err.message);
  });

  const of = (titles: readonly string[], name: string) =>
    titles
      .filter((title) => title.startsWith(`${name} as a PlantRepository `))
      .map((title) => title.slice(`${name} as a PlantRepository `.length));

  const untested = (reason: string) =>
    STORAGE_HOOKS.map((hook) => `is not tested with ${hook}: ${reason}`);

  it('makes every case that needs it fail, unless there is a reason', () => {
    expect(of(failures, 'without reasons')).to.deep.equal(faults.map(({ title }) => title));
  });

  it('is reported with its reason instead of the cases that need it', () => {
    const others = contractCases.filter((it) => !faults.includes(it)).map(({ title }) => title);
    const titles = of(tests, 'with one reason');
    expect(titles).to.deep.equal([...untested('it is simulated'), ...others]);
    expect(of(failures, 'with one reason')).to.deep.equal([]);
  });

  it('fails with an empty reason', () => {
    expect(of(failures, 'with an empty reason')).to.deep.equal(untested(''));
    expect(messages).to.include("the reason: expected '' to not equal ''");
  });

  it('fails with a reason when the store offers the hook', () => {
    const failed = of(failures, 'with a reason and the hook');
    expect(failed).to.deep.equal(['is not tested with stall: it is simulated']);
    expect(messages.join('\n')).to.match(/^stall, which the store offers: /m);
  });

  it('does not keep the suite from closing what it has opened', () => {
    expect(tests).to.include('What the suites have opened is closed');
    expect(failures).not.to.include('What the suites have opened is closed');
  });
});
