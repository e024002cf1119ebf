// `npm test`: each step runs although another has failed, so that an error of types or of format hides no test: TypeScript
// emits what has errors. Arguments are those of Mocha.
import { spawnSync } from 'node:child_process';

const STEPS = {
  lint: ['@biomejs/biome/bin/biome', 'ci'],
  types: ['typescript/bin/tsc', '-b'],
  tests: ['mocha/bin/mocha.js', '--parallel', '--jobs', '3', ...process.argv.slice(2)],
};

const failed = Object.keys(STEPS).filter((step) => {
  const [program, ...args] = STEPS[step];
  const path = `node_modules/${program}`;
  return spawnSync(process.execPath, [path, ...args], { stdio: 'inherit' }).status !== 0;
});

if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
