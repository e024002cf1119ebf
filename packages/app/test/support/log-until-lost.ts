/**
 * A process that logs at its standard output until a line is lost, and sends the number of lost lines to its parent.
 * Its log goes on writing to the number of that file, which in the process of the tests may become that of another.
 */
import { openServiceLogger } from '../../src/telemetry/logger.js';

const LOG_FORMAT = process.argv[2] === 'json' ? 'json' : 'pretty';
let lost = 0;
const logger = await openServiceLogger({ LOG_FORMAT, LOG_LEVEL: 'info' }, process.stdout, () => {
  lost += 1;
});
// More than the pipe and the log keep.
for (let line = 0; line < 100 && lost === 0; line += 1) {
  logger.info({ padding: 'x'.repeat(20_000) }, 'a line');
}
process.once('disconnect', () => process.exit());
process.send?.(lost);
