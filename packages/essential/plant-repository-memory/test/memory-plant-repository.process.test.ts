import { ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

/** Prints how many bytes of the heap each plant takes whose texts are parts of a body of 16 KiB. */
const PROGRAM = `
import { MemoryPlantRepository } from '@plant-store/plant-repository-memory';
const PLANTS = 1_000;
const plants = new MemoryPlantRepository();
const heapUsed = () => (gc(), process.memoryUsage().heapUsed);
const before = heapUsed();
for (let id = 0; id < PLANTS; id += 1) {
  const body = Buffer.alloc(16_384, \`Monstera deliciosa \${id}, \`).toString();
  await plants.add({ id: BigInt(id), name: body.slice(0, 20), tag: body.slice(-20) }, 1_000);
}
process.stdout.write(String((heapUsed() - before) / PLANTS));
await plants.close();
`;

describe('A plant in memory', () => {
  it('does not keep the body that it arrived in', () => {
    const args = ['--expose-gc', '--input-type=module', '--eval', PROGRAM];
    const cwd = import.meta.dirname;
    const bytes = Number(execFileSync(process.execPath, args, { cwd }));
    ok(bytes < 1_000, `it takes ${bytes} bytes`);
  });
});
