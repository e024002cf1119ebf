import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** The fields of a `package.json` that the tests use. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Reads the manifest in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Fails unless the package has a licence, a README and the fields that npm shows. */
export function expectPublishable(root: string, name: string): void {
  const folder = join(root, 'packages', name);
  const manifest = readManifest(folder);
  const { version, engines } = readManifest(root);
  expect(manifest).to.include({ version, license: 'MIT', type: 'module' });
  expect(manifest).to.have.property('description').that.is.a('string');
  expect(manifest).to.have.deep.property('engines', engines);
  const readme = readFileSync(join(folder, 'README.md'), 'utf8').split('\n');
  expect(readme.slice(0, 2)).to.deep.equal([`# ${manifest.name}`, '']);
  const licence = (path: string) => readFileSync(join(path, 'LICENSE'), 'utf8');
  expect(licence(folder)).to.equal(licence(root));
}
