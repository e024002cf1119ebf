// Prints how many objects packages export to import and to require alike.
import { strictEqual } from 'node:assert';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let same = 0;
for (const id of process.argv.slice(2)) {
  const [imported, required] = [await import(id), require(id)];
  strictEqual(Object.keys(imported).join(), Object.keys(required).join());
  for (const name in imported) {
    strictEqual(imported[name], required[name], name);
    same += 1;
  }
}
process.stdout.write(`${same}\n`);
