import Mocha from 'mocha';

/** Mocha's report, followed by one line with the counts, for people and scripts. */
class ClosingLineReporter extends Mocha.reporters.Spec {
  override done(failures: number, finish?: (failures: number) => void): void {
    const { passes = 0, failures: failed = 0, pending = 0 } = this.stats ?? {};
    const skipped = pending > 0 ? `, ${pending} skipped` : '';
    process.stdout.write(`${passes} passed, ${failed} failed${skipped}\n`);
    finish?.(failures);
  }
}

// Mocha loads a reporter through the default export of its module.
// biome-ignore lint/style/noDefaultExport: see above
export default ClosingLineReporter;
