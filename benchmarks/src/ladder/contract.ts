import { setTimeout as pause } from 'node:timers/promises';
import type { Runner } from '@plant-store/contract-suite';
import type { PlantRepository } from '@plant-store/domain';
import { describePlantRepository, type OpenStore } from '@plant-store/plant-repository-contract';
import { FaultyMongod } from '@plant-store/test-servers/mongod';
import type { Implementation } from '../implementations/implementations.js';
import type { Column } from './columns.js';

/** What one case of the contract suite says about an implementation. */
export interface CaseResult {
  readonly title: string;
  /** Why the implementation breaks the promise; `undefined` when it keeps it. */
  readonly failure: string | undefined;
}

type Test = () => Promise<void>;

/** Far longer than a case of an implementation that passes takes. */
const CASE_ENDS_WITHIN_MS = 60_000;

/** Runs the contract suite of `PlantRepository` against an implementation, on a server of its own. */
export async function runContract(implementation: Implementation): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const opened: PlantRepository[] = [];
  let mongod = await FaultyMongod.start();
  const tests = testsOf(implementation.name, async () => {
    const collection = `plants-${results.length}`;
    const { uri } = mongod;
    const reopen = async () => {
      const repository = implementation.open(uri, collection);
      opened.push(repository);
      return repository;
    };
    return { ...mongod.hooks(collection), repository: await reopen(), reopen };
  });
  for (const [title, test] of tests) {
    await mongod.renew();
    const failure = await failureOf(test);
    results.push({ title, failure });
    for (const it of opened.splice(0)) it.close().catch(() => {});
    if (failure !== undefined) {
      // What the case has left behind must not reach the next one.
      await mongod.stop();
      mongod = await FaultyMongod.start();
    }
  }
  await mongod.stop();
  return results;
}

/** Returns the tests that the suite declares, by their titles. */
function testsOf(name: string, open: () => Promise<OpenStore>): ReadonlyMap<string, Test> {
  const tests = new Map<string, Test>();
  const collector: Runner = {
    describe: (_, declare) => declare(),
    it: (title, _, test) => tests.set(title, () => test({ skip: () => skipped(title) })),
  };
  describePlantRepository(collector, name, open);
  return tests;
}

function skipped(title: string): never {
  throw new Error(`every hook is offered, but this is skipped: ${title}`);
}

async function failureOf(test: Test): Promise<string | undefined> {
  const late = pause(CASE_ENDS_WITHIN_MS, 'the case does not end', { ref: false });
  return Promise.race([test().then(() => undefined, String), late]);
}

/** Runs the contract suite against each implementation. Resolves with how many of the cases pass. */
export async function contractColumn(
  implementations: readonly Implementation[],
  say: (line: string) => void,
): Promise<Column> {
  const cells = new Map<string, string>();
  for (const implementation of implementations) {
    const results = await runContract(implementation);
    const failed = results.filter(({ failure }) => failure !== undefined);
    for (const { title, failure } of failed) say(`${implementation.name}: ${title}: ${failure}`);
    cells.set(implementation.name, `${results.length - failed.length} of ${results.length}`);
  }
  return { title: 'cases', cells };
}
