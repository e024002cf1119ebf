import Mocha from 'mocha';

/** Declares tests in a Mocha of its own, and runs them. Resolves with the failure of each, by its title; `undefined` when it passes, 'pending' when it is skipped. */
export function resultsOf(declare: () => void): Promise<Record<string, string | undefined>> {
  const mocha = new Mocha({ reporter: class extends Mocha.reporters.Base {} });
  mocha.suite.emit('pre-require', {}, '', mocha);
  declare();
  const results: Record<string, string | undefined> = {};
  // These tests look for what is left unhandled, so it must not fail them.
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  return new Promise((resolve) => {
    mocha
      .run(() => {
        mocha.dispose();
        for (const listener of listeners) process.on('unhandledRejection', listener);
        resolve(results);
      })
      .on('pass', ({ title }) => {
        results[title] = undefined;
      })
      .on('pending', ({ title }) => {
        results[title] = 'pending';
      })
      .on('fail', ({ title }, { message }) => {
        results[title] = message;
      });
  });
}
