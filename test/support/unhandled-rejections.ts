import { inspect } from 'node:util';

const reasons: unknown[] = [];
const note = (reason: unknown) => reasons.push(reason);

function expectNone(): void {
  const [first] = reasons.splice(0).map((it) => inspect(it));
  if (first !== undefined) throw new Error(`a rejected promise was not handled: ${first}`);
}

/** Hooks that fail after a rejected promise that nothing handles. It ends a service, but Mocha 12 ignores it. */
export const mochaHooks = {
  // Mocha removes all listeners after each file that it runs in parallel.
  beforeAll: () => void process.off('unhandledRejection', note).on('unhandledRejection', note),
  afterEach: expectNone,
  afterAll: expectNone,
};
