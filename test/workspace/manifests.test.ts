import { expect } from 'chai';
import { read } from '../support/root.js';

describe('npm ci --omit=dev --omit=optional', () => {
  it('does not install TypeScript, an optional peer dependency of valibot', () => {
    const { packages } = JSON.parse(read('package-lock.json'));
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
