import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutatePackage } from './mutate-package.js';
import { type PackageResult, tableOf } from './report.js';
import { copyWorkspace, removeCopy, root } from './workspace-copy.js';

const USAGE = `npm run mutate -- [options]

Changes the compiled sources at random, one change at a time, in a copy of the workspace, and runs the
tests of the package. Prints each change that no test notices, and a table.

  --package <name>  a folder of packages/; may be repeated (all)
  --sample <n>      the number of changes for each package (30)
  --seed <n>        the seed of the random choice: the same seed and sources give the same sample (1)
  --source <part>   changes only sources whose path contains this
  --without <part>  does not run tests whose path contains this; may be repeated
  --parallel <n>    the number of packages at once, each in a copy of the workspace (1)
`;

/** The exit code for an end by SIGINT. */
const INTERRUPTED = 130;

const { values } = parseArgs({
  options: {
    package: { type: 'string', multiple: true, default: readdirSync(join(root, 'packages')) },
    sample: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    source: { type: 'string', default: '' },
    without: { type: 'string', multiple: true, default: [] },
    parallel: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

function wholeNumber(option: 'sample' | 'seed' | 'parallel'): number {
  const value = Number(values[option]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${option}: expected a whole number, got "${values[option]}"`);
}

async function run(): Promise<void> {
  const stopping = new AbortController();
  process.once('SIGINT', () => {
    process.exitCode = INTERRUPTED;
    stopping.abort();
  });
  const options = {
    ...{ seed: wholeNumber('seed'), sample: wholeNumber('sample') },
    ...{ source: values.source, without: values.without, signal: stopping.signal },
    survived: (description: string) => process.stdout.write(`${description}\n`),
  };
  const remaining = [...values.package];
  const results: PackageResult[] = [];
  const lane = async () => {
    const workspace = await copyWorkspace();
    try {
      for (let name = remaining.shift(); name !== undefined; name = remaining.shift()) {
        results.push(await mutatePackage(workspace, name, options));
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      stopping.abort();
      throw error;
    } finally {
      await removeCopy(workspace);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: wholeNumber('parallel') }, lane));
  process.stdout.write(`\n${tableOf(inOrder(results))}\n`);
  for (const { reason } of lanes.filter((it) => it.status === 'rejected')) throw reason;
}

function inOrder(results: readonly PackageResult[]): PackageResult[] {
  const position = ({ name }: PackageResult) => values.package.indexOf(name);
  return results.toSorted((a, b) => position(a) - position(b));
}

if (values.help) process.stdout.write(USAGE);
else await run();
