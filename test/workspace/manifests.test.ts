import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readManifest } from '../manifest.js';
import { root } from '../root.js';

describe('A package', () => {
  const { version, engines } = readManifest(root);

  for (const name of readdirSync(join(root, 'packages'))) {
    it(`has a README and the fields that npm shows: ${name}`, () => {
      const folder = join(root, 'packages', name);
      const manifest = readManifest(folder);
      expect(manifest).to.include({ version, license: 'MIT', type: 'module' });
      expect(manifest).to.have.property('description').that.is.a('string');
      expect(manifest).to.have.deep.property('engines', engines);
      expect(manifest).to.have.nested.property('scripts.prepack');
      const readme = readFileSync(join(folder, 'README.md'), 'utf8').split('\n');
      expect(readme.slice(0, 2)).to.deep.equal([`# ${manifest.name}`, '']);
    });
  }
});

describe('npm ci --omit=dev --omit=optional', () => {
  it('does not install TypeScript, an optional peer dependency of valibot', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const compilers = Object.entries<{ dev?: boolean; devOptional?: boolean }>(packages).filter(
      ([path]) => /(?:^|\/)node_modules\/typescript$/.test(path),
    );
    expect(compilers).not.to.deep.equal([]);
    const installed = compilers
      .filter(([, { dev, devOptional }]) => !(dev || devOptional))
      .map(([path]) => path);
    // The first installation after a change of the lockfile can leave its flags as they were.
    const remedy = 'run `npm install --package-lock-only`, and commit package-lock.json';
    expect(installed, remedy).to.deep.equal([]);
  });
});
