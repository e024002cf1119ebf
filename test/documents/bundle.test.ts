import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { slowPackage } from '@plant-store/test-servers/programs';
import { postPlant, watch } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { root, temporaryFolder } from '../support/root.js';

/** The usual remedy for CommonJS packages in a bundle that is an ES module. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** Options of esbuild, by the name of the bundle. */
const BUNDLES = {
  // The default of AWS CDK and serverless-esbuild.
  'server.cjs': { format: 'cjs' },
  'server.mjs': { format: 'esm', banner: { js: REQUIRE } },
};

describe('A bundle of examples/embedding/server.ts, in a folder without packages,', function () {
  this.timeout(120_000);

  const folder = temporaryFolder();

  for (const [name, options] of Object.entries(BUNDLES)) {
    it(`creates a plant, and says in the log that it lacks the docs page: ${name}`, async function () {
      const { build } = createRequire(import.meta.url)(slowPackage(this, 'esbuild-wasm'));
      const entryPoints = [join(root, 'examples/embedding/server.ts')];
      const whole = { entryPoints, bundle: true, platform: 'node', logLevel: 'silent' };
      await build({ ...whole, ...options, outfile: join(folder, name) });

      const child = spawn(process.execPath, [name], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      try {
        const server = watch(child);
        const [started] = await server.printed(/^\{.*\}$/m);
        const { port, token } = JSON.parse(started);
        const address = `http://127.0.0.1:${port}`;
        const body = '{"id":9007199254740993,"name":"Monstera"}';
        const created = await postPlant(address, body, { Authorization: `Bearer ${token}` });
        expect(await created.json()).to.deep.equal({ name: 'Monstera' });
        expect((await fetch(`${address}/openapi.yaml`)).status).to.equal(200);
        const warned = once(child.stderr, 'data');
        const page = await fetch(`${address}/docs`);
        expect(await page.json()).to.include({ error: 5000 });
        expect(`${await warned}`).to.include(
          'A bundle does not contain them: set the option `docs`',
        );
      } finally {
        child.kill();
      }
    });
  }
});
