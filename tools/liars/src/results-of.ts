import Mocha from 'mocha';

/** Declares tests in a Mocha of its own, and runs them. Resolves with the failure of each, by its title; `undefined` when it passes. */
export function resultsOf(declare: () => void): Promise<Record<string, string | undefined>> {
  const mocha = new Mocha({ reporter: class extends Mocha.reporters.Base {} });
  mocha.suite.emit('pre-require', {}, '', mocha);
  declare();
  const results: Record<string, string | undefined> = {};
  return new Promise((resolve) => {
    mocha
      .run(() => resolve(results))
      .on('pass', ({ title }) => {
        results[title] = undefined;
      })
      .on('fail', ({ title }, { message }) => {
        results[title] = message;
      });
  });
}
